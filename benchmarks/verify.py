"""Verifying files that are there: ours, OpenSSL's own speed, the guide's script, and two other tools' hashing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import guide
from benchmarks.measuring import (
    Layout,
    Measured,
    arguments,
    compare,
    cores,
    grow,
    made_files,
    measure_here,
    openssl_rate,
    run_contender,
    snapshot_beside,
    tell_bounds,
    tell_machine,
)
from benchmarks.ours import BY_JOBS, provision

OURS, GUIDE, SIGNING, HUB = "vllm-qualify", "the guide's script", "model_signing", "hf cache verify"


def signing(place: Path) -> None:
    """Hash as model_signing does, by its default configuration."""
    from model_signing import hashing

    hashing.Config().hash(place)


def hub(place: Path) -> None:
    """Hash as ``hf cache verify`` does: one file after another, with its own function."""
    from huggingface_hub.utils._verification import compute_file_hash

    for path in sorted(place.iterdir()):
        compute_file_hash(path, "sha256")


# What a contender imports for itself; that is done before its time begins.
IMPORTED = {SIGNING: "model_signing.hashing", HUB: "huggingface_hub.utils._verification"}
CONTENDERS: dict[str, Callable[[Path], None]] = {
    OURS: lambda place: provision(place, snapshot_beside(place), None),
    GUIDE: lambda place: guide.script(snapshot_beside(place), place),
    SIGNING: signing,
    HUB: hub,
}


def by_jobs(jobs: int, place: Path) -> None:
    """Verify with so many jobs."""
    provision(place, snapshot_beside(place), None, jobs)


def one_round(place: Path, layout: Layout) -> dict[str, Measured]:
    """Run all contenders once, and OpenSSL's own measurement beside them."""
    measured = {name: run_contender("benchmarks.verify", name, place) for name in CONTENDERS}
    speed = Measured(layout.total / (openssl_rate() * cores()), 0, 0, 0)
    return measured | {f"OpenSSL's speed × {cores()} cores": speed}


def main() -> None:
    """Compare on the main layout, then show the growth."""
    given = arguments(__doc__ or "")
    if given.contender:
        how, name, place = given.contender
        if name in IMPORTED:
            importlib.import_module(IMPORTED[name])
        task = CONTENDERS.get(name) or partial(by_jobs, BY_JOBS[name])
        measure_here(how, lambda: task(Path(place)))
        return
    layout = Layout(given.files, int(given.gb * 1e9) // given.files)
    tell_machine()
    with made_files(given.folder, layout) as folder:
        rounds = [one_round(folder, layout) for _ in range(given.rounds)]
        watched = run_contender("benchmarks.verify", OURS, folder, watched=True)
        jobs = [{name: run_contender("benchmarks.verify", name, folder) for name in BY_JOBS} for _ in rounds]
    compare(f"Verify {layout}, warm cache, medians of {given.rounds}", layout, rounds)
    tell_bounds(watched)
    compare("The same by jobs", layout, jobs, "ratio")
    grow(given.folder, given.rounds, lambda place: run_contender("benchmarks.verify", OURS, place))


if __name__ == "__main__":
    main()
