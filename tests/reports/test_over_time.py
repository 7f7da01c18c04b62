"""Comparing two bundles, and whether a qualification still holds."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recipe.measurements import Measurement
from reports import comparing, document, overview
from reports.__main__ import main
from reports.document import Document
from reports.facts import Facts
from reports.files import BundleError, write_atomically
from reports.fingerprint import Fingerprint, fingerprint
from reports.outcomes import Outcome
from reports.recording import Recording
from reports.standing import Aspect, State, standing
from reports.summary import markdown, workflow_commands
from tests.reports.made import NASTY, Tags, bundle_in
from tests.reports.made import document as made

TODAY = dt.date(2026, 1, 31)
GPU = {"name": "NVIDIA L40S", "uuid": "GPU-1"}
NOW: dict[str, Any] = {
    "gpus": {"driver_version": "575.57.08", "devices": [GPU]},
    "derived_image": {"image": {"id": "sha256:aa"}},
    "container": {"running": True, "image_id": "sha256:aa", "arguments": ["/model", "--port", "8000"]},
    "weights": {"folder": "/m", "files": {"a": {"file": {"bytes": 7}}, "b": {"file": {"bytes": 8}}}},
}


def qualified(**changes: Any) -> Document:
    told = msgspec.structs.replace(made(), rehearsal=False, headline="QUALIFIED", fingerprint=fingerprint(Facts(NOW)))
    return msgspec.structs.replace(told, **changes)


def measured(value: float) -> tuple[Measurement, ...]:
    return (Measurement("time to ready", "s", value, value, value, 1, "clock", "once"),)


def states(told: Document, now: dict[str, Any], today: dt.date = TODAY) -> dict[str, Aspect]:
    return {aspect.name: aspect for aspect in standing(told, Facts(now), today)}


def test_what_is_as_it_was_holds() -> None:
    found = states(qualified(), NOW)

    assert list(found) == ["verdict", "age", "driver", "GPUs", "image", "files", "arguments"]
    assert {aspect.state for aspect in found.values()} == {State.HOLDS}


@pytest.mark.parametrize(
    ("change", "name", "state", "told"),
    [
        ({"gpus": {"driver_version": "580.1", "devices": [GPU]}}, "driver", State.CHANGED, "was 575.57.08, is 580.1"),
        (
            {"gpus": {"driver_version": "575.57.08", "devices": [{**GPU, "uuid": "GPU-2"}]}},
            "GPUs",
            State.CHANGED,
            "was NVIDIA L40S GPU-1, is NVIDIA L40S GPU-2",
        ),
        (
            {"gpus": {"type": "Unreadable", "what": "GPUs", "reason": "NVML gave no answer"}},
            "driver",
            State.UNKNOWN,
            "was 575.57.08, now: NVML gave no answer",
        ),
        ({"gpus": {"driver_version": "575.57.08"}}, "GPUs", State.UNKNOWN, "now: it was not read"),
        ({"derived_image": {"image": {"id": "sha256:bb"}}}, "image", State.CHANGED, "was sha256:aa, is sha256:bb"),
        (
            {"derived_image": {"image": {"type": "Absent", "what": "image", "detail": "no such image"}}},
            "image",
            State.CHANGED,
            "was sha256:aa, now: no such image",
        ),
        ({"weights": {"files": {"a": {"file": {"bytes": 7}}}}}, "files", State.CHANGED, "not as they were: b in /m"),
        ({"container": {**NOW["container"], "arguments": ["/model"]}}, "arguments", State.CHANGED, "is /model"),
        (
            {"container": {**NOW["container"], "image_id": "sha256:bb"}},
            "arguments",
            State.CHANGED,
            "runs image sha256:bb",
        ),
        ({"container": {"type": "Absent"}}, "arguments", State.HOLDS, "no server of that name runs now"),
        (
            {"container": {"type": "Unreadable", "what": "x", "reason": "Docker does not answer"}},
            "arguments",
            State.UNKNOWN,
            "the server that may run: Docker does not answer",
        ),
    ],
)
def test_each_change_is_told(change: dict[str, Any], name: str, state: State, told: str) -> None:
    found = states(qualified(), NOW | change)

    assert found[name].state is state
    assert told in found[name].told
    assert (found[name].judges_again == "") is (state is State.HOLDS)


def test_where_nothing_was_recorded_nothing_holds() -> None:
    found = states(qualified(fingerprint=Fingerprint()), NOW)

    assert found["ground"].state is State.UNKNOWN


@pytest.mark.parametrize(("days", "state"), [(90, State.HOLDS), (91, State.VOID), (-1, State.VOID)])
def test_a_qualification_holds_for_its_validity(days: int, state: State) -> None:
    assert states(qualified(), NOW, dt.date(2026, 1, 1) + dt.timedelta(days))["age"].state is state


@pytest.mark.parametrize(
    "told",
    [made(), qualified(verdict="NOT QUALIFIED"), qualified(rehearsal=True)],
    ids=["rehearsal", "not", "rehearsed"],
)
def test_what_never_qualified_does_not_hold(told: Document) -> None:
    plain = document.decode(document.encode(told))

    assert states(plain, NOW)["verdict"].state is State.VOID


def write(folder: Path, told: Document) -> Path:
    """Write a bundle with this verdict."""
    bundle_in(folder)
    write_atomically(folder / "verdict.json", document.encode(told))
    return folder


def test_two_equal_bundles_have_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = write(tmp_path / "a", qualified()), write(tmp_path / "b", qualified())

    assert main(["compare", str(first), str(second)]) == 0
    assert capsys.readouterr().out == "ground: the same\noutcomes: the same\nmeasurements: the same\n"


def test_what_changed_between_two_bundles_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = qualified(measurements=measured(2.0))
    new = made(("HST-05", "", Outcome.FAILED, "x"), *((f"IMG-0{n}", "", Outcome.BLOCKED, "y") for n in range(1, 9)))
    changed = NOW | {
        "gpus": {"driver_version": "580.1", "devices": [{**GPU, "uuid": "GPU-2"}]},
        "container": {"arguments": ["--port", "/model", "8000"]},
        "diagnostics": {"versions": {"torch": "2.9"}},
        "derived_image": {},
    }
    new = msgspec.structs.replace(new, fingerprint=fingerprint(Facts(changed)), measurements=measured(3.0))
    first, second = write(tmp_path / "a", old), write(tmp_path / "b", new)

    assert main(["compare", str(first), str(second)]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "ground:",
        "driver: 575.57.08 → 580.1",
        "gpus: no more NVIDIA L40S GPU-1",
        "gpus: now NVIDIA L40S GPU-2",
        "image: sha256:aa → none",
        "arguments: another order or number: /model --port 8000 → --port /model 8000",
        "image packages torch: none → 2.9",
        "outcomes:",
        "verdict: QUALIFIED → REHEARSAL: NOT QUALIFIED",
        "passed → failed: HST-05",
        "passed → blocked: IMG-01, IMG-02, IMG-03, IMG-04, IMG-05, IMG-06 and 2 more",
        "measurements:",
        "time to ready: 2 → 3 s (+50.0%)",
    ]


def test_another_deployment_is_a_change_of_ground(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", qualified()), write(tmp_path / "b", qualified())
    text = (second / "deployment.json").read_text(encoding="utf-8")
    (second / "deployment.json").write_text(text.replace('"575.57.08"', '"570.0"'), encoding="utf-8")

    ground = comparing.changes(Recording(first), Recording(second)).ground
    assert ground == ("deployment host driver_min: 575.57.08 → 570.0",)


@pytest.mark.parametrize("command", ["render", "compare", "status", "summary", "index", "verify"])
def test_what_is_no_bundle_is_one_line(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = {"compare": [str(tmp_path)], "verify": ["--key", str(tmp_path / "key")]}.get(command, [])

    assert main([command, str(tmp_path), *more]) == 2
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 1
    assert told.out == ""


def test_the_overview_has_every_run_and_its_trends(tmp_path: Path) -> None:
    day = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for number, seconds in enumerate((2.0, 3.0, 2.5)):
        times = {"started": day.replace(day=number + 1, minute=30), "ended": day.replace(day=number + 1, hour=1)}
        write(tmp_path / f"run{number}", qualified(measurements=measured(seconds), **times))
    write(tmp_path / "deep" / "failed", made(("HST-05", "", Outcome.FAILED, NASTY)))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "verdict.json").write_text("{}", encoding="utf-8")

    path = overview.write(tmp_path)
    text = path.read_text(encoding="utf-8")
    tags = Tags(text)

    assert path == tmp_path / "index.html"
    links = [link for link in tags.links if link.endswith("report.html")]
    assert links == ["run2/report.html", "run1/report.html", "run0/report.html", "deep/failed/report.html"]
    assert "deep/failed/report.html#HST-05" in tags.links
    assert "broken/verdict.json is not of the schema" in text
    assert tags.tags.count("polyline") == 3
    assert "time to ready over 2.0 days, in s: median from 2.0 to 3.0" in text
    assert "script" not in tags.tags


def test_an_overview_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no bundle below it"):
        overview.write(tmp_path)


def test_the_summary_is_inert_markdown() -> None:
    text = markdown(made(("HST-05", "", Outcome.FAILED, NASTY), ("IMG-01", "", Outcome.BLOCKED, "blocked by HST-05")))
    row = next(line for line in text.splitlines() if line.startswith("| HST"))

    assert text.startswith("## ❌ REHEARSAL: NOT QUALIFIED\n")
    assert "<script>" not in text
    assert "\\<script\\>" in row
    assert row.replace("\\|", "").count("|") == 5
    assert "- blocked 1: blocked by HST-05" in text
    assert markdown(qualified(measurements=measured(2.0))).count("| time to ready | 2 s |") == 1


def test_annotations_are_one_line_each_and_none_can_be_smuggled_in() -> None:
    told = made(("HST-05", "", Outcome.FAILED, "x\n::error::forged"), ("HST-12", "", Outcome.FAILED, "50%, really"))
    lines = workflow_commands(told).splitlines()

    assert [line.partition("::")[2].partition(" ")[0] for line in lines] == ["error", "warning", "error"]
    assert "%0A::error::forged" in lines[0]
    assert "50%25, really" in lines[1]
    assert lines[2] == "::error title=rehearsal::REHEARSAL: NOT QUALIFIED"
    assert workflow_commands(qualified()) == ""


def test_a_fingerprint_of_nothing_is_empty() -> None:
    assert fingerprint(Facts()) == Fingerprint()
