"""The words for what became of a fault: each of them can come about, and only the good ones do where all is well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fixtures.rehearsal.faults import Fault, faults
from tests.detection import matrix
from tests.detection.judging import Detection, Told, judge, judge_clean, told

FAULT = Fault(name="f", says="s", catches="HST-04", set={}, tells="MIG on")
ROOT = Path(__file__).resolve().parents[2]


def run(verdict: str = "NOT QUALIFIED", status: int = 1, problem: str = "", **rows: dict[str, str]) -> Told:
    return Told(verdict, status, {outcome.replace("_", " "): words for outcome, words in rows.items()}, problem)


MIG = {"HST-04": "GPU 3 (MIG on)"}


@pytest.mark.parametrize(
    ("fault", "found", "word"),
    [
        ({}, run(failed=MIG), Detection.CAUGHT),
        ({}, run("QUALIFIED", 0), Detection.MISSED),
        ({}, run("INCOMPLETE", 1), Detection.MISSED),
        ({}, run(failed={"HST-03": "3 GPUs"}), Detection.ELSEWHERE),
        ({}, run("INCOMPLETE", 1, blocked=MIG), Detection.ELSEWHERE),
        ({}, run(failed={"HST-04": "vGPU"}), Detection.ELSEWHERE),
        ({}, run(failed=MIG | {"HST-03": "3 GPUs"}), Detection.FALSE_ALARM),
        ({"also": ("HST-03",)}, run(failed=MIG | {"HST-03": "3 GPUs"}), Detection.CAUGHT),
        ({"also": ("HST-03",)}, run(failed=MIG), Detection.MISSED),
        ({}, run("INCOMPLETE", 1, failed=MIG), Detection.BROKEN),
        ({}, run(status=0, failed=MIG), Detection.BROKEN),
        ({}, run(failed=MIG, error={"HST-05": "ValueError"}), Detection.BROKEN),
        ({}, run(failed=MIG, not_run={"HST-05": "not reached"}), Detection.BROKEN),
        ({}, run(failed=MIG, problem="left behind: a server"), Detection.BROKEN),
        ({"outcome": "blocked"}, run("INCOMPLETE", 1, blocked=MIG), Detection.CAUGHT),
        ({"outcome": "blocked"}, run(failed=MIG), Detection.ELSEWHERE),
        ({"outcome": "blocked"}, run("QUALIFIED", 0, blocked=MIG), Detection.BROKEN),
        ({"outcome": "remark"}, run("QUALIFIED WITH REMARKS", 0, failed=MIG), Detection.CAUGHT),
        ({"outcome": "remark"}, run("QUALIFIED WITH REMARKS", 0, blocked=MIG), Detection.CAUGHT),
        ({"outcome": "remark"}, run("NOT QUALIFIED", 1, failed=MIG), Detection.BROKEN),
        ({"outcome": "remark"}, run("QUALIFIED", 0, failed=MIG), Detection.BROKEN),
    ],
)  # fmt: skip
def test_a_run_with_a_fault_gets_its_word(fault: dict[str, Any], found: Told, word: Detection) -> None:
    changed = Fault(**{"name": "f", "says": "s", "catches": "HST-04", "set": {}, "tells": "MIG on", **fault})
    judged = judge(changed, found)

    assert judged.detection is word, judged.why
    assert bool(judged.why) == (word is not Detection.CAUGHT)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (run("QUALIFIED", 0, passed=MIG), Detection.CLEAN),
        (run("QUALIFIED WITH REMARKS", 0, failed=MIG), Detection.FALSE_ALARM),
        (run("NOT QUALIFIED", 1, failed=MIG), Detection.FALSE_ALARM),
        (run("INCOMPLETE", 1, error=MIG), Detection.BROKEN),
        (run("QUALIFIED", 0, blocked=MIG), Detection.FALSE_ALARM),
        (run("QUALIFIED", 1), Detection.BROKEN),
        (run("QUALIFIED", 0, problem="a traceback was printed"), Detection.BROKEN),
    ],
)
def test_a_legal_world_gets_its_word(found: Told, word: Detection) -> None:
    assert judge_clean(found).detection is word


def test_what_is_told_leaves_attestations_out_and_joins_files() -> None:
    rows = [
        {"id": "WTS-01", "level": "MUST", "outcome": "failed", "found": "a", "remedy": "r"},
        {"id": "WTS-01", "level": "MUST", "outcome": "passed", "found": "b", "remedy": "r"},
        {"id": "WTS-01", "level": "MUST", "outcome": "failed", "found": "c", "remedy": "r"},
        {"id": "ATT-01", "level": "ATTEST", "outcome": "not run", "found": "open", "remedy": "r"},
    ]
    found = told({"verdict": "NOT QUALIFIED", "requirements": rows}, 1)

    assert found.ids("failed") == found.ids("passed") == {"WTS-01"}
    assert found.ids("not run") == set()
    assert found.words("WTS-01") == "a\nr\nc\nr"


def test_the_published_matrix_has_every_fault_and_the_readme_its_figures() -> None:
    published = json.loads(matrix.DATA.read_text(encoding="utf-8"))
    figures = published["figures"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert [row["fault"] for row in published["faults"]] == list(faults())
    assert {row["detection"] for row in published["faults"]} == {Detection.CAUGHT.value}
    assert (figures[Detection.CLEAN.value], published["worlds"]) == (50, 50)
    assert f"| faults caught by the named requirement | {len(faults())} of {len(faults())} |" in readme
    assert f"| false alarms | {figures[Detection.FALSE_ALARM.value]} in {published['worlds']} legal worlds |" in readme
