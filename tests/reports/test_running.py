"""Parts of a run: outcomes of one test, signals, refusals at the start, progress."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from recipe.catalogue import Level
from recipe.judgement import Blocked, Judgement
from reports import suite
from reports.interrupts import Interrupts
from reports.items import arguments, judge_call, requirement_id_of
from reports.outcomes import Outcome
from reports.preflight import wants_qualification
from reports.progress import TaskProgress


def outcome(when: str, problem: BaseException | None, found: str = "it", level: Level = Level.MUST) -> Outcome | None:
    return settled(when, problem, found, level)[0]


def settled(
    when: str, problem: BaseException | None, found: str = "it", level: Level = Level.MUST
) -> tuple[Outcome | None, str]:
    def act() -> None:
        if problem is not None:
            raise problem

    judgement = Judgement("wanted")
    judgement.found = found
    call = pytest.CallInfo.from_call(act, when)  # type: ignore[arg-type]
    return judge_call(call, judgement, level)


def test_only_an_assertion_in_the_body_is_a_failure() -> None:
    assert outcome("call", None) is Outcome.PASSED
    assert outcome("call", AssertionError("no")) is Outcome.FAILED
    assert outcome("call", ValueError("bug")) is Outcome.ERROR
    assert outcome("setup", AssertionError("no")) is Outcome.ERROR
    assert outcome("teardown", OSError()) is Outcome.ERROR
    assert outcome("call", None, level=Level.SHOULD) is Outcome.PASSED
    assert outcome("call", AssertionError("no"), level=Level.SHOULD) is Outcome.FAILED
    assert outcome("setup", None) is None
    assert outcome("teardown", None) is None


def test_blocked_is_its_own_word_wherever_it_is_said() -> None:
    assert outcome("call", Blocked("by HST-01")) is Outcome.BLOCKED
    assert outcome("setup", Blocked("by HST-01"), found="") is Outcome.BLOCKED
    assert settled("setup", Blocked("by HST-01"), found="") == (Outcome.BLOCKED, "by HST-01")
    assert settled("call", Blocked("by HST-01"), found="no key") == (Outcome.BLOCKED, "no key")


def test_an_error_is_told_by_its_class_and_first_line() -> None:
    assert settled("call", ValueError("first\nsecond\nthird")) == (Outcome.ERROR, "ValueError: first")
    assert settled("call", OSError()) == (Outcome.ERROR, "OSError: no text")


def test_a_tests_own_arguments_are_known(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert arguments(request.node) == ("request", "tmp_path")
    assert arguments(request.session) == ()  # type: ignore[arg-type]


def test_a_test_that_finds_nothing_is_an_error() -> None:
    assert outcome("call", None, found="") is Outcome.ERROR
    assert outcome("call", AssertionError(), found="") is Outcome.ERROR


def test_a_skip_is_an_error() -> None:
    assert outcome("call", pytest.skip.Exception("not today")) is Outcome.ERROR


def test_a_record_is_recorded_and_never_judged() -> None:
    assert outcome("call", None, level=Level.RECORD) is Outcome.RECORDED
    assert outcome("call", AssertionError(), level=Level.RECORD) is Outcome.ERROR


def test_a_tests_name_tells_its_requirement() -> None:
    assert requirement_id_of("qualification/test_10_host.py::test_hst_05_driver_meets_minimum") == "HST-05"
    assert requirement_id_of("q.py::test_wts_01_shard_is[model.safetensors]") == "WTS-01"
    assert requirement_id_of("q.py::test_other") == "q.py::test_other"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [("qualify", True), ("qualify and not slow", True), ("not qualify", False), ("", False), ("slow", False)],
)
def test_the_mode_is_told_by_the_marker(expression: str, wanted: bool) -> None:
    assert wants_qualification(expression) is wanted


@pytest.fixture
def interrupts() -> Iterator[tuple[Interrupts, list[str]]]:
    """Interrupts that are installed, and what they told the run."""
    told: list[str] = []
    made = Interrupts()
    made.install(told.append)
    yield made, told
    made.restore()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_interrupts_work(interrupts: tuple[Interrupts, list[str]], number: signal.Signals) -> None:
    made, told = interrupts
    with pytest.raises(KeyboardInterrupt, match=number.name), made.working():
        os.kill(os.getpid(), number)
    os.kill(os.getpid(), signal.SIGTERM)

    assert made.received == number.name
    assert told == [f"interrupted by {number.name}"]


def test_a_signal_outside_work_is_noted_and_stops_the_next_work(interrupts: tuple[Interrupts, list[str]]) -> None:
    made, told = interrupts
    os.kill(os.getpid(), signal.SIGTERM)

    assert told == ["interrupted by SIGTERM"]
    with pytest.raises(KeyboardInterrupt), made.working():
        raise AssertionError("work must not begin")


def test_work_within_work_stays_interruptible(interrupts: tuple[Interrupts, list[str]]) -> None:
    made, _ = interrupts
    with made.working():
        with made.working():
            pass
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_signals_can_be_ignored_at_the_end(interrupts: tuple[Interrupts, list[str]]) -> None:
    made, told = interrupts
    made.ignore()
    os.kill(os.getpid(), signal.SIGTERM)

    assert (made.received, told) == (None, [])


def test_plain_progress_is_a_line_every_ten_seconds() -> None:
    now = [0.0]
    target = io.StringIO()
    progress = TaskProgress(Console(file=target, width=200), lambda: now[0])
    for second in range(26):
        now[0] = float(second)
        progress.show("a", second * 4_000_000, 100_000_000)
        progress.show("stalls", 7, 100)
        progress.show("starts again", 50 - second if second < 20 else second, 100)
    progress.show("a", 100_000_000, 100_000_000)
    progress.show("b", 5, 5)
    progress.show("stalls", 0, 0)

    lines = target.getvalue().splitlines()
    assert [line.strip() for line in lines if "stalls" not in line and "starts" not in line] == [
        "a: 40.0 MB of 100.0 MB (40 %), 4.0 MB/s, 0:00:15 left",
        "a: 80.0 MB of 100.0 MB (80 %), 4.0 MB/s, 0:00:05 left",
        "a: 100.0 MB of 100.0 MB (100 %), 4.0 MB/s",
    ]
    assert [line.strip() for line in lines if "stalls" in line] == ["stalls: 7 bytes of 100 bytes (7 %), 0 bytes/s"] * 2


def test_a_bar_is_shown_on_a_terminal() -> None:
    target = io.StringIO()
    progress = TaskProgress(Console(file=target, force_terminal=True, width=100))
    progress.show("fetching a", 1, 2)
    progress.show("fetching a", 2, 2)
    progress.show("fetching c", 1, 2)
    progress.close()

    assert "fetching a" in target.getvalue()


def test_the_suite_knows_its_version_and_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert suite.version().count(".") == 2
    monkeypatch.setenv("PATH", "/nowhere")
    assert suite.commit() == "unknown"
