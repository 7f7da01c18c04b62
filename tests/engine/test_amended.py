"""The pip-check finding with a real pip and a wheel like the pinned one: a failure as documented, qualified as amended."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.provisioners.dockerfile import render
from fixtures.rehearsal.make_assets import wheel_bytes
from recipe import deployment as deployments
from recipe.deployment import stated
from tests.engine.conftest import Deployed
from tests.engine.lab import GATEWAY, REPOSITORY, Lab

WHEEL = "decord-0.6.0-py3-none-manylinux2010_x86_64.whl"
FINDING = "decord 0.6.0 is not supported on this platform"
AMENDED = """\
schema = 1
name = "lab-amended"
title = "The lab's deployment, amended"
amends = "{original}"
[[amendments]]
id = "A1"
set = {{ "image.python" = "python3" }}
guide = "calls python"
here = "calls python3"
why = "a test"
[[amendments]]
id = "A2"
guide = "ends in pip check"
here = "runs pip check afterwards"
why = "a test"
[amendments.set]
"image.pip_check_in_build" = false
"image.pip_check_accepts" = ["{accepted}"]
"image.dockerfile" = "Dockerfile.amended"
"image.dockerfile_sha256" = "{sha256}"
"""


@pytest.fixture
def documented(tmp_path: Path, lab: Lab, base: str) -> Iterator[Deployed]:
    """The lab's deployment with a wheel that has the pinned one's tag inside."""
    wheel = tmp_path / WHEEL
    wheel.write_bytes(wheel_bytes("cp36-cp36m-manylinux2010_x86_64"))
    yield Deployed(tmp_path, lab, base, wheel)
    lab.clean()


def amend(deployed: Deployed, accepted: str = FINDING) -> None:
    """Put an amended deployment in the documented one's place."""
    image = stated(deployments.load(str(deployed.file)).image)
    url = f"http://{GATEWAY}:8081/files/{WHEEL}"
    data = render(image.reference, url, image.wheel.sha256, python="python3", pip_check=False)
    sha256 = hashlib.sha256(data).hexdigest()
    text = AMENDED.format(original=deployed.file, sha256=sha256, accepted=accepted)
    deployed.file = deployed.file.with_name("amended.toml")
    deployed.file.write_text(text, encoding="utf-8")


def test_as_documented_the_build_fails_and_the_recipe_is_to_blame(documented: Deployed) -> None:
    ended = documented()

    assert ended.ids("failed") == {"IMG-06"}, ended.output
    assert ended.row("IMG-06")["found"] == FINDING
    assert "a defect of the recipe, not of this host" in ended.row("IMG-06")["remedy"]
    assert "a defect of the recipe, not of this host" in ended.output
    assert FINDING in (ended.bundle / "artefacts" / "image-build.txt").read_text(encoding="utf-8")
    assert documented.leftovers() == []


def test_as_amended_it_qualifies_and_says_under_what(documented: Deployed) -> None:
    documented()
    amend(documented)
    ended = documented()

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert "REHEARSAL: QUALIFIED under amendments A1, A2" in ended.output
    assert ended.row("IMG-06")["found"] == FINDING
    assert [amendment["id"] for amendment in ended.told["conditions"]["amendments"]] == ["A1", "A2"]
    report = (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert "REHEARSAL: QUALIFIED under amendments A1, A2" in report
    assert "runs pip check afterwards" in report
    assert (documented.workdir / "Dockerfile").is_file()


def test_as_amended_any_other_finding_still_fails(documented: Deployed) -> None:
    amend(documented, accepted="decord 0.6.0 is not supported on Mars")
    ended = documented()

    assert ended.ids("failed") == {"IMG-06"}, ended.output
    assert ended.row("IMG-06")["found"] == FINDING


def test_a_base_without_the_called_interpreter_is_reported_as_that(documented: Deployed, lab: Lab, base: str) -> None:
    steps = f"FROM {REPOSITORY}@{base}\nRUN rm /usr/bin/python\n"
    lab.client.images.build(fileobj=io.BytesIO(steps.encode()), tag=f"{REPOSITORY}:made-without")
    lab.client.images.push(REPOSITORY, tag="made-without")
    digests = lab.client.images.get(f"{REPOSITORY}:made-without").attrs["RepoDigests"]
    documented.base(REPOSITORY, str(digests[0]).partition("@")[2])
    ended = documented()

    assert ended.ids("failed") == {"IMG-05"}, ended.output
    found = ended.row("IMG-05")["found"]
    assert found.startswith("no program 'python' in the base image: executable file not found; 'python3' is there: Py")
    amend(documented)
    assert documented().verdict == "QUALIFIED"
    lab.client.images.remove(f"{REPOSITORY}:made-without", force=True)
