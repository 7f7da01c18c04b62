"""Runs against a real Docker engine: one lab for each worker, one deployment file and work folder for each test."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.provisioners.dockerfile import render
from fixtures.rehearsal.make_assets import ASSETS, WHEEL
from recipe.deployment import FOLDER
from tests.engine import lab as labs
from tests.engine.lab import INDEX, REPOSITORY, Lab
from tests.running import Ended, Qualify, Started


class Deployed:
    """A deployment on the lab's engine: the rehearsal's own, with a real registry, image and container."""

    def __init__(self, folder: Path, lab: Lab, digest: str, wheel: Path) -> None:
        self.file = folder / "lab.toml"
        self.workdir = folder / "hosting"
        self.lab = lab
        self.qualify = Qualify(folder, lab.inside, lab.environment)
        url = lab.offer(wheel)
        sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        text = (FOLDER / "rehearsal.toml").read_text(encoding="utf-8")
        self._text = text.replace('workdir = ""', f'workdir = "{self.workdir}"\nindex = "{INDEX}"')
        self.change(
            name="lab",
            title="Stand-in base image and four stand-in GPUs on a real Docker engine",
            engine="docker",
            repository=REPOSITORY,
            digest=digest,
            filename=wheel.name,
            tag="lab-image:local",
            port=8000,
        )
        self._text = self._text.replace('name = "rehearsal-image"', 'name = "lab-server"')
        self._text = re.sub(r'(\[image.wheel\][^[]*sha256 = )"\w+"', rf'\1"{sha256}"', self._text)
        self.change(dockerfile_sha256=hashlib.sha256(render(f"{REPOSITORY}@{digest}", url, sha256)).hexdigest())

    def change(self, **values: str | int) -> None:
        """Change the first value of each name in the deployment file."""
        for name, value in values.items():
            line = f"{name} = {value}" if isinstance(value, int) else f'{name} = "{value}"'
            self._text, number = re.subn(rf"(?m)^{name} = .*$", line.replace("\\", r"\\"), self._text, count=1)
            assert number == 1, name
        self.file.write_text(self._text, encoding="utf-8")

    def start(self, *options: str) -> Started:
        return self.qualify.start(f"--deployment={self.file}", *options, deployment=None)

    def __call__(self, *options: str) -> Ended:
        return self.start(*options).wait()


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab with its base image pushed. Without an engine on this machine its tests are skipped; in CI they fail."""
    lack = labs.missing()
    if lack and not os.environ.get("CI"):
        pytest.skip(lack)
    assert not lack, lack
    made = Lab(Path(tempfile.mkdtemp(prefix="lab-")))
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
    """A deployment on the lab; afterwards nothing of the test is left in the engine."""
    yield Deployed(tmp_path, lab, base, ASSETS / "index" / WHEEL)
    lab.clean()
