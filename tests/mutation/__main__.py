"""``python -m tests.mutation``: every mutant of the code that decides against the tests; writes docs/mutation.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import msgspec

from reports.suite import ROOT
from tests.mutation.mutants import PATHS, Mutant, mutants
from tests.mutation.report import publish
from tests.mutation.running import survivors


def main() -> int:
    """Test what is asked for; status 0 if every mutant was killed, or survived for a reason that is written down."""
    options = _options()
    if "JUDGEMENTS" not in os.environ:
        sys.exit("JUDGEMENTS must name the judgements of a detection run: python -m tests.detection --keep DIR")
    began, tested, alive = time.monotonic(), 0, list[Mutant]()
    again = msgspec.json.decode(options.again.read_bytes(), type=list[Mutant]) if options.again else []
    chosen = [path.resolve() for path in options.only] or list(PATHS)
    chosen = [path for path in chosen if not again or str(path.relative_to(ROOT)) in {mutant.path for mutant in again}]
    found = (entry for path in chosen for entry in mutants(path) if not again or entry[0] in again)
    for mutant, lives in survivors(found, options.jobs):
        tested += 1
        if lives:
            alive.append(mutant)
            print(
                f"survives: {mutant.path}:{mutant.line} {mutant.operator}\n    {mutant.was}\n    {mutant.becomes}",
                flush=True,
            )
    print(f"{tested} mutants, {len(alive)} survive; {time.monotonic() - began:.0f} s with {options.jobs} jobs")
    if options.save:
        options.save.write_bytes(msgspec.json.encode(alive))
    if options.only:
        return 0
    # Of those that were killed before, nothing is asked again.
    return publish(sum(1 for path in PATHS for _ in mutants(path)) if again else tested, alive)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--only", metavar="FILE", nargs="+", type=Path, default=[], help="mutants of these files alone")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--again", metavar="FILE", type=Path, help="those of a saved file alone, as far as they exist")
    parser.add_argument("--save", metavar="FILE", type=Path, help="write the survivors there, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
