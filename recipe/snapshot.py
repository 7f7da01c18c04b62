"""A model snapshot: every file of one immutable revision, with its bytes and SHA256."""

from __future__ import annotations

from pathlib import Path

import msgspec

from recipe.errors import RecipeError
from recipe.loading import read
from recipe.values import ByteCount, FileName, Revision, Sha256, Text

FOLDER = Path(__file__).with_name("snapshots")


class SnapshotFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one file must be. ``bytes`` is its length, ``sha256`` lower-case hex."""

    bytes: ByteCount
    sha256: Sha256


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One revision of one model repository (guide: Download the model, steps 1 and 2).

    ``shard_bytes`` is the length of all shards together, ``dtype`` the type of the weights in safetensors' words.
    """

    repository: Text
    revision: Revision
    shard_bytes: ByteCount
    dtype: Text
    shards: dict[FileName, SnapshotFile]
    auxiliaries: dict[FileName, SnapshotFile]

    @property
    def files(self) -> dict[str, SnapshotFile]:
        """Shards and auxiliaries together, shards first."""
        return {**self.shards, **self.auxiliaries}

    @property
    def total_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(file.bytes for file in self.files.values())


def documented(name: str | None) -> Snapshot | None:
    """Read the snapshot that a deployment names, None where it names none. Raises `RecipeError`."""
    return load(name) if name else None


def load(name: str, folder: Path = FOLDER) -> Snapshot:
    """Read ``folder/name.json``. Raises `RecipeError`; the shards' bytes must add up to the stated total."""
    path = folder / f"{name}.json"
    snapshot = read(path, Snapshot)
    total = sum(file.bytes for file in snapshot.shards.values())
    if total != snapshot.shard_bytes:
        raise RecipeError(
            path.name, "shard_bytes", f"states {snapshot.shard_bytes:,}, but the shards add up to {total:,}"
        )
    both = sorted(set(snapshot.shards) & set(snapshot.auxiliaries))
    if both:
        raise RecipeError(path.name, "auxiliaries", f"{both[0]} is also a shard")
    return snapshot
