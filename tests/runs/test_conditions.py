"""Whole runs under conditions: waivers, amendments, and options that exclude each other."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.running import Qualify

WAIVER = '[[waivers]]\nrequirement = "{id}"\nreason = "<b>22.04</b> until the move"\nowner = "Ada"\nexpires = {day}\n'
AMENDED = """\
schema = 1
name = "mine"
title = "The rehearsal, amended"
amends = "rehearsal"
[[amendments]]
id = "A1"
set = { "host.gpu_count" = 8 }
guide = "four GPUs"
here = "eight GPUs"
why = "a test"
"""


def waivers(tmp_path: Path, *ids: str, days: int = 30) -> str:
    day = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=days)
    path = tmp_path / "waivers.toml"
    path.write_text("".join(WAIVER.format(id=one, day=day.isoformat()) for one in ids), encoding="utf-8")
    return f"--waivers={path}"


def test_a_waived_failure_qualifies_with_waivers_on_the_first_page(qualify: Qualify, tmp_path: Path) -> None:
    ended = qualify(waivers(tmp_path, "HST-01", "HST-05"), "--fault", "host-other-release")

    assert (ended.status, ended.verdict) == (0, "QUALIFIED WITH WAIVERS"), ended.output
    assert ended.ids("waived") == {"HST-01"}
    assert "waived by Ada until" in ended.output
    report = (ended.bundle / "report.html").read_text(encoding="utf-8")
    first_page = report[: report.index('id="all"')]
    assert "&lt;b&gt;22.04&lt;/b&gt; until the move" in first_page
    assert "<b>22.04" not in report
    assert "not needed in this run" in first_page
    case = next(
        case for case in ElementTree.parse(ended.bundle / "junit.xml").iter("testcase") if case.get("name") == "HST-01"
    )
    skipped = case.find("skipped")
    assert skipped is not None
    assert str(skipped.get("message")).startswith("waived: ")


def test_what_is_not_waived_still_fails(qualify: Qualify, tmp_path: Path) -> None:
    ended = qualify(waivers(tmp_path, "HST-01"), "--fault", "host-other-release", "--fault", "open-without-key")

    assert (ended.status, ended.verdict) == (1, "NOT QUALIFIED")
    assert ended.ids("failed") == {"VFY-10"}


@pytest.mark.parametrize(
    ("ids", "days", "says"),
    [(("HST-01",), -1, "expired on"), (("HST-99",), 1, "no such requirement"), (("HST-01",) * 2, 1, "stands twice")],
)
def test_a_bad_waiver_refuses_the_run_in_one_line(
    qualify: Qualify, tmp_path: Path, ids: tuple[str, ...], days: int, says: str
) -> None:
    ended = qualify(waivers(tmp_path, *ids, days=days))

    assert ended.status == 4
    assert says in ended.output
    assert len(ended.output.strip().splitlines()) == 1
    assert not ended.bundle.exists()


def test_amendments_stand_beside_the_verdict(qualify: Qualify, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(AMENDED, encoding="utf-8")
    ended = qualify(f"--deployment={path}", deployment=None)

    assert ended.verdict == "QUALIFIED"
    assert "REHEARSAL: QUALIFIED under amendment A1" in ended.output
    assert "eight GPUs" in ended.output
    assert ended.told["conditions"]["amendments"][0]["set"] == {"host.gpu_count": 8}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--attach=x",), "--attach needs a container; rehearsal runs in none"),
        (("--leave-running",), "--leave-running needs a container"),
        (("--attach=x", "--remove"), "--attach and --remove exclude each other"),
        (("--leave-running", "--remove"), "--leave-running and --remove exclude each other"),
    ],
)
def test_options_that_make_no_sense_are_refused(qualify: Qualify, options: tuple[str, ...], says: str) -> None:
    ended = qualify(*options)

    assert ended.status == 4
    assert says in ended.output
    assert not ended.bundle.exists()
