"""Signals at a run on a real engine, in each of its long moments: nothing is left but the bundle, and that is INCOMPLETE."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import pytest

from tests.engine.conftest import WAITS, Deployed
from tests.engine.lab import Lab

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@contextlib.contextmanager
def pulling(deployed: Deployed, lab: Lab) -> Iterator[str]:
    deployed.base("127.0.0.1:5001/tiny", lab.push_tiny("tiny"))
    with lab.faulty("hang", lab.registry):
        yield "pulling "


@contextlib.contextmanager
def building(deployed: Deployed, lab: Lab) -> Iterator[str]:
    """The wheel's host hangs in the middle of a body of some kilobytes."""
    with lab.faulty_files("hang"):
        yield "building "


@contextlib.contextmanager
def starting(deployed: Deployed, lab: Lab) -> Iterator[str]:
    deployed.plant(WAITS)
    yield "starting "


@contextlib.contextmanager
def serving(deployed: Deployed, lab: Lab) -> Iterator[str]:
    yield "Verification"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("moment", [pulling, building, starting, serving], ids=lambda moment: moment.__name__)
def test_a_signal_leaves_nothing(deployed: Deployed, lab: Lab, moment: object, number: signal.Signals) -> None:
    with moment(deployed, lab) as says:  # type: ignore[operator]
        started = deployed.start()
        started.until(says)
        if moment is starting:
            deployed.until_started()
        started.process.send_signal(number)
        ended = started.wait()

    assert ended.verdict == "INCOMPLETE", ended.output
    assert ended.status not in (0, None)
    assert ended.told["interrupted"] == number.name
    assert "Traceback" not in ended.output
    assert deployed.leftovers() == []
