"""One rehearsal as a child process, and its replay: from a fault or a legal world to what was judged of it."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from fixtures.rehearsal.faults import Fault
from tests.detection.judging import Judged, Told, judge, judge_clean, told
from tests.detection.replaying import replay
from tests.detection.worlds import LegalWorld
from tests.running import Ended, Qualify

T = TypeVar("T")


def run_fault(fault: Fault, keep: Path | None) -> Judged:
    """Rehearse with a fault; its replay must come to the same."""
    return judge(fault, _run(fault.name, ("--fault", fault.name, *fault.options), {}, keep))


def run_world(world: LegalWorld, keep: Path | None) -> Judged:
    """Rehearse in a legal world."""
    with tempfile.TemporaryDirectory(prefix="detection-") as folder:
        changes = Path(folder) / "world.json"
        changes.write_text(json.dumps(world.set), encoding="utf-8")
        return judge_clean(_run(world.name, (f"--world={changes}",), world.environment, keep))


def _run(name: str, options: tuple[str, ...], environment: dict[str, str], keep: Path | None) -> Told:
    with tempfile.TemporaryDirectory(prefix="detection-", ignore_cleanup_errors=True) as folder:
        qualify = Qualify(Path(folder))
        ended = qualify(*options, env=environment)
        if keep:
            shutil.copytree(ended.bundle, keep / name)
        return told(ended.told, ended.status, _problem(ended, qualify.leftovers()))


def _problem(ended: Ended, leftovers: list[str]) -> str:
    """Say what is wrong about a run, whatever its verdict: a traceback, a replay that differs, something left behind."""
    wrong = ["a traceback was printed"] if "Traceback" in ended.output else []
    wrong += [said] if (said := replay(ended.bundle)) else []
    return "; ".join(wrong + [f"left behind: {entry}" for entry in leftovers])


def all_of(act: Callable[[T], Judged], cases: Iterable[T], jobs: int, say: Callable[[T, Judged], None]) -> list[Judged]:
    """Run all cases, ``jobs`` at a time; ``say`` hears of each as it ends. Returned in the order of the cases."""
    one_at_a_time = threading.Lock()

    def run(case: T) -> Judged:
        judged = act(case)
        with one_at_a_time:
            say(case, judged)
        return judged

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, cases))
