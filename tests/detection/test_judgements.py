"""Every judgement of the detection matrix, asked again by itself: what must fail fails, what must pass passes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fixtures.rehearsal.faults import faults
from recipe import catalogue as catalogues
from recipe.catalogue import Level
from tests.detection import judgements, words
from tests.detection.judgements import Case

GIVEN = os.environ.get("JUDGEMENTS", "")
if not GIVEN:
    pytest.skip("JUDGEMENTS names no file; 'tox -e faults' makes one and runs these", allow_module_level=True)
ASKED = [entry.id for entry in catalogues.load().requirements if entry.level is not Level.ATTEST]


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    return judgements.load(Path(GIVEN))


@pytest.mark.parametrize("identity", ASKED)
def test_a_requirement_judges_as_the_faults_say(cases: dict[str, list[Case]], identity: str) -> None:
    for case in cases[identity]:
        outcome, judgement = judgements.judge(case)

        assert (outcome, bool(judgement.found)) == (case.outcome, True), f"{case.run}: {judgement.found}"
    outcomes = {case.outcome for case in cases[identity]}
    assert outcomes & {"passed", "recorded"}
    assert outcomes != {"passed"}


@pytest.mark.parametrize("identity", ASKED)
def test_a_requirement_says_of_a_plain_host_what_is_written_down(cases: dict[str, list[Case]], identity: str) -> None:
    said = words.said({identity: cases.get(identity, [])})

    assert said == {key: value for key, value in words.written().items() if key == identity}


@pytest.mark.parametrize("identity", sorted({fault.catches for fault in faults().values()}))
def test_a_failure_tells_what_its_fault_is(cases: dict[str, list[Case]], identity: str) -> None:
    remedy = catalogues.load().get(identity).remedy
    named = [case for case in cases[identity] if case.tells]
    told = {case.run for case in named if case.tells in f"{judgements.judge(case)[1].found}\n{remedy}"}

    assert told
    assert told == {case.run for case in named}  # by one of its files at least
