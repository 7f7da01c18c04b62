"""Waivers: what is refused, and what one does to a row and to the verdict."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.errors import RecipeError
from reports import waivers
from reports.conditions import Conditions
from reports.ledger import Ledger
from reports.outcomes import Outcome
from reports.verdict import Verdict, decide
from reports.waivers import Waiver

CATALOGUE = catalogues.load()
TODAY = dt.date(2026, 12, 1)
GOOD = '[[waivers]]\nrequirement = "HST-01"\nreason = "22.04 until the move"\nowner = "Ada"\nexpires = 2026-12-01\n'


def load(tmp_path: Path, text: str) -> tuple[Waiver, ...]:
    path = tmp_path / "waivers.toml"
    path.write_text(text, encoding="utf-8")
    return waivers.load(path, CATALOGUE, TODAY)


def test_a_waiver_holds_to_the_end_of_its_day(tmp_path: Path) -> None:
    (waiver,) = load(tmp_path, GOOD)

    assert waiver.words == "waived by Ada until 2026-12-01: 22.04 until the move"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("2026-12-01", "2026-11-30", r"waivers\[HST-01\]: expired on 2026-11-30; remove it, or have its owner renew"),
        ("HST-01", "HST-99", r"waivers\[HST-99\]: the catalogue has no such requirement"),
        ("HST-01", "HST-13", r"waivers\[HST-13\]: RECORD never fails"),
        ("HST-01", "ATT-01", r"waivers\[ATT-01\]: ATTEST never fails"),
        ('owner = "Ada"\n', "", r"waivers\[0\]: Object missing required field `owner`"),
        ('"Ada"', '""', "owner"),
        ('"Ada"', '"  "', "has no owner or no reason"),
        ('"22.04 until the move"', '" "', "has no owner or no reason"),
        ("expires = 2026-12-01", 'expires = "soon"', "expires"),
        ("expires = 2026-12-01", "", "missing required field `expires`"),
        ("owner", "colour = 1\nowner", "unknown field `colour`"),
        ("[[waivers]]", "[waivers]", "waivers"),
    ],
)
def test_a_waiver_that_nobody_can_answer_for_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(RecipeError, match=f"^waivers.toml: .*{says}"):
        load(tmp_path, GOOD.replace(old, new))


def test_a_waiver_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="stands twice"):
        load(tmp_path, GOOD + GOOD)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"none\.toml: No such file"):
        waivers.load(tmp_path / "none.toml", CATALOGUE, TODAY)


def book(*listed: Waiver) -> Ledger:
    deployment, snapshot = deployments.load("rehearsal"), snapshots.load("rehearsal")
    ledger = Ledger(CATALOGUE, deployment, snapshot, Conditions(waivers=listed))
    for row in ledger.rows:
        if row.outcome is Outcome.NOT_RUN:
            ledger.settle(row.id, row.case, Outcome.PASSED, found="x")
    return ledger


def waive(requirement: str, case: str = "") -> Waiver:
    return Waiver(requirement=requirement, reason="r", owner="o", expires=TODAY, case=case)


def test_a_waived_failure_is_neither_passed_nor_failed() -> None:
    ledger = book(waive("HST-01"))
    row = ledger.settle("HST-01", "", Outcome.FAILED, found="debian 12")

    assert row.outcome is Outcome.WAIVED
    assert row.found == "debian 12\nwaived by o until 2026-12-01: r"
    assert decide(ledger.rows) is Verdict.WITH_WAIVERS
    assert ledger.obstacle("IMG-01") is None


def test_a_waiver_covers_failures_only() -> None:
    ledger = book(waive("HST-08"))
    ledger.settle("HST-08", "", Outcome.BLOCKED, found="no permission")

    assert decide(ledger.rows) is Verdict.INCOMPLETE
    assert ledger.obstacle("IMG-01") == "HST-08"


def test_a_waiver_for_one_file_leaves_the_others() -> None:
    first, second = (row.case for row in book().rows if row.id == "WTS-01")
    ledger = book(waive("WTS-01", first))

    assert ledger.settle("WTS-01", first, Outcome.FAILED, found="x").outcome is Outcome.WAIVED
    assert ledger.settle("WTS-01", second, Outcome.FAILED, found="x").outcome is Outcome.FAILED
    assert decide(ledger.rows) is Verdict.NOT_QUALIFIED


def test_a_waiver_that_is_not_needed_changes_nothing() -> None:
    assert decide(book(waive("HST-01")).rows) is Verdict.QUALIFIED


def test_a_waiver_covers_its_own_requirement_and_no_other() -> None:
    ledger = book(waive("HST-05"))

    for identity in ("HST-04", "HST-06", "IMG-01"):
        ledger.settle(identity, "", Outcome.FAILED, found="no")
    assert {ledger.row(identity).outcome for identity in ("HST-04", "HST-06", "IMG-01")} == {Outcome.FAILED}
    ledger.settle("HST-05", "", Outcome.FAILED, found="570")
    assert ledger.row("HST-05").outcome is Outcome.WAIVED


def test_a_waiver_of_a_later_day_is_taken(tmp_path: Path) -> None:
    (waiver,) = load(tmp_path, GOOD.replace("2026-12-01", "2027-03-31"))

    assert waiver.expires == dt.date(2027, 3, 31)


def test_a_file_of_waivers_holds_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="unknown field `colour`"):
        load(tmp_path, f"colour = 1\n{GOOD}")
