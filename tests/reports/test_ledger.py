"""The run's book: opening rows, settling, and what blocks what."""

from __future__ import annotations

import msgspec
import pytest

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.deployment import Deployment
from reports.conditions import Conditions
from reports.ledger import PLAIN, Ledger
from reports.outcomes import Outcome

CATALOGUE = catalogues.load()


def ledger(deployment: Deployment | None = None, conditions: Conditions = PLAIN) -> Ledger:
    deployment = deployment or deployments.load("rehearsal")
    snapshot = snapshots.load(deployment.snapshot) if deployment.snapshot else None
    return Ledger(CATALOGUE, deployment, snapshot, conditions)


def test_every_requirement_has_its_rows_from_the_start() -> None:
    book = ledger()
    cases = [row.case for row in book.rows if row.id == "WTS-01"]

    assert {row.id for row in book.rows} == {entry.id for entry in CATALOGUE.requirements}
    assert cases == ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    assert book.row("HST-01").outcome is Outcome.NOT_RUN
    assert book.row("RMV-01").outcome is Outcome.NOT_APPLICABLE
    assert book.row("RMV-01").found == "--remove was not given"
    assert ledger(None, Conditions(removes=True)).row("RMV-01").outcome is Outcome.NOT_RUN
    assert book.row("ATT-01").found.startswith("open")


def test_what_a_deployment_does_not_state_is_not_applicable() -> None:
    bare = msgspec.structs.replace(deployments.load("rehearsal"), host=None, snapshot=None)
    book = ledger(bare)

    assert book.row("HST-05").found == "the deployment rehearsal states no host.driver_min"
    assert book.row("WTS-01").outcome is Outcome.NOT_APPLICABLE
    assert book.row("HST-05").outcome is Outcome.NOT_APPLICABLE
    assert book.row("IMG-01").outcome is Outcome.NOT_RUN


def test_an_unknown_row_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        ledger().row("WTS-01", "none")


def test_a_failure_stands_and_a_pass_can_be_undone() -> None:
    book = ledger()
    book.settle("STP-03", "", Outcome.FAILED, found="GPU 1 holds memory")
    book.settle("STP-03", "", Outcome.ERROR, found="tear-down broke")
    book.settle("STP-02", "", Outcome.PASSED, found="gone")
    book.settle("STP-02", "", Outcome.ERROR, found="tear-down broke")

    assert (book.row("STP-03").outcome, book.row("STP-03").found) == (Outcome.FAILED, "GPU 1 holds memory")
    assert book.row("STP-02").outcome is Outcome.ERROR


def test_an_earlier_stage_blocks_by_its_first_must() -> None:
    book = ledger()
    book.settle("HST-12", "", Outcome.FAILED)
    assert book.obstacle("IMG-01") is None

    book.settle("HST-03", "", Outcome.FAILED)
    book.settle("HST-05", "", Outcome.BLOCKED)
    assert book.obstacle("IMG-01") == "HST-03"
    assert book.obstacle("HST-11") is None


def test_a_requirement_comes_after_another_of_its_stage() -> None:
    book = ledger()
    book.settle("WTS-03", "config.json", Outcome.FAILED)

    assert book.obstacle("WTS-07") == "WTS-03 [config.json]"
    assert book.obstacle("WTS-05") is None


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED, Outcome.ERROR])
def test_stop_is_judged_whenever_a_server_was_started(outcome: Outcome) -> None:
    book = ledger()
    book.settle("SRV-08", "", outcome)
    assert book.obstacle("STP-01") == "SRV-08"

    book.server_started = True
    assert book.obstacle("STP-01") is None
    assert book.obstacle("VFY-01") == "SRV-08"


def test_a_failure_is_named_before_what_was_blocked_earlier() -> None:
    book = ledger()
    book.settle("HST-01", "", Outcome.BLOCKED)
    book.settle("HST-02", "", Outcome.ERROR)
    assert book.obstacle("IMG-01") == "HST-01"

    book.settle("HST-03", "", Outcome.FAILED)
    assert book.obstacle("IMG-01") == "HST-03"


@pytest.mark.parametrize("first", [Outcome.BLOCKED, Outcome.ERROR])
def test_only_a_failure_stands(first: Outcome) -> None:
    book = ledger()
    book.settle("HST-01", "", first, found="no answer")

    assert book.settle("HST-01", "", Outcome.FAILED, found="22.04").outcome is Outcome.FAILED


def test_a_row_opens_with_what_it_waits_for() -> None:
    book = ledger(conditions=Conditions(attached="web"))
    why = "--attach was given: the service was already running, and is neither started nor stopped by this run"

    assert book.row("HST-01").found == "not reached in this run"
    assert book.row("ATT-01").found == "open: nobody has stated it"
    assert (book.row("STP-01").outcome, book.row("STP-01").found) == (Outcome.NOT_APPLICABLE, why)
    assert book.row("RMV-01").found == "--remove was not given"
