"""JSON, its schema, CTRF and the in-toto statement: counted against the catalogue, and never a quiet pass."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from recipe.catalogue import Level
from reports import ctrf, document, html, junit, schema, statement
from reports.document import Document
from reports.files import SUMS
from reports.outcomes import SETTLED, UNKNOWN, Outcome
from reports.verdict import Verdict
from tests.reports.made import NASTY, page
from tests.reports.made import document as made

CTRF_STATUSES = {
    Outcome.PASSED: "passed",
    Outcome.RECORDED: "passed",
    Outcome.ATTESTED: "passed",
    Outcome.FAILED: "failed",
    Outcome.BLOCKED: "failed",
    Outcome.NOT_RUN: "failed",
    Outcome.ERROR: "failed",
    Outcome.NOT_APPLICABLE: "other",
    Outcome.WAIVED: "other",
}


def test_the_published_schema_is_not_stale() -> None:
    assert schema.FILE.read_bytes() == schema.render()


def test_the_schema_takes_what_is_written_and_refuses_anything_else() -> None:
    wanted = json.loads(schema.FILE.read_text(encoding="utf-8"))
    plain = json.loads(document.encode(made(("HST-05", "", Outcome.FAILED, NASTY))))
    jsonschema.validate(plain, wanted)

    for change in ({"verdict": "FINE"}, {"schema": "vllm-qualify/verdict/1"}, {"more": 1}, {"requirements": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(plain | change, wanted)
        with pytest.raises(msgspec.ValidationError):
            document.decode(json.dumps(plain | change).encode())


def test_a_document_is_read_as_it_was_written() -> None:
    told = made(("HST-05", "", Outcome.FAILED, NASTY))

    assert document.decode(document.encode(told)) == told


@pytest.mark.parametrize("outcome", Outcome)
def test_ctrf_never_passes_over_what_was_to_be_judged(outcome: Outcome) -> None:
    told = made(("HST-05", "", outcome, "so it was"))
    results = json.loads(ctrf.render(told))["results"]
    test = next(test for test in results["tests"] if test["name"] == "HST-05")

    assert (test["status"], test["rawStatus"]) == (CTRF_STATUSES[outcome], outcome.value)
    assert test["labels"] == {"requirement": "HST-05", "stage": "HST", "case": ""}
    assert "so it was" in test["message"]


def test_ctrf_counts_agree_with_its_tests_and_the_catalogue() -> None:
    told = made(("HST-05", "", Outcome.FAILED, NASTY), ("IMG-01", "", Outcome.BLOCKED, "y"))
    results = json.loads(ctrf.render(told))["results"]
    summary = results["summary"]

    assert summary["tests"] == len(told.requirements) == len(results["tests"])
    assert [test["name"] for test in results["tests"]] == [row.name for row in told.requirements]
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert summary[status] == sum(test["status"] == status for test in results["tests"])
    assert (summary["failed"], summary["skipped"], summary["pending"]) == (2, 0, 0)
    assert all(isinstance(test["duration"], int) and test["suite"] for test in results["tests"])


def stated(told: Document) -> dict[str, Any]:
    return dict(json.loads(statement.render(told, b"list\n", b"deployment\n")))


def real(told: Document) -> Document:
    return msgspec.structs.replace(told, rehearsal=False)


@pytest.mark.parametrize(
    ("told", "result"),
    [
        (real(made()), "PASSED"),
        (real(made(("HST-12", "", Outcome.FAILED, "x"))), "WARNED"),
        (real(made(("HST-05", "", Outcome.FAILED, "x"))), "FAILED"),
        (real(made(("HST-05", "", Outcome.BLOCKED, "x"))), "FAILED"),
        (real(made(interrupted="SIGTERM")), "FAILED"),
        (made(), "FAILED"),
    ],
    ids=["qualified", "remarks", "failed", "blocked", "interrupted", "rehearsal"],
)
def test_the_statements_result_passes_only_what_qualifies_a_host(told: Document, result: str) -> None:
    assert stated(told)["predicate"]["result"] == result


def test_the_statement_covers_list_image_and_model() -> None:
    told = made()
    told = msgspec.structs.replace(
        told,
        fingerprint=msgspec.structs.replace(told.fingerprint, image=f"sha256:{'ab' * 32}"),
        provenance=msgspec.structs.replace(told.provenance, repository="baidu/x", revision="cd" * 20),
    )
    said = stated(told)

    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert said["subject"] == [
        {"name": SUMS, "digest": {"sha256": hashlib.sha256(b"list\n").hexdigest()}},
        {"name": "image", "digest": {"sha256": "ab" * 32}},
        {"name": "baidu/x", "digest": {"gitCommit": "cd" * 20}},
    ]
    configuration = said["predicate"]["configuration"]
    assert configuration[0]["digest"] == {"sha256": hashlib.sha256(b"deployment\n").hexdigest()}


def test_the_statement_names_every_must_once() -> None:
    told = real(made(("HST-05", "", Outcome.FAILED, "x"), ("HST-12", "", Outcome.FAILED, "x")))
    predicate = stated(told)["predicate"]

    assert predicate["failedTests"] == ["HST-05"]
    assert predicate["warnedTests"] == ["HST-12"]
    assert len(predicate["passedTests"]) == told.counts["passed"]


@pytest.mark.parametrize("outcome", Outcome)
def test_all_formats_agree_on_what_did_not_pass(outcome: Outcome) -> None:
    told = made(("HST-05", "", outcome, "x"))
    row = next(row for row in told.requirements if row.id == "HST-05")
    bad = outcome is Outcome.FAILED or outcome in UNKNOWN
    test = next(test for test in json.loads(ctrf.render(told))["results"]["tests"] if test["name"] == "HST-05")

    assert (junit.is_failure(row) or junit.is_error(row)) is bad
    assert (test["status"] == "failed") is bad
    assert ("HST-05" in stated(told)["predicate"]["failedTests"]) is bad
    assert (outcome in SETTLED) is not bad
    assert told.verdict.qualifies is not bad


def hostile() -> Document:
    """A full catalogue in which every row has found something long and hostile."""
    told = made()
    rows = [
        (row.id, row.case, Outcome.FAILED, NASTY * 40) for row in told.requirements if row.level is not Level.ATTEST
    ]
    return made(*rows)


def test_a_page_full_of_hostile_text_is_bounded_and_holds_no_markup_of_it() -> None:
    began = time.monotonic()
    text = page(hostile())

    assert len(text.encode()) < 2_000_000
    assert time.monotonic() - began < 10
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_ordinary_page_of_the_full_catalogue_is_below_a_megabyte() -> None:
    assert len(page(made()).encode()) < 1_000_000


def test_a_picture_that_is_none_of_ours_is_not_embedded(tmp_path: Path) -> None:
    (tmp_path / "artefacts").mkdir()
    for name, data in (
        ("unseen-headline.png", b"GIF89a"),
        ("without-text.png", html.PNG + b"0" * html.BIGGEST_PICTURE),
    ):
        (tmp_path / "artefacts" / name).write_bytes(data)
    assert "data:image" not in html.render(made(), tmp_path).decode()

    (tmp_path / "artefacts" / "without-text.png").write_bytes(html.PNG + b"1")
    assert html.render(made(), tmp_path).decode().count("data:image/png;base64,") == 1


def test_every_verdict_has_its_words() -> None:
    assert set(html.WORDS) == {verdict.value for verdict in Verdict}
