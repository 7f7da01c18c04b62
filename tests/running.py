"""Whole runs of ``pytest -m qualify`` as child processes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
RUN_S = 120


class Ended:
    """A run that has ended: exit status, terminal output, and its bundle."""

    def __init__(self, status: int, output: str, bundle: Path) -> None:
        self.status = status
        self.output = output
        self.bundle = bundle

    @property
    def last_line(self) -> str:
        """The last line that was printed."""
        return self.output.strip().rpartition("\n")[2]

    @property
    def told(self) -> dict[str, Any]:
        """The content of verdict.json."""
        return dict(json.loads((self.bundle / "verdict.json").read_text(encoding="utf-8")))

    @property
    def verdict(self) -> str:
        return str(self.told["verdict"])

    def ids(self, outcome: str) -> set[str]:
        """Return the ids that have an outcome in at least one row; attestations left out."""
        rows = self.told["requirements"]
        return {row["id"] for row in rows if row["outcome"] == outcome and row["level"] != "ATTEST"}

    def row(self, identity: str) -> dict[str, Any]:
        """Return the first row of an id."""
        return dict(next(row for row in self.told["requirements"] if row["id"] == identity))

    def everything(self) -> bytes:
        """Return the terminal output and all files of the bundle, one after another."""
        files = sorted(path for path in self.bundle.rglob("*") if path.is_file())
        return self.output.encode("utf-8", "replace") + b"".join(path.read_bytes() for path in files)


class Qualify:
    """Starts runs in one temporary folder; each has a bundle of its own."""

    def __init__(self, folder: Path, inside: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> None:
        """``inside`` is put before the command, ``environment`` added to this one's, for every run."""
        self.folder = folder
        self.inside = inside
        self._environment = environment or {}
        self._numbers = itertools.count(1)
        self.scratch = folder / "scratch"
        self.scratch.mkdir()

    def start(
        self,
        *options: str,
        deployment: str | None = "rehearsal",
        cwd: Path = ROOT,
        env: dict[str, str] | None = None,
        plugins: tuple[str, ...] = ("no:cacheprovider",),
    ) -> Started:
        """Start a run; its temporary files lie in this folder, so that leftovers can be seen."""
        bundle = self.folder / f"bundle{next(self._numbers)}"
        named = ["--deployment", deployment] if deployment else []
        argv = [*self.inside, sys.executable, "-m", "pytest", "-m", "qualify", *named, "--bundle", str(bundle)]
        argv += [*(f"-p{plugin}" for plugin in plugins), *options]
        output = bundle.with_suffix(".out")
        with output.open("wb") as file:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": str(self.scratch), **self._environment, **(env or {})},
                start_new_session=True,
            )
        return Started(process, output, bundle)

    def __call__(
        self,
        *options: str,
        deployment: str | None = "rehearsal",
        cwd: Path = ROOT,
        env: dict[str, str] | None = None,
        plugins: tuple[str, ...] = ("no:cacheprovider",),
    ) -> Ended:
        """Run to the end."""
        return self.start(*options, deployment=deployment, cwd=cwd, env=env, plugins=plugins).wait()

    def replay(self, bundle: Path) -> Ended:
        """Judge a bundle's facts again, by its own command."""
        return self.reports("replay", bundle)

    def reports(self, command: str, bundle: Path) -> Ended:
        """Ask something of a bundle, by ``python -m reports``."""
        argv = [*self.inside, sys.executable, "-m", "reports", command, str(bundle)]
        env = {**os.environ, "TMPDIR": str(self.scratch), **self._environment}
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=RUN_S, check=False)
        return Ended(done.returncode, done.stdout + done.stderr, bundle)

    def leftovers(self) -> list[str]:
        """Return processes and files that a run has left in the temporary folder."""
        found = [str(path) for path in self.scratch.iterdir()]
        for process in psutil.process_iter(["cmdline"]):
            words = " ".join(process.info["cmdline"] or ())
            if str(self.scratch) in words:
                found.append(words)
        return found


class Started:
    """A run in progress."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path, bundle: Path) -> None:
        self.process = process
        self._output = output
        self.bundle = bundle

    @property
    def output(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    def until(self, text: str, timeout_s: float = 30.0) -> None:
        """Wait until the run has printed a text. Raises TimeoutError, also when it ended without."""
        until = time.monotonic() + timeout_s
        while text not in self.output:
            if time.monotonic() > until or self.process.poll() is not None:
                raise TimeoutError(f"{text!r} was not printed:\n{self.output}")
            time.sleep(0.01)

    def wait(self) -> Ended:
        """Wait for the end."""
        status = self.process.wait(RUN_S)
        return Ended(status, self.output, self.bundle)
