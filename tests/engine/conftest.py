"""Runs against a real Docker engine: one lab for each worker, one deployment file and work folder for each test."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import docker.errors
import pytest
from docker.models.containers import Container

from fixtures import pages
from fixtures.provisioners.dockerfile import render
from fixtures.rehearsal.make_assets import ASSETS, WHEEL
from fixtures.rehearsal.planting import plant_behaviour
from fixtures.rehearsal.world import Server
from recipe.deployment import FOLDER
from tests.engine import lab as labs
from tests.engine.lab import INDEX, REPOSITORY, Lab
from tests.running import Ended, Qualify, Started

SERVER, TAG = "lab-server", "lab-image:local"
WAITS = """\
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("INFO loading", flush=True)
time.sleep(600)
"""


class Deployed:
    """A deployment on the lab's engine: the rehearsal's own, with a real registry, image and container."""

    def __init__(self, folder: Path, lab: Lab, digest: str, wheel: Path = ASSETS / "index" / WHEEL) -> None:
        self.file = folder / "lab.toml"
        self.workdir = folder / "hosting"
        self.lab = lab
        self.qualify = Qualify(folder, lab.inside, lab.environment)
        self._wheel = lab.offer(wheel), hashlib.sha256(wheel.read_bytes()).hexdigest()
        text = (FOLDER / "rehearsal.toml").read_text(encoding="utf-8")
        text = text.replace('workdir = ""', f'workdir = "{self.workdir}"\nindex = "{INDEX}"')
        text = text.replace('name = "rehearsal-image"', f'name = "{SERVER}"')
        self._text = re.sub(r'(\[image.wheel\][^[]*sha256 = )"\w+"', rf'\1"{self._wheel[1]}"', text)
        self.change(name="lab", title="Stand-in base image and GPUs on a real Docker engine", engine="docker")
        self.change(filename=wheel.name, tag=TAG, port=8000)
        self.base(REPOSITORY, digest)

    def change(self, **values: str | int) -> None:
        """Change the first value of each name in the deployment file."""
        for name, value in values.items():
            line = f"{name} = {value}" if isinstance(value, int) else f'{name} = "{value}"'
            self._text, number = re.subn(rf"(?m)^{name} = .*$", line, self._text, count=1)
            assert number == 1, name
        self.file.write_text(self._text, encoding="utf-8")

    def base(self, repository: str, digest: str) -> None:
        """Name another base image, and the Dockerfile that belongs to it."""
        dockerfile = render(f"{repository}@{digest}", *self._wheel)
        self.change(repository=repository, digest=digest, dockerfile_sha256=hashlib.sha256(dockerfile).hexdigest())

    def without_a_simulated_host(self) -> None:
        """Make it a real qualification: no host and no program is stated, and the work folder has all files of the snapshot."""
        self._text = re.sub(
            r"\[(host|program)\]\n(?:[^\[\n].*\n|\n)*", "", self._text.replace("rehearsal = true\n", "")
        )
        self.change()
        shutil.copytree(ASSETS / "snapshot", self.workdir / "model")
        shutil.copy(pages.PICTURES / "front-page.png", self.workdir / "fixture.png")
        plant_behaviour(Server(), self.workdir)

    def plant(self, program: str) -> None:
        """Put a program in the server's place: the image runs it instead of the stand-in."""
        place = self.workdir / "cache" / "instead.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(program, encoding="utf-8")

    def start(self, *options: str, env: dict[str, str] | None = None) -> Started:
        return self.qualify.start(f"--deployment={self.file}", *options, deployment=None, env=env)

    def __call__(self, *options: str, env: dict[str, str] | None = None) -> Ended:
        return self.start(*options, env=env).wait()

    def leftovers(self) -> list[str]:
        """Return what a run has left: containers, images but the base and the derived one, folders, processes."""
        images = [name for name in self.lab.images() if not name.startswith((REPOSITORY, TAG))]
        return [*self.lab.containers(), *images, *self.qualify.leftovers()]

    def judge(self, ended: Ended, outcome: str, *ids: str, says: str) -> None:
        """Exactly these rows have the outcome, each saying so; the run is not green, and leaves nothing."""
        assert ended.ids("failed") == (set(ids) if outcome == "failed" else set()), ended.output
        assert set(ids) <= ended.ids(outcome), ended.output
        assert says in ended.row(ids[0])["found"]
        assert ended.verdict == ("NOT QUALIFIED" if outcome == "failed" else "INCOMPLETE")
        assert ended.status == 1
        assert ended.ids("error") == set()
        assert says.splitlines()[0][:60] in ended.output
        assert "Traceback" not in ended.output
        assert self.leftovers() == []

    def until_started(self) -> Container:
        """Wait for the server's container to run."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                container = self.lab.client.containers.get(SERVER)
                if container.status == "running" and b"loading" in container.logs():
                    return container
            except docker.errors.NotFound:
                pass
            time.sleep(0.05)
        raise TimeoutError(SERVER)


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab. Without an engine on this machine its tests are skipped; in CI they fail."""
    yield from _lab(gpus=True)


@pytest.fixture
def own_lab() -> Iterator[Lab]:
    """A lab for one test, which may break it."""
    yield from _lab(gpus=True)


@pytest.fixture
def bare_lab() -> Iterator[Lab]:
    """A lab whose engine knows no GPUs."""
    yield from _lab(gpus=False)


def _lab(*, gpus: bool) -> Iterator[Lab]:
    lack = labs.missing()
    if lack and not os.environ.get("CI"):
        pytest.skip(lack)
    assert not lack, lack
    made = Lab(Path(tempfile.mkdtemp(prefix="lab-")), gpus=gpus)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def base(lab: Lab) -> str:
    """The digest of the base image in the registry."""
    return lab.push_base()


@pytest.fixture
def deployed(tmp_path: Path, lab: Lab, base: str) -> Iterator[Deployed]:
    """A deployment on the lab, with its base image local; afterwards nothing of the test is left in the engine."""
    lab.client.images.pull(REPOSITORY, tag=base)
    yield Deployed(tmp_path, lab, base)
    lab.clean()
