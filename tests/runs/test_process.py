"""A deployment of one's own on the process engine: a file outside the recipe, this real machine, no container."""

from __future__ import annotations

from pathlib import Path

from tests.running import Qualify


def test_a_process_deployment_runs_from_weights_to_stop(qualify: Qualify, own_deployment: Path) -> None:
    path = f"{own_deployment}/bin:/usr/bin:/bin"
    ended = qualify(f"--deployment={own_deployment}/own.toml", deployment=None, env={"PATH": path})

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert ended.told["rehearsal"] is False
    assert "REHEARSAL" not in ended.output
    assert {"HST-03", "IMG-01", "SRV-02", "SRV-06", "SRV-12", "STP-03"} <= ended.ids("not applicable")
    assert ended.row("HST-03")["found"] == "the deployment own states no host.gpu_count"
    assert {"WTS-01", "CFG-06", "SRV-01", "SRV-08", "SRV-09", "VFY-07", "VFY-14", "STP-01"} <= ended.ids("passed")
    assert qualify.leftovers() == []


def test_a_program_that_is_missing_is_told_before_anything_is_fetched(qualify: Qualify, own_deployment: Path) -> None:
    ended = qualify(f"--deployment={own_deployment}/own.toml", deployment=None, env={"PATH": "/usr/bin:/bin"})

    assert ended.verdict == "NOT QUALIFIED"
    assert ended.ids("failed") == {"IMG-14"}
    assert ended.row("IMG-14")["found"] == "no vllm: the command is not installed"
    assert {"WTS-01", "SRV-08", "STP-01"} <= ended.ids("blocked")
    assert ended.ids("error") == set()


def test_a_program_that_does_not_work_is_told_by_its_own_words(qualify: Qualify, own_deployment: Path) -> None:
    program = own_deployment / "bin" / "vllm"
    program.write_text("#!/bin/sh\necho \"No module named 'torch'\" >&2\nexit 1\n", encoding="utf-8")
    path = f"{own_deployment}/bin:/usr/bin:/bin"
    ended = qualify(f"--deployment={own_deployment}/own.toml", deployment=None, env={"PATH": path})

    assert ended.ids("failed") == {"IMG-14"}
    assert ended.row("IMG-14")["found"] == "no working vllm: No module named 'torch'"
