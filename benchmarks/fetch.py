"""Fetching and verifying from a loopback hub: ours, the guide's script, and curl followed by our verifying."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import guide
from benchmarks.hub import serving
from benchmarks.measuring import (
    Layout,
    Measured,
    arguments,
    compare,
    grow,
    made_files,
    measure_here,
    run_contender,
    snapshot_beside,
    tell_bounds,
    tell_machine,
)
from benchmarks.ours import BY_JOBS, provision
from fixtures.provisioners.hub import Hub
from fixtures.provisioners.parallel import default_jobs
from fixtures.sources import Sources

OURS, GUIDE, CURL = "vllm-qualify", "the guide's script", "curl in parallel, then our verifying"


def ours(place: Path, target: Path, address: str, jobs: int | None = None) -> None:
    """Fetch with the suite's own provisioner."""
    snapshot = snapshot_beside(place)
    provision(target, snapshot, Hub(Sources(hub=address, index=""), snapshot), jobs)


def by_guide(place: Path, target: Path, address: str) -> None:
    """Fetch with the guide's script."""
    guide.script(snapshot_beside(place), target, address)
    flush(target)


def by_curl(place: Path, target: Path, address: str) -> None:
    """Fetch with as many parallel transfers of curl as ours has by default, then verify as we verify."""
    names = snapshot_beside(place).files
    argv = ["curl", "--silent", "--show-error", "--parallel", "--parallel-max", str(default_jobs())]
    for name in names:
        argv += ["--output", str(target / name), f"{address}/{name}"]
    subprocess.run(argv, check=True)
    flush(target)
    provision(target, snapshot_beside(place), None)


def flush(target: Path) -> None:
    """Bring a contender's files to the disk, as ours does."""
    for path in target.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


CONTENDERS: dict[str, Callable[[Path, Path, str], None]] = {OURS: ours, GUIDE: by_guide, CURL: by_curl}


def run(name: str, place: Path, address: str, *, watched: bool = False) -> Measured:
    """Measure one contender with an empty folder."""
    target = place.parent / "target" / "model"
    shutil.rmtree(target.parent, ignore_errors=True)
    target.mkdir(parents=True)
    measured = run_contender("benchmarks.fetch", name, place, target, address, watched=watched)
    shutil.rmtree(target.parent)
    return measured


def ours_served(place: Path) -> Measured:
    """Measure ours with a hub of its own."""
    with serving(place) as address:
        return run(OURS, place, address)


def main() -> None:
    """Compare on the main layout, then show the growth."""
    given = arguments(__doc__ or "")
    if given.contender:
        how, name, place, target, address = given.contender
        task = CONTENDERS.get(name) or partial(ours, jobs=BY_JOBS[name])
        measure_here(how, lambda: task(Path(place), Path(target), address))
        return
    layout = Layout(given.files, int(given.gb * 1e9) // given.files)
    tell_machine()
    with made_files(given.folder, layout) as folder, serving(folder) as origin:
        rounds = [{name: run(name, folder, origin) for name in CONTENDERS} for _ in range(given.rounds)]
        watched = run(OURS, folder, origin, watched=True)
        jobs = [{name: run(name, folder, origin) for name in BY_JOBS} for _ in rounds]
    compare(f"Fetch and verify {layout} from a loopback hub, medians of {given.rounds}", layout, rounds)
    tell_bounds(watched)
    compare("The same by jobs", layout, jobs, "ratio")
    grow(given.folder, given.rounds, ours_served)


if __name__ == "__main__":
    main()
