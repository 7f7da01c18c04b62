"""The plan: steps by what has failed, a word on what was not judged, and never a clean bill for what nobody looked at."""

from __future__ import annotations

import pytest

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from reports.ledger import Ledger
from reports.outcomes import Outcome
from reports.plan import text

CATALOGUE = catalogues.load()
WITH_STEP = [entry.id for entry in CATALOGUE.requirements if entry.step]


def plan(**outcomes: Outcome) -> str:
    ledger = Ledger(CATALOGUE, deployments.load("rehearsal"), None)
    for identity in WITH_STEP:
        outcome = outcomes.get(identity.replace("-", "_"), Outcome.PASSED)
        if outcome is not Outcome.NOT_RUN:
            ledger.settle(identity, "", outcome, found="x")
    return text(CATALOGUE, ledger.rows, ("pull it", "start it:\ndocker run it"))


def test_a_host_that_has_all_needs_no_step() -> None:
    assert plan() == (
        "This host needs none of the guide's steps for driver, Docker and toolkit.\n"
        "\nA run would:\n  1. pull it\n  2. start it:\n     docker run it"
    )


def test_a_step_is_told_once_for_all_that_it_mends() -> None:
    said = plan(HST_02=Outcome.FAILED, HST_05=Outcome.FAILED)

    assert said.count("Install the GPU driver") == 1
    assert "Install Docker" not in said
    assert "\nA run would then:\n" in said


@pytest.mark.parametrize("outcome", [Outcome.BLOCKED, Outcome.NOT_RUN, Outcome.ERROR])
def test_what_was_not_judged_is_no_clean_bill(outcome: Outcome) -> None:
    said = plan(HST_08=outcome)

    assert said.startswith("Not judged, so that more of the guide's steps may be needed: HST-08\n")
    assert "needs none" not in said


def test_what_was_not_judged_is_left_out_where_its_step_is_told_anyway() -> None:
    assert "Not judged" not in plan(HST_08=Outcome.FAILED, HST_23=Outcome.BLOCKED)


def test_both_are_told_together() -> None:
    said = plan(HST_02=Outcome.FAILED, HST_09=Outcome.BLOCKED)

    assert said.index("sudo reboot") < said.index("Not judged") < said.index("A run would then")
