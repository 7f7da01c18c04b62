"""SIGINT, SIGTERM and SIGHUP end a run in order, whenever they come.

A signal raises KeyboardInterrupt only while a fixture or a test works. Anywhere else, in pytest's own machinery and in
clean-up, it is noted and ends the run at its next step.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Takes the three signals for one run. ``received`` names the first one."""

    def __init__(self) -> None:
        self.received: str | None = None
        self._working = False
        self._stop: Callable[[str], None] = _nothing
        self._before: dict[signal.Signals, Any] = {}

    def install(self, stop: Callable[[str], None]) -> None:
        """Take over the signals; ``stop`` tells the run to end at its next step. Main thread only."""
        self._stop = stop
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._handle)

    @contextmanager
    def working(self) -> Generator[None, None, None]:
        """Let a signal interrupt what is done meanwhile; one that has come already interrupts at once."""
        before, self._working = self._working, True
        try:
            if self.received:
                raise KeyboardInterrupt(self.received)
            yield
        finally:
            self._working = before

    def ignore(self) -> None:
        """Ignore the signals until the process ends: the verdict stands, and the exit status must agree with it."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def restore(self) -> None:
        """Give the signals back to whom they belonged."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.received is None:
            self.received = signal.Signals(number).name
            self._stop(f"interrupted by {self.received}")
        if self._working:
            raise KeyboardInterrupt(self.received)


def _nothing(_reason: str) -> None:
    """There is no run to stop yet."""
