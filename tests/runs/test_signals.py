"""Real signals at real runs: the server is stopped, the bundle says INCOMPLETE, the exit status is not 0."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.running import Ended, Qualify

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MOMENTS = [
    "Bundle:",
    "Host",
    "Image",
    "Weights",
    "starting rehearsal-image",
    "Verification",
    "stopping rehearsal-image",
]


def judge(qualify: Qualify, ended: Ended, name: str) -> None:
    assert ended.status not in (0, None), ended.output
    assert ended.verdict == "INCOMPLETE", ended.output
    assert ended.told["interrupted"] == name
    assert "interrupted by" in (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert (ended.bundle / "junit.xml").is_file()
    assert "Traceback" not in ended.output
    assert qualify.leftovers() == []


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_ends_a_run_in_order(qualify: Qualify, number: signal.Signals, moment: str) -> None:
    started = qualify.start()
    started.until(moment)
    started.process.send_signal(number)

    judge(qualify, started.wait(), number.name)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_ends_the_wait_for_a_server(qualify: Qualify, number: signal.Signals) -> None:
    started = qualify.start("--fault", "server-never-completes")
    started.until("starting rehearsal-image")
    time.sleep(1.0)
    started.process.send_signal(number)

    judge(qualify, started.wait(), number.name)


def test_a_second_signal_does_not_break_the_clean_up(qualify: Qualify) -> None:
    started = qualify.start("--fault", "ignores-sigterm")
    started.until("Verification")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
        started.process.send_signal(number)
        time.sleep(0.2)

    judge(qualify, started.wait(), "SIGTERM")


def test_a_killed_run_leaves_an_incomplete_bundle_and_no_server(qualify: Qualify) -> None:
    started = qualify.start()
    started.until("Verification")
    os.kill(started.process.pid, signal.SIGKILL)
    ended = started.wait()

    assert ended.verdict == "INCOMPLETE"
    until = time.monotonic() + 5
    while [entry for entry in qualify.leftovers() if "standin" in entry] and time.monotonic() < until:
        time.sleep(0.05)
    assert not [entry for entry in qualify.leftovers() if "standin" in entry]
