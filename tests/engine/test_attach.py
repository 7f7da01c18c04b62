"""A container that somebody has started by hand is judged as it stands; a service may be left running."""

from __future__ import annotations

import time

import pytest
from docker.models.containers import Container
from docker.types import DeviceRequest, Mount

from recipe import deployment as deployments
from recipe.deployment import stated
from tests.engine.conftest import SERVER, TAG, WAITS, Deployed
from tests.engine.lab import Lab
from tests.running import Ended


def start_by_hand(
    deployed: Deployed,
    lab: Lab,
    name: str = "by-hand",
    arguments: tuple[str, ...] = (),
    key: str = "",
    gpus: int = -1,
    more: tuple[str, ...] = (),
) -> Container:
    """Do what the guide's 'docker run' does, on the work folder and the image of an earlier run."""
    service = stated(deployments.load(str(deployed.file)).service)
    key = key or (deployed.workdir / ".service.env").read_text(encoding="utf-8").strip()
    places = [(mount.source, mount.target, mount.read_only) for mount in service.mounts]
    return lab.client.containers.run(
        TAG,
        list(arguments or service.arguments),
        name=name,
        detach=True,
        auto_remove=True,
        device_requests=[DeviceRequest(count=gpus, capabilities=[["gpu"]])],
        shm_size="16g",
        ports={"8000/tcp": ("127.0.0.1", 8000)},
        environment=[key, "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", *more],
        mounts=[Mount(to, f"{deployed.workdir}/{source}", type="bind", read_only=ro) for source, to, ro in places],
    )


@pytest.fixture
def set_up(deployed: Deployed) -> Ended:
    """A work folder and an image as an operator has them who followed the guide."""
    return deployed()


def test_a_container_started_by_hand_is_judged_and_lives_on(deployed: Deployed, lab: Lab, set_up: Ended) -> None:
    container = start_by_hand(deployed, lab)
    ended = deployed("--attach=by-hand")
    container.reload()

    assert container.status == "running"
    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    words = "REHEARSAL: QUALIFIED, attached to by-hand: start and stop not judged"
    assert words in ended.output
    assert words in (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert {"HST-07", "HST-11", "STP-01", "STP-02", "STP-03"} <= ended.ids("not applicable")
    assert "--attach was given" in ended.row("STP-01")["found"]
    assert "found as built before" in ended.row("IMG-05")["found"]
    assert "VFY-10" in ended.ids("passed")
    assert "vLLM API server version" in (ended.bundle / "artefacts" / "server.log.txt").read_text(encoding="utf-8")
    assert not (ended.bundle / "artefacts" / "image-build.txt").exists()
    assert (deployed.workdir / ".api-key").read_bytes().strip() not in ended.everything()


def test_a_hand_made_difference_is_found(deployed: Deployed, lab: Lab, set_up: Ended) -> None:
    arguments = list(stated(deployments.load(str(deployed.file)).service).arguments)
    at = arguments.index("--max-model-len")
    start_by_hand(deployed, lab, arguments=(*arguments[:at], "--max-model-len", "8192", *arguments[at + 2 :]))
    ended = deployed("--attach=by-hand")

    assert {"SRV-01", "SRV-11"} <= ended.ids("failed"), ended.output
    assert "by-hand" in lab.containers()


def test_a_container_that_was_not_given_every_gpu_is_found(deployed: Deployed, lab: Lab, set_up: Ended) -> None:
    start_by_hand(deployed, lab, gpus=3, more=("CUDA_VISIBLE_DEVICES=0,1,2,3",))
    ended = deployed("--attach=by-hand")

    assert ended.ids("failed") == {"SRV-16"}, ended.output
    assert ended.row("SRV-16")["found"] == (
        "--gpus 3 names 3 of 4 GPUs, CUDA_VISIBLE_DEVICES='0,1,2,3' names 4 of 4 GPUs"
    )


def test_under_a_running_server_nothing_is_repaired(deployed: Deployed, lab: Lab, set_up: Ended) -> None:
    """A shard that is replaced after the server has loaded it would be judged right, and what was loaded would not."""
    start_by_hand(deployed, lab)
    shard = next((deployed.workdir / "model").glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"\0")
    spoilt = shard.read_bytes()
    ended = deployed("--attach=by-hand")

    assert ended.ids("failed") == {"WTS-01"}, ended.output
    assert shard.read_bytes() == spoilt


def test_a_container_that_is_not_there_fails_and_is_named(deployed: Deployed, set_up: Ended) -> None:
    ended = deployed("--attach=no-such")

    assert ended.verdict == "NOT QUALIFIED"
    assert "no container no-such is there to attach to" in ended.row("SRV-08")["found"]


def test_a_service_is_left_running_and_can_be_attached_to(deployed: Deployed, lab: Lab) -> None:
    ended = deployed("--leave-running")

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert "REHEARSAL: QUALIFIED, lab-server left running: stop not judged" in ended.output
    assert {"STP-01", "STP-02", "STP-03"} <= ended.ids("not applicable")
    assert lab.client.containers.get(SERVER).status == "running"

    second = deployed(f"--attach={SERVER}")
    assert (second.status, second.verdict) == (0, "QUALIFIED"), second.output
    third = deployed()
    assert third.ids("failed") == {"HST-07", "HST-11"}
    assert lab.client.containers.get(SERVER).status == "running"


def test_a_remark_does_not_stop_a_service_that_qualifies(deployed: Deployed, lab: Lab) -> None:
    ended = deployed("--leave-running", "--fault", "cuda-on-host")

    assert (ended.status, ended.verdict) == (0, "QUALIFIED WITH REMARKS"), ended.output
    assert lab.containers() == [SERVER]


def test_a_service_that_failed_is_not_left_running(deployed: Deployed, lab: Lab) -> None:
    ended = deployed("--leave-running", "--fault", "open-without-key")
    until = time.monotonic() + 5
    while lab.containers() and time.monotonic() < until:
        time.sleep(0.05)

    assert ended.verdict == "NOT QUALIFIED"
    assert "REHEARSAL: NOT QUALIFIED, service not left running: stop not judged" in ended.output
    assert lab.containers() == []


def test_a_signal_stops_what_this_run_started_and_not_what_it_attached_to(
    deployed: Deployed, lab: Lab, set_up: Ended
) -> None:
    deployed.plant(WAITS)
    own = deployed.start("--leave-running")
    deployed.until_started()
    own.process.terminate()
    assert own.wait().verdict == "INCOMPLETE"
    assert lab.containers() == []

    start_by_hand(deployed, lab)
    attached = deployed.start("--attach=by-hand")
    attached.until("attaching to by-hand")
    attached.process.terminate()
    ended = attached.wait()
    assert ended.verdict == "INCOMPLETE", ended.output
    assert lab.containers() == ["by-hand"]


def test_a_key_that_nobody_told_us_is_hidden_too(deployed: Deployed, lab: Lab, set_up: Ended) -> None:
    arguments = stated(deployments.load(str(deployed.file)).service).arguments
    start_by_hand(
        deployed,
        lab,
        arguments=(*arguments, "--api-key", "another-secret-word"),
        key="VLLM_API_KEY=a-third-secret-word",
    )
    ended = deployed("--attach=by-hand")

    assert {"SRV-01", "SRV-04", "SRV-07"} <= ended.ids("failed"), ended.output
    assert b"another-secret-word" not in ended.everything()
    assert b"a-third-secret-word" not in ended.everything()
