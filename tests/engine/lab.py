"""A real Docker engine, a registry and a package index of the tests' own, in a network of their own.

Nothing of it is the host's: data, sockets and pid files lie in one folder, and a network namespace holds only loopback and the
engine's bridge, so that ports are free, the host's firewall stays untouched and nothing outside can be reached.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import docker
import docker.errors

from tests.engine.base_image import CHANGES, write_rootfs

NEEDED = ("dockerd", "containerd", "runc", "docker-registry", "iptables", "nsenter", "unshare", "setpriv")
REGISTRY = "127.0.0.1:5000"
GATEWAY = "172.17.0.1"  # the engine's bridge: what a build reaches of this network
INDEX = f"http://{GATEWAY}:8081/simple"
REPOSITORY = f"{REGISTRY}/vllm-openai"
UP_S, DOWN_S = 60.0, 30.0


def missing() -> str:
    """Return what this machine lacks for the lab, or nothing."""
    if os.geteuid() != 0:
        return "the engine's tests start an engine of their own, which needs root"
    absent = [name for name in NEEDED if not shutil.which(name)]
    return f"not installed: {', '.join(absent)}" if absent else ""


class Lab:
    """Engine, registry and package index. ``gpus=False`` starts an engine that does not find NVIDIA's hook."""

    def __init__(self, folder: Path, *, gpus: bool = True) -> None:
        self.folder = folder
        self.socket = folder / "docker.sock"
        self.registry = folder / "registry"
        self.packages = folder / "packages"
        self._hook = folder / "hook"
        self._started: list[subprocess.Popen[bytes]] = []
        self._gpus = gpus
        for path in (self.registry, self.packages, self._hook):
            path.mkdir(parents=True)

    # ------------------------------------------------------------------ up and down

    def start(self) -> None:
        """Start all three and wait until each answers."""
        network = self._start(["unshare", "--net", "sleep", "infinity"])
        _wait(lambda: Path(f"/proc/{network.pid}/comm").read_text() == "sleep\n", "the network namespace")
        self.inside = ("nsenter", f"--net=/proc/{network.pid}/ns/net", "--")
        subprocess.run([*self.inside, "ip", "link", "set", "lo", "up"], check=True)
        if self._gpus:
            shutil.copy(Path(__file__).with_name("gpu_hook.py"), self._hook / "nvidia-container-runtime-hook")
            (self._hook / "nvidia-container-runtime-hook").chmod(0o755)
            self.set_gpus(4)
        self._serve_registry()
        self._serve_packages()
        self._engine = self._start([*self.inside, *self._dockerd()], log="dockerd")
        _wait(self._answers, "the Docker engine", self.folder / "dockerd.log")
        self.client = docker.DockerClient(base_url=self.url, timeout=60)
        self.client.ping()

    def _dockerd(self) -> list[str]:
        path = f"PATH={self._hook}:{os.environ['PATH']}"
        places = [f"--host={self.url}", f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec"]
        limits = ["--max-download-attempts=1"]
        network = ["--iptables=false", "--ip6tables=false", f"--bip={GATEWAY}/16"]
        runtime = [f"--add-runtime=nvidia={shutil.which('runc')}"]
        return ["env", path, "dockerd", *places, f"--pidfile={self.folder}/docker.pid", *limits, *network, *runtime]

    def _serve_registry(self) -> None:
        (self.folder / "registry.yml").write_text(
            f"version: 0.1\nlog: {{level: warn}}\nstorage: {{filesystem: {{rootdirectory: {self.registry}}}}}\n"
            f"http: {{addr: {REGISTRY}}}\n"
        )
        self._start([*self.inside, "docker-registry", "serve", f"{self.folder}/registry.yml"], log="registry")

    @contextlib.contextmanager
    def running(self, *argv: str, port: int) -> Iterator[None]:
        """Run a program inside the lab's network while a test goes on, and wait until it listens."""
        process = self._start([*self.inside, *argv], log="program")
        probe = f"import socket; socket.create_connection(('127.0.0.1', {port})).close()"
        trial = [*self.inside, sys.executable, "-c", probe]
        try:
            _wait(lambda: subprocess.run(trial, capture_output=True, check=False).returncode == 0, argv[0])
            yield
        finally:
            process.kill()
            process.wait(DOWN_S)
            self._started.remove(process)

    def faulty(self, how: str, folder: Path, port: int = 5001) -> contextlib.AbstractContextManager[None]:
        """Run the server that goes wrong: ``limit``, ``cut`` or ``hang``."""
        program = str(Path(__file__).with_name("faulty_server.py"))
        return self.running(sys.executable, program, str(port), how, str(folder), port=port)

    @contextlib.contextmanager
    def faulty_files(self, how: str) -> Iterator[None]:
        """Let the package index answer, and its wheels stop in the middle: ``cut`` or ``hang``."""
        self._packages.kill()
        self._packages.wait()
        with self.faulty(how, self.packages, port=8081):
            yield
        self._serve_packages()

    def _serve_packages(self) -> None:
        serve = [sys.executable, "-m", "http.server", "8081", "--directory", str(self.packages)]
        self._packages = self._start([*self.inside, *serve], log="packages")

    def _start(self, argv: Sequence[str], log: str = "network") -> subprocess.Popen[bytes]:
        """Start a process that ends with the tests, even when those are killed."""
        with (self.folder / f"{log}.log").open("ab") as out:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "--", *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """Stop all, the engine before its network, and remove the folder."""
        with contextlib.suppress(AttributeError):
            self.client.close()
        for process in reversed(self._started):
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(DOWN_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """The engine's address, for DOCKER_HOST."""
        return f"unix://{self.socket}"

    @property
    def environment(self) -> dict[str, str]:
        """What a run in this lab has in its environment."""
        return {"DOCKER_HOST": self.url, "NO_PROXY": "*", "no_proxy": "*"}

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as trial:
            return trial.connect_ex(str(self.socket)) == 0

    def stop_engine(self) -> None:
        """Stop the engine alone, with its containers, as a system's update does."""
        self._engine.terminate()
        self._engine.wait(DOWN_S)

    def own_socket(self, user: int) -> None:
        """Give the engine's socket to a user."""
        os.chown(self.socket, user, -1)

    def set_gpus(self, number: int) -> None:
        """Say how many GPUs the engine's hook has to give."""
        (self._hook / "gpus").write_text(str(number))

    # ------------------------------------------------------------------ images and wheels

    def push_base(self) -> str:
        """Make the base image, push it, and return its digest."""
        archive = self.folder / "rootfs.tar"
        write_rootfs(archive)
        return self.push(archive)

    def push(self, archive: Path, repository: str = REPOSITORY) -> str:
        """Import a root file system, push it to the registry, and return its digest; the image stays local."""
        self.client.api.import_image(src=str(archive), repository=repository, tag="made", changes=CHANGES)
        archive.unlink()
        self.client.images.push(repository, tag="made")
        digest = self.client.images.get(f"{repository}:made").attrs["RepoDigests"][0]
        return str(digest.partition("@")[2])

    def push_tiny(self, name: str) -> str:
        """Push an image of a hundred kilobytes under a repository of its own, and return its digest; nothing stays."""
        archive = self.folder / "tiny.tar"
        with tarfile.open(archive, "w") as tar:
            entry = tarfile.TarInfo("noise")
            entry.size = 100_000
            tar.addfile(entry, io.BytesIO(os.urandom(entry.size)))
        digest = self.push(archive, f"{REGISTRY}/{name}")
        self.client.images.remove(f"{REGISTRY}/{name}:made", force=True)
        return digest

    def blob(self, digest: str) -> Path:
        """Return where the registry keeps the bytes of a digest."""
        name = digest.removeprefix("sha256:")
        return self.registry / "docker/registry/v2/blobs/sha256" / name[:2] / name / "data"

    def store(self, repository: str, kind: str, data: bytes) -> str:
        """Put bytes into the registry's storage (kind ``_layers`` or ``_manifests/revisions``); return their digest."""
        name = hashlib.sha256(data).hexdigest()
        link = self.registry / "docker/registry/v2/repositories" / repository / kind / "sha256" / name / "link"
        for path, content in ((self.blob(name), data), (link, f"sha256:{name}".encode())):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return f"sha256:{name}"

    def offer(self, wheel: Path) -> str:
        """Put a wheel into the package index and return its address."""
        place = self.packages / "files" / wheel.name
        page = self.packages / "simple" / "decord" / "index.html"
        for path in (place, page):
            path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, place)
        url = f"http://{GATEWAY}:8081/files/{wheel.name}"
        sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        page.write_text(f'<!DOCTYPE html><a href="{url}#sha256={sha256}">{wheel.name}</a>')
        return url

    # ------------------------------------------------------------------ what is there

    def containers(self) -> list[str]:
        """Return the names of all containers, running or not."""
        return [str(container.name) for container in self.client.containers.list(all=True)]

    def images(self) -> list[str]:
        """Return the tags and digests of all local images."""
        found = self.client.images.list(all=True)
        return [name for image in found for name in (*image.tags, *(image.attrs["RepoDigests"] or ()))]

    def clean(self) -> None:
        """Remove every container and every image but the base."""
        for container in self.client.containers.list(all=True):
            with contextlib.suppress(docker.errors.APIError):
                container.remove(force=True)
        for name in self.images():
            if not name.startswith(REPOSITORY):
                self.client.images.remove(name, force=True)


def _wait(ready: Callable[[], bool], what: str, log: Path | None = None) -> None:
    """Wait until it is ready. Raises TimeoutError with the log's end."""
    until = time.monotonic() + UP_S
    while not ready():
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not come up: {log.read_text()[-2000:] if log else ''}")
        time.sleep(0.05)
