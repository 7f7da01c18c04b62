"""Runs killed at random moments: no verdict that qualifies, no server, no lock and no wrong file survives the next start.

``KILLS`` says how many; ``tox -e kills`` asks for 200.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import stat
import time
from pathlib import Path

import pytest

from recipe import snapshot as snapshots
from reports.files import SUMS, sums
from reports.verdict import Verdict
from tests.running import Ended, Qualify

KILLS = int(os.environ.get("KILLS", "8"))
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL]
QUALIFYING = {str(verdict) for verdict in Verdict if verdict.qualifies}
DIES_S = 5.0
SNAPSHOT = snapshots.load("rehearsal")


@pytest.fixture(scope="module")
def whole_s(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that a whole run takes here and now."""
    began = time.monotonic()
    assert Qualify(tmp_path_factory.mktemp("whole"))().status == 0
    return time.monotonic() - began


def was_closed(ended: Ended) -> bool:
    """Tell whether a run had written all of its bundle; its list of files comes last."""
    path = ended.bundle / SUMS
    return path.exists() and path.read_bytes() == sums(ended.bundle)


def wrong_files(folder: Path) -> list[str]:
    """Return what has a final name in the work folder and not the content or the mode that goes with it."""
    digests = {name: file.sha256 for name, file in (SNAPSHOT.shards | SNAPSHOT.auxiliaries).items()}
    wrong = [
        path.name
        for path in (folder / "model").glob("*")
        if path.name in digests and hashlib.sha256(path.read_bytes()).hexdigest() != digests[path.name]
    ]
    for name, form in ((".api-key", r"[0-9a-f]{64}\n?"), (".service.env", r"VLLM_API_KEY=[0-9a-f]{64}\n")):
        path = folder / name
        if path.exists() and (
            not re.fullmatch(form, path.read_text(encoding="ascii")) or stat.S_IMODE(path.stat().st_mode) != 0o600
        ):
            wrong.append(name)
    return wrong


def servers(qualify: Qualify) -> list[str]:
    """Return what still runs of a run's processes, once they have had time to die."""
    until = time.monotonic() + DIES_S
    while found := [entry for entry in qualify.leftovers() if not entry.startswith(str(qualify.scratch))]:
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_run_killed_at_any_moment_leaves_nothing_that_lies(qualify: Qualify, whole_s: float, seed: int) -> None:
    chance, number = random.Random(seed), SIGNALS[seed % len(SIGNALS)]
    workdir = qualify.folder / "hosting"
    started = qualify.start(f"--workdir={workdir}")
    time.sleep(chance.uniform(0.0, whole_s))
    started.process.send_signal(number)
    ended = started.wait()

    if (ended.bundle / "verdict.json").exists() and ended.verdict in QUALIFYING:
        assert ended.status == 0 or (number is signal.SIGKILL and was_closed(ended)), ended.output
    elif (ended.bundle / "report.html").exists():
        assert "REHEARSAL: QUALIFIED" not in (ended.bundle / "report.html").read_text(encoding="utf-8")
    elif ended.status == 0:
        pytest.fail(f"status 0 without a verdict that qualifies:\n{ended.output}")
    assert wrong_files(workdir) == []

    again = qualify(f"--workdir={workdir}")

    assert (again.status, again.verdict) == (0, "QUALIFIED"), again.output
    assert servers(qualify) == []
    assert not (workdir / ".qualify.lock").exists()
    assert wrong_files(workdir) == []
