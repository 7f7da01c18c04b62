"""``python -m tests.detection``: every fault and many legal worlds through whole rehearsals; writes the matrix."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from fixtures.rehearsal.faults import faults
from tests.detection import judgements, matrix
from tests.detection.cases import all_of, run_fault, run_world
from tests.detection.judging import Detection, Judged
from tests.detection.worlds import LegalWorld, legal_worlds

GOOD = (Detection.CAUGHT, Detection.CLEAN)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def main() -> int:
    """Run what is asked for, and end with 0 if each fault was caught by its own requirement and no alarm was false."""
    options = _options()
    chosen = [fault for fault in faults().values() if not options.only or fault.name in options.only]
    if unknown := set(options.only) - {fault.name for fault in chosen}:
        sys.exit(f"no such fault: {', '.join(sorted(unknown))}; 'pytest --faults' lists them")
    worlds = [LegalWorld(judgements.PLAIN, {}, {})] if options.keep or not options.only else []
    worlds += [] if options.only else legal_worlds(options.worlds, options.seed)
    if options.keep and options.keep.exists():
        sys.exit(f"--keep {options.keep}: it exists; name a new folder")
    if options.keep:
        options.keep.mkdir(parents=True)
    began = time.monotonic()
    judged = all_of(lambda fault: run_fault(fault, options.keep), chosen, options.jobs, _say)
    # The plain one runs alone: what it says of memory names every server that runs beside it.
    clean = all_of(lambda world: run_world(world, options.keep), worlds[:1], 1, _say)
    clean += all_of(lambda world: run_world(world, options.keep), worlds[1:], options.jobs, _say)
    if options.keep:
        judgements.gather(options.keep, chosen, [world.name for world in worlds])
    counted = Counter(entry.detection.value for entry in (*judged, *clean))
    seconds = time.monotonic() - began
    print(
        f"{', '.join(f'{number} {word}' for word, number in counted.items())}; {seconds:.0f} s with {options.jobs} jobs"
    )
    bad = any(entry.detection not in GOOD for entry in (*judged, *clean))
    if bad or options.only:
        return int(bad)
    return matrix.publish(matrix.Matrix.of(chosen, judged, worlds[1:], clean[1:]), check=options.check)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.detection", description=__doc__)
    parser.add_argument(
        "--only", metavar="FAULT", nargs="+", default=[], help="these faults alone, no world; writes no matrix"
    )
    parser.add_argument("--worlds", metavar="N", type=int, default=50, help="how many legal worlds (default: 50)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="chance of the legal worlds (default: 1)")
    parser.add_argument("--jobs", metavar="N", type=int, default=(os.cpu_count() or 1) + 1, help="rehearsals at a time")
    parser.add_argument(
        "--keep", metavar="DIR", type=Path, help="a new folder for every run's bundle, and all judgements"
    )
    parser.add_argument("--check", action="store_true", help="write no matrix; fail if the one in docs/ says otherwise")
    return parser.parse_args()


def _say(case: _Named, judged: Judged) -> None:
    why = f": {judged.why}" if judged.why else ""
    print(f"{case.name:36} {judged.detection.value}{why}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
