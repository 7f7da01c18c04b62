"""JUnit, HTML and the generated requirement page: complete, escaped, and in agreement with the verdict."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from recipe import catalogue as catalogues
from reports import catalogue_page, html, junit
from reports.bundle import new_folder
from reports.outcomes import Outcome
from reports.verdict import Verdict
from tests.reports.made import NASTY, Tags, bundle_in, document, page, pass_all


def test_the_page_has_a_row_for_each_requirement_and_no_script() -> None:
    told = document()
    tags = Tags(page(told))

    for row in told.requirements:
        assert f"{row.id}{row.case}" in tags.ids
    assert "script" not in tags.tags
    assert not [link for link in tags.links if "//" in link]
    assert "REHEARSAL: QUALIFIED" in page(told)
    assert "certifies nothing" in page(told)


def test_the_page_escapes_what_came_from_outside() -> None:
    text = page(document(("HST-03", "", Outcome.FAILED, NASTY)))

    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "NOT QUALIFIED" in text


def test_the_page_says_what_was_not_verified_and_why() -> None:
    told = document(
        ("IMG-01", "", Outcome.BLOCKED, "blocked by HST-03"),
        ("WTS-01", "model-00001-of-00002.safetensors", Outcome.BLOCKED, "blocked by HST-03"),
        ("WTS-01", "model-00002-of-00002.safetensors", Outcome.BLOCKED, "blocked by HST-03"),
        ("SRV-01", "", Outcome.NOT_RUN, "not selected in this run"),
        interrupted="SIGTERM",
    )
    text = page(told)

    assert "interrupted by SIGTERM" in text
    assert "IMG-01, WTS-01 (2 files)" in text
    assert "not selected in this run" in text
    assert "--remove was not given" in text
    assert "open: nobody has stated it" in text


def test_the_same_document_gives_the_same_page() -> None:
    assert page(document()) == page(document())


def test_a_long_text_is_capped_and_says_so() -> None:
    assert html.short("x" * (html.LONGEST + 100)).endswith("[100 more characters in the evidence]")
    assert html.short("x") == "x"


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        (Outcome.FAILED, "failure"),
        (Outcome.BLOCKED, "error"),
        (Outcome.NOT_RUN, "error"),
        (Outcome.ERROR, "error"),
        (Outcome.NOT_APPLICABLE, "skipped"),
    ],
)
def test_junit_never_skips_what_was_to_be_judged(outcome: Outcome, tag: str) -> None:
    told = document(("HST-05", "", outcome, NASTY))
    root = ElementTree.fromstring(junit.render(told))
    case = next(case for case in root.iter("testcase") if case.get("name") == "HST-05")
    properties = {entry.get("name"): entry.get("value") for entry in case.iter("property")}

    assert case.find(tag) is not None
    assert properties == {"requirement": "HST-05", "stage": "HST", "outcome": outcome.value, "level": "MUST"}


def test_junit_counts_agree_with_its_cases() -> None:
    told = document(("HST-05", "", Outcome.FAILED, "x"), ("IMG-01", "", Outcome.BLOCKED, "y"))
    suite = ElementTree.fromstring(junit.render(told)).find("testsuite")
    assert suite is not None

    assert suite.get("tests") == str(len(told.requirements)) == str(len(suite.findall("testcase")))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(name) == str(len(list(suite.iter(tag))))
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")


def test_the_requirement_page_is_not_stale() -> None:
    assert catalogue_page.PAGE.read_text(encoding="utf-8") == catalogue_page.render(catalogues.load())


def test_a_bundle_says_incomplete_from_its_first_moment(tmp_path: Path) -> None:
    bundle_in(tmp_path / "bundle")
    told = msgspec.json.decode((tmp_path / "bundle" / "verdict.json").read_bytes())

    assert told["verdict"] == "INCOMPLETE"
    assert {row["outcome"] for row in told["requirements"]} == {"not run", "not applicable"}


def test_a_signal_while_the_bundle_is_written_makes_it_incomplete(tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path / "bundle")
    pass_all(bundle.ledger)
    signals = iter([None, "SIGTERM", "SIGTERM", "SIGTERM"])

    assert bundle.close(lambda: next(signals)) is Verdict.INCOMPLETE
    assert msgspec.json.decode((bundle.folder / "verdict.json").read_bytes())["interrupted"] == "SIGTERM"


def test_a_bundle_is_never_written_into_another(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(pytest.UsageError, match="not an empty folder"):
        new_folder(str(tmp_path), "rehearsal")
    assert new_folder(None, "rehearsal").parent.name == "out"
