"""The faults for real GPUs: their deployments load, the right worker is found, and a bundle is judged by what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from recipe import deployment as deployments
from recipe.deployment import Deployment, stated
from tools.gpu_bundle import faults
from tools.gpu_bundle.faults import Ground

NAMES = ["tiny-ernie-vl.h200-tp1", "tiny-ernie-vl.h200x2-tp2", "tiny-ernie-vl.h200x4-tp4"]


class Unqualified(Ground):
    """Does not qualify: it keeps the deployment that would be, and by which options and variables."""

    def qualify(self, name: str, *options: str, deployment: str = "", **variables: str) -> None:
        self.given = (deployments.load(deployment or self.deployment), options, variables)


@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_gpu_is_the_last_one(tmp_path: Path, name: str) -> None:
    ground = Unqualified("none.tar.xz", name, tmp_path)
    original = deployments.load(name)
    count = stated(original.host).gpu_count
    told = faults.withheld(ground)
    amended: Deployment = ground.given[0]
    visible = ",".join(str(index) for index in range(count - 1))

    assert told == ("SRV-16", f"names {count - 1} of {count} GPU")
    assert stated(amended.service).environment == stated(original.service).environment | {
        "CUDA_VISIBLE_DEVICES": visible
    }
    assert stated(amended.service).arguments == stated(original.service).arguments
    faults.hidden(ground)
    assert ground.given[1:] == (("--stage=hst",), {"CUDA_VISIBLE_DEVICES": visible})


@pytest.mark.parametrize("name", NAMES)
def test_an_indivisible_deployment_asks_for_three_of_all(tmp_path: Path, name: str) -> None:
    ground = Unqualified("none.tar.xz", name, tmp_path)
    faults.indivisible(ground)
    amended: Deployment = ground.given[0]

    assert stated(amended.service).workers == stated(amended.service).workers_asked_for == 3
    assert stated(amended.host).gpu_count == max(3, ground.gpus)


def test_the_last_worker_is_killed_as_the_request_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request, killed, seen = tmp_path / "image-request.json", [], {}  # type: tuple[Path, list[int], dict[str, str]]
    request.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
    monkeypatch.setattr(faults, "_workers", lambda: iter([(7, "VLLM::Worker_TP1"), (9, "VLLM::Worker_TP0")]))
    old, over = request.stat().st_mtime + 60, Event()
    over.set()
    faults._kill_last_worker(request, old, over, seen)
    assert not killed

    faults._kill_last_worker(request, 0.0, Event(), seen)
    assert (killed, seen) == ([7], {"pid": "7", "title": "VLLM::Worker_TP1"})


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({"outcome": "failed", "found": "GPU 3: python3 holds 1"}, "told HST-07 failed: GPU 3: python3 holds 1; NO"),
        (
            {"outcome": "failed", "found": "GPU 2"},
            "NOT TOLD HST-07 failed: GPU 2; NO; it should have failed with ['GPU 3:']",
        ),
        (
            {"outcome": "passed", "found": "GPU 3:"},
            "NOT TOLD HST-07 passed: GPU 3:; NO; it should have failed with ['GPU 3:']",
        ),
    ],
)
def test_a_fault_is_told_by_outcome_and_words(tmp_path: Path, row: dict[str, Any], line: str) -> None:
    verdict = {"verdict": "NO", "requirements": [{"id": "HST-06"}, {"id": "HST-07", **row}]}
    (tmp_path / "verdict.json").write_text(json.dumps(verdict), encoding="utf-8")

    assert faults.is_told(tmp_path, ("HST-07", "GPU 3:")) == line


def test_a_run_without_a_verdict_tells_nothing(tmp_path: Path) -> None:
    told = faults.is_told(tmp_path / "none", ("HST-07", ""))

    assert told == "NOT TOLD HST-07: no verdict (No such file or directory)"
