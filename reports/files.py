"""The files of a bundle: their names, their list with hashes, and how one is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

VERDICT_FILE = "verdict.json"
DEPLOYMENT_FILE, SNAPSHOT_FILE = "deployment.json", "snapshot.json"
SUMS = "SHA256SUMS"
STATEMENT = "statement.json"
ENVELOPE = "statement.dsse.json"
UNLISTED = frozenset({SUMS, STATEMENT, ENVELOPE})


class BundleError(Exception):
    """A bundle cannot be read. The text is one line: what was wanted, what was found, what to do."""


def json_bytes(value: object) -> bytes:
    """Return a value as JSON that people can read too. Raises TypeError for one that is not JSON-able."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a neighbour is written, flushed to disk and renamed over it."""
    _partial(path, data).replace(path)


def write_together(folder: Path, files: dict[str, bytes]) -> None:
    """Write files whole, as nearly at one moment as can be: all are on the disk before the first gets its name."""
    partials = {folder / name: _partial(folder / name, data) for name, data in files.items()}
    for path, partial in partials.items():
        partial.replace(path)


def _partial(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return partial


def listed(bundle: Path) -> Iterator[str]:
    """Yield the paths, within the bundle, of everything that its list must name: whatever is no folder."""
    for path in sorted(bundle.rglob("*")):
        name = path.relative_to(bundle).as_posix()
        if name not in UNLISTED and (path.is_symlink() or not path.is_dir()):
            yield name


def sha256(path: Path) -> str:
    """Return the SHA256 of a file, in lower-case hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums(bundle: Path, coming: Mapping[str, bytes] | None = None) -> bytes:
    """Return the list of a bundle's files in the form of ``sha256sum``; of those that are coming, as they will be.

    Raises OSError.
    """
    later = {name: hashlib.sha256(data).hexdigest() for name, data in (coming or {}).items()}
    names = sorted({*listed(bundle), *later}, key=PurePosixPath)
    return "".join(f"{later.get(name) or sha256(bundle / name)}  {name}\n" for name in names).encode()


def listed_sha256(bundle: Path, name: str) -> str:
    """Return the SHA256 that a bundle's list has for a file; empty where there is no list, or not that file in it."""
    path = bundle / SUMS
    return read_sums(path.read_bytes()).get(name, "") if path.is_file() else ""


def read_sums(data: bytes) -> dict[str, str]:
    """Return the hashes of such a list, by path. Raises `BundleError` for a bad line, or a path that stands twice."""
    found: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        digest, gap, name = line.partition("  ")
        if len(digest) != 64 or not gap or not name or name in found:
            raise BundleError(f"{SUMS}: {line!r} is no line of a list of hashes, or stands twice")
        found[name] = digest
    return found
