"""The files of a bundle: their names, their list with hashes, and how one is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

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
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


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


def sums(bundle: Path) -> bytes:
    """Return the list of a bundle's files in the form of ``sha256sum``. Raises OSError."""
    return "".join(f"{sha256(bundle / name)}  {name}\n" for name in listed(bundle)).encode()


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
