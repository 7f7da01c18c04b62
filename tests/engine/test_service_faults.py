"""Faults of the container and of what stands in its way, on a real engine."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.engine.conftest import SERVER, WAITS, Deployed
from tests.engine.lab import REPOSITORY, Lab

EXITS = """\
import sys
sys.stdout.write("INFO vLLM starts\\n")
sys.stderr.write("ERROR the engine core did not start: made up for this test\\n")
sys.exit(3)
"""
EATS_MEMORY = """\
import time
print("INFO loading", flush=True)
time.sleep(2)
kept = [bytearray(16 << 20) for _ in range(200)]
time.sleep(60)
"""


def test_a_port_that_a_process_has_taken(deployed: Deployed, lab: Lab) -> None:
    with lab.faulty("limit", lab.registry, port=8000):
        ended = deployed()

    deployed.judge(ended, "failed", "HST-11", says="python")


def test_a_port_that_a_container_has_taken(deployed: Deployed, lab: Lab, base: str) -> None:
    holder = lab.client.containers.run(
        f"{REPOSITORY}@{base}",
        ["600"],
        entrypoint="sleep",
        ports={"9/tcp": ("127.0.0.1", 8000)},
        detach=True,
        name="holder",
    )
    ended = deployed()

    assert lab.containers() == ["holder"]
    holder.remove(force=True)
    deployed.judge(ended, "failed", "HST-11", says="docker-proxy")


def test_a_name_that_a_foreign_container_has_is_reported_and_left(deployed: Deployed, lab: Lab, base: str) -> None:
    holder = lab.client.containers.run(f"{REPOSITORY}@{base}", ["600"], entrypoint="sleep", detach=True, name=SERVER)
    ended = deployed()

    holder.reload()
    assert holder.status == "running"
    holder.remove(force=True)
    assert f"sudo docker rm -f {SERVER}" in ended.row("SRV-08")["found"]
    assert ended.verdict == "NOT QUALIFIED"
    deployed.judge(ended, "failed", "SRV-08", says="is already in use by container")


def test_a_container_that_exits_at_once_ends_the_wait_and_leaves_its_log(deployed: Deployed) -> None:
    deployed.plant(EXITS)
    ended = deployed()

    waited = json.loads((ended.bundle / "facts" / "readiness.json").read_text(encoding="utf-8"))["seconds"]
    assert waited < 15, "the deadline is 20 s"
    row = ended.row("SRV-08")
    assert "exit code 3: it ended: ERROR the engine core did not start: made up for this test" in row["found"]
    assert "INFO vLLM starts" in (ended.bundle / "artefacts" / "server.log.txt").read_text(encoding="utf-8")
    deployed.judge(ended, "failed", "SRV-08", says="exit code 3")


def test_a_container_killed_for_memory_is_told_from_one_killed_otherwise(deployed: Deployed, lab: Lab) -> None:
    deployed.plant(EATS_MEMORY)
    started = deployed.start()
    deployed.until_started().update(mem_limit="96m", memswap_limit="96m")
    ended = started.wait()
    assert "exit code 137: the kernel killed it for memory" in ended.row("SRV-08")["found"]

    deployed.plant(WAITS)
    started = deployed.start()
    deployed.until_started().kill("SIGKILL")
    ended = started.wait()
    assert "exit code 137: it ended" in ended.row("SRV-08")["found"]
    assert deployed.leftovers() == []


def test_an_engine_that_goes_away_under_its_container(own_lab: Lab, tmp_path: Path) -> None:
    deployed = Deployed(tmp_path, own_lab, own_lab.push_base())
    deployed.plant(WAITS)
    started = deployed.start()
    deployed.until_started()
    own_lab.stop_engine()
    ended = started.wait()

    assert ended.verdict == "NOT QUALIFIED", ended.output
    assert "the engine does not answer any more" in ended.row("SRV-08")["found"]
    assert "STP-01" in ended.ids("failed")
    assert ended.ids("error") == set()
    assert "INFO loading" in (ended.bundle / "artefacts" / "server.log.txt").read_text(encoding="utf-8")


def test_an_engine_that_goes_away_in_a_build(own_lab: Lab, tmp_path: Path) -> None:
    deployed = Deployed(tmp_path, own_lab, own_lab.push_base())
    own_lab.client.images.pull(REPOSITORY, tag="made")
    with own_lab.faulty_files("hang"):
        started = deployed.start()
        started.until("building ")
        time.sleep(2)
        own_lab.stop_engine()
        ended = started.wait()

    assert ended.verdict in ("NOT QUALIFIED", "INCOMPLETE"), ended.output
    assert "IMG-05" in ended.ids("failed") | ended.ids("blocked")
    assert ended.ids("error") == set(), ended.output


def test_a_template_that_is_a_folder_is_named_before_any_start(deployed: Deployed) -> None:
    (deployed.workdir / "native-chat.jinja").mkdir(parents=True)
    ended = deployed()

    deployed.judge(ended, "failed", "CFG-04", says="a folder lies in its place")


def test_a_server_that_ignores_sigterm_is_killed_and_fails_the_stop(deployed: Deployed) -> None:
    ended = deployed("--fault", "ignores-sigterm")

    deployed.judge(ended, "failed", "STP-01", says="had to be killed after 3")


def test_a_worker_killed_in_its_container_is_named_with_its_gpu(deployed: Deployed) -> None:
    ended = deployed("--fault", "worker-killed-after-its-work")

    assert ended.ids("failed") == {"VFY-22"}, ended.output
    assert "the first to die was VLLM::Worker_3 (pid " in ended.row("VFY-22")["found"]
    assert " of GPU 3 (GPU-00000000-0000-4000-8000-000000000003), by the log" in ended.row("VFY-22")["found"]


def test_two_runs_at_once_do_not_touch_each_other(deployed: Deployed, lab: Lab, tmp_path: Path) -> None:
    deployed.plant(WAITS)
    first = deployed.start()
    deployed.until_started()
    same = deployed()
    other = deployed(f"--workdir={tmp_path}/other")

    assert same.status == 4
    assert "another qualification runs in" in same.output
    assert other.ids("failed") == {"HST-11"}
    assert lab.client.containers.get(SERVER).status == "running"
    first.process.terminate()
    assert first.wait().verdict == "INCOMPLETE"
    assert deployed.leftovers() == []


def test_what_a_killed_run_left_is_removed_by_the_next_one(deployed: Deployed, lab: Lab) -> None:
    deployed.plant(WAITS)
    killed = deployed.start()
    deployed.until_started()
    killed.process.kill()
    killed.wait()
    assert lab.containers() == [SERVER]

    (deployed.workdir / "cache" / "instead.py").unlink()
    ended = deployed()
    assert f"removed {SERVER}: an earlier run of this deployment was killed and left it" in ended.output
    assert ended.verdict == "QUALIFIED", ended.output
    assert lab.containers() == []


@pytest.mark.parametrize("foreign", [False, True], ids=["unused", "in use by another container"])
def test_removal_takes_what_is_the_deployments_and_nothing_else(
    deployed: Deployed, lab: Lab, base: str, foreign: bool
) -> None:
    deployed()
    other = lab.client.containers.create("lab-image:local", ["600"], entrypoint="sleep") if foreign else None
    ended = deployed("--remove")

    assert not deployed.workdir.exists()
    assert ended.ids("failed") == ({"RMV-02"} if foreign else set()), ended.output
    if other is None:
        assert not {"lab-image:local", f"{REPOSITORY}@{base}"} & set(lab.images())
    else:
        assert "must be forced" in ended.row("RMV-02")["found"] or "must force" in ended.row("RMV-02")["found"]
        assert lab.containers() == [other.name]
