"""The suite's own provisioner as a contender."""

from __future__ import annotations

from pathlib import Path

from fixtures.probes.files import is_documented
from fixtures.provisioners import weights
from fixtures.provisioners.source import Source
from recipe.snapshot import Snapshot

# Ours by another number of jobs than its default.
BY_JOBS = {f"{jobs} jobs": jobs for jobs in (1, 2, 4, 8, 16)}


def provision(place: Path, snapshot: Snapshot, source: Source | None, jobs: int | None = None) -> None:
    """Verify, and with a source fetch, every file; end at once where one is not the documented one."""
    found = weights.provision(place, snapshot, source, _silent, _silent, jobs=jobs)
    for name, entry in found.files.items():
        if not is_documented(entry.file, snapshot.files[name]):
            raise SystemExit(f"{name}: {entry.file}")


def _silent(*_told: object) -> None:
    """Nobody watches."""
