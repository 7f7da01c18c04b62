"""The Docker engine by itself: what a whole run cannot show on demand."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fixtures.engines import docker_images
from fixtures.engines.docker import DockerEngine
from fixtures.engines.interface import ContainerInfo, EngineError, Exit, MountInfo, Plan
from fixtures.engines.ownership import DEPLOYMENT, RUN, Ownership
from recipe.values import Absent, Secret
from tests.engine.lab import REPOSITORY, Lab

# The SDK leaves the sockets of its streams to the garbage collector, which may find them in any later test.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
KEY = Secret("key", "c0ffee" * 10)


@pytest.fixture
def engine(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerEngine]:
    monkeypatch.setenv("DOCKER_HOST", lab.url)
    made = DockerEngine(tmp_path, "test")
    yield made
    made.close()
    gc.collect()
    assert lab.containers() == []


@pytest.fixture
def plan(tmp_path: Path, base: str) -> Plan:
    """A server that runs a small program from its first mount."""
    (tmp_path / "model").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / ".service.env").write_text(f"VLLM_API_KEY={KEY.reveal()}\n", encoding="utf-8")
    return Plan(
        name="direct",
        image=f"{REPOSITORY}@{base}",
        platform="linux/amd64",
        arguments=("/model", f"--note={KEY.reveal()}"),
        environment={"HF_HUB_OFFLINE": "1"},
        env_file=str(tmp_path / ".service.env"),
        mounts=(
            MountInfo(str(tmp_path / "model"), "/model", True),
            MountInfo(str(tmp_path / "cache"), "/root/.cache", False),
        ),
        address="127.0.0.1",
        port=8000,
        container_port=8000,
        shm_bytes=16 << 30,
    )


def program(tmp_path: Path, text: str) -> None:
    (tmp_path / "cache" / "instead.py").write_text(text, encoding="utf-8")


def until_ended(engine: DockerEngine, name: str = "direct") -> Exit:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if (end := engine.ended(name)) is not None:
            return end
        time.sleep(0.05)
    raise TimeoutError(name)


def test_a_silence_longer_than_every_time_limit_does_not_end_the_log(
    engine: DockerEngine, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_images, "API_S", 1)
    program(tmp_path, "import time\nprint('first', flush=True)\ntime.sleep(3)\nprint('last')\nraise SystemExit(7)\n")
    engine.start(plan, KEY)

    assert until_ended(engine) == Exit(code=7)
    assert engine.log("direct") == "first\nlast\n"


def test_a_container_that_dies_in_its_first_moment_leaves_its_log(
    engine: DockerEngine, plan: Plan, tmp_path: Path
) -> None:
    program(tmp_path, "raise SystemExit('no room')\n")
    for _ in range(5):
        engine.start(plan, KEY)
        assert until_ended(engine) == Exit(code=1)
        engine.stop("direct", 1)
        assert engine.log("direct") == "no room\n"


def test_inspect_tells_what_runs_and_hides_the_key(engine: DockerEngine, plan: Plan, tmp_path: Path, lab: Lab) -> None:
    program(tmp_path, "import time\ntime.sleep(60)\n")
    engine.start(plan, KEY)
    found = engine.container("direct", KEY)

    assert isinstance(found, ContainerInfo)
    assert KEY.reveal() in str(lab.client.containers.get("direct").attrs["Config"]["Env"])
    assert KEY.reveal() not in msgspec.json.encode(found).decode()
    assert found.arguments == ("/model", "--note=<key>")
    assert found.entrypoint == ("vllm", "serve")
    assert found.published == ("127.0.0.1:8000",)
    assert set(found.mounts) == set(plan.mounts)
    assert (found.shm_bytes, found.privileged, found.shared_namespaces) == (16 << 30, False, ())
    assert engine.stop("direct", 1).killed


def test_a_missing_source_of_a_mount_is_refused_and_no_folder_is_made(
    engine: DockerEngine, plan: Plan, tmp_path: Path
) -> None:
    gone = MountInfo(str(tmp_path / "native-chat.jinja"), "/native-chat.jinja", True)

    with pytest.raises(EngineError, match="bind source path does not exist"):
        engine.start(msgspec.structs.replace(plan, mounts=(*plan.mounts, gone)), KEY)
    assert not (tmp_path / "native-chat.jinja").exists()


def test_a_port_that_is_taken_at_the_last_moment_leaves_no_container(
    engine: DockerEngine, plan: Plan, lab: Lab
) -> None:
    with lab.faulty("limit", lab.registry, port=8000), pytest.raises(EngineError, match="address already in use"):
        engine.start(plan, KEY)
    assert lab.containers() == []


def test_a_command_that_hangs_in_an_image_is_ended_at_its_deadline(engine: DockerEngine, plan: Plan) -> None:
    with pytest.raises(EngineError, match="sleep did not end within 1 s"):
        engine.run_once(plan.image, ("sleep", "60"), gpus=False, deadline_s=1)


def test_only_the_containers_of_dead_runs_of_this_deployment_are_cleared(
    engine: DockerEngine, plan: Plan, lab: Lab
) -> None:
    own = Ownership("test").labels
    dead = own | {RUN: own[RUN].rpartition("/")[0] + "/1"}
    labels = {
        "dead": dead,
        "alive": own,
        "elsewhere": dead | {RUN: "another-host/1/1"},
        "unlabelled": {},
        "other-deployment": dead | {DEPLOYMENT: "other"},
    }
    for name, marks in labels.items():
        lab.client.containers.create(plan.image, ["60"], entrypoint="sleep", name=name, labels=marks)

    assert engine.clear_leftovers() == ("dead",)
    engine.close()
    assert sorted(lab.containers()) == ["elsewhere", "other-deployment", "unlabelled"]
    lab.clean()


def test_a_container_that_is_not_there_is_absent(engine: DockerEngine) -> None:
    assert engine.container("none", KEY) == Absent(what="none", detail="no such container")
