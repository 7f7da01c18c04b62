"""Progress of long tasks, with rate and time left: bars on a terminal, plain lines every ten seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import msgspec
from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

PLAIN_EVERY_S = 10.0
BAR_EVERY_S = 0.1


class TaskProgress:
    """Shows ``done`` of ``total`` bytes for any number of named tasks."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._drawn = -BAR_EVERY_S
        self._said: dict[str, _Said] = {}

    def show(self, task: str, done: int, total: int) -> None:
        """Show one step. Equal numbers end the task; a total of 0 ends one that came to nothing."""
        if self._console.is_terminal:
            self._bar(task, done, total)
        else:
            self._line(task, done, total)

    def close(self) -> None:
        """Take the bars off the terminal."""
        if self._bars:
            self._bars.stop()
            self._bars = None
            self._tasks.clear()

    def _bar(self, task: str, done: int, total: int) -> None:
        if self._bars is None:
            columns = (
                TextColumn("  {task.description}"),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
            )
            self._bars = Progress(*columns, console=self._console, transient=True, auto_refresh=False)
            self._bars.start()
        if task not in self._tasks:
            self._tasks[task] = self._bars.add_task(task, total=total)
        self._bars.update(self._tasks[task], completed=done, refresh=self._is_due(ended=done >= total))
        if done >= total:
            self._bars.remove_task(self._tasks.pop(task))
        if not self._tasks:
            self.close()

    def _is_due(self, *, ended: bool) -> bool:
        """Tell whether to draw again: not more than ten times a second, and at the end of a task."""
        now = self._clock()
        if not ended and now - self._drawn < BAR_EVERY_S:
            return False
        self._drawn = now
        return True

    def _line(self, task: str, done: int, total: int) -> None:
        """Say one line where ten seconds have passed since the last; a task that took less is not spoken of."""
        now = self._clock()
        if not total:
            self._said.pop(task, None)
            return
        said = self._said.get(task)
        if said is None or done < said.first:
            said = self._said[task] = _Said(began=now, last=now, first=done)
        ended = done >= total
        if ended:
            del self._said[task]
        if now - (said.began if ended else said.last) < PLAIN_EVERY_S:
            return
        said.last = now
        rate = (done - said.first) / (now - said.began)
        left = f", {timedelta(seconds=round((total - done) / rate))} left" if rate and not ended else ""
        self._console.print(
            f"  {task}: {decimal(done)} of {decimal(total)} ({100 * done // total} %), {decimal(round(rate))}/s{left}",
            highlight=False,
        )


class _Said(msgspec.Struct):
    """What a plain line needs: when the task began and from which byte, and when it was last spoken of."""

    began: float
    last: float
    first: int
