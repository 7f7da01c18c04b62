"""The whole staged run on a real engine: pull, build, start, serve, judge, stop."""

from __future__ import annotations

import json

import pytest

from tests.engine.conftest import SERVER, TAG, Deployed
from tests.engine.lab import REPOSITORY, Lab
from tests.running import Ended


@pytest.fixture
def ended(deployed: Deployed) -> Ended:
    return deployed()


def fact(ended: Ended, name: str) -> dict[str, object]:
    return dict(json.loads((ended.bundle / "facts" / f"{name}.json").read_text(encoding="utf-8")))


def test_every_stage_reaches_its_verdict(deployed: Deployed, ended: Ended) -> None:
    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert "REHEARSAL: QUALIFIED" in ended.output
    assert ended.ids("not applicable") == {"RMV-01", "RMV-02"}
    assert (ended.bundle / "report.html").stat().st_size > 50_000
    assert "pulling" not in ended.output  # its digest was local
    assert deployed.leftovers() == []


def test_what_runs_is_what_was_built(ended: Ended, lab: Lab) -> None:
    derived = lab.client.images.get(TAG)
    base = lab.client.images.get(f"{REPOSITORY}:made")

    assert fact(ended, "container")["image_id"] == derived.id
    assert derived.id in ended.row("IMG-12")["found"]
    assert derived.id in ended.row("SRV-02")["found"]
    layers = derived.attrs["RootFS"]["Layers"]
    assert layers[:-1] == base.attrs["RootFS"]["Layers"]


def test_the_key_is_nowhere_though_inspect_shows_it(deployed: Deployed, ended: Ended) -> None:
    key = (deployed.workdir / ".api-key").read_bytes().strip()

    assert len(key) == 64
    assert key not in ended.everything()
    assert fact(ended, "container")["environment"]["VLLM_API_KEY"] == "<key>"  # type: ignore[index]


def test_outputs_are_kept(ended: Ended) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ended.bundle / "artefacts").glob("*.txt")}

    assert "Step 2/2 : RUN python -m pip install --no-deps" in texts["image-build.txt"]
    assert '"imports"' in texts["image-diagnostics.txt"]
    assert texts["server.log.txt"].splitlines()[0].endswith("vLLM API server version 0.11.2")


def test_an_image_that_is_not_local_is_pulled_by_its_digest(deployed: Deployed, lab: Lab, base: str) -> None:
    for image in lab.client.images.list():
        lab.client.images.remove(str(image.id), force=True)
    ended = deployed()
    lab.client.images.pull(REPOSITORY, tag="made")

    assert ended.verdict == "QUALIFIED", ended.output
    assert f"pulling {REPOSITORY}@{base}" in ended.output
    assert "(pulled now)" in ended.row("IMG-01")["found"]


def test_a_second_run_pulls_and_builds_nothing_new(deployed: Deployed, lab: Lab) -> None:
    deployed()
    first = lab.client.images.get(TAG).id
    ended = deployed()

    assert ended.verdict == "QUALIFIED", ended.output
    assert lab.client.images.get(TAG).id == first
    assert "Using cache" in (ended.bundle / "artefacts" / "image-build.txt").read_text(encoding="utf-8")
    assert SERVER not in lab.containers()


def test_the_plan_of_a_prepared_host_is_true_and_changes_nothing(deployed: Deployed, lab: Lab) -> None:
    deployed()
    before = {image.id: image.tags for image in lab.client.images.list(all=True)}
    ended = deployed("--plan")

    assert ended.ids("failed") | ended.ids("blocked") == set(), ended.output
    for said in ("use the base image that is local", "verify the Dockerfile that is there", "keep .api-key"):
        assert said in ended.output
    assert f"docker run --rm --name {SERVER} --platform linux/amd64 --gpus all --shm-size=16g" in ended.output
    assert {image.id: image.tags for image in lab.client.images.list(all=True)} == before
    assert SERVER not in lab.containers()


def test_without_a_simulated_host_the_real_one_is_looked_at(deployed: Deployed) -> None:
    """No rehearsal: the real machine's sockets and addresses, on a deployment that states no host and fetches nothing."""
    deployed.without_a_simulated_host()
    ended = deployed()

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert ended.told["rehearsal"] is False
    assert "REHEARSAL" not in ended.output
    assert {"HST-03", "IMG-11", "STP-03"} <= ended.ids("not applicable")
    assert "172.17.0.1" in fact(ended, "listening")["answers"]  # type: ignore[operator]
    assert {"HST-11", "WTS-01", "SRV-03", "SRV-05", "VFY-10", "STP-01"} <= ended.ids("passed")
    assert deployed.leftovers() == []
