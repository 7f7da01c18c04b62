"""Public advisories by version range; recorded, never judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from recipe.loading import read
from recipe.values import Text, package_version

FILE = Path(__file__).with_name("advisories.toml")


class Advisory(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"first": "from"}):
    """One advisory: covers versions from ``first`` up to, but not including, ``before`` (PEP 440).

    ``matters`` tells which of the documented settings stands before it.
    """

    id: Text
    project: Text
    first: Text
    before: Text
    says: Text
    matters: Text


class _Advisories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    advisories: tuple[Advisory, ...]


def covering(project: str, version: str, path: Path = FILE) -> tuple[Advisory, ...]:
    """Return the advisories that cover a version of a project; none where the version is no version."""
    found = package_version(version)
    if found is None:
        return ()
    listed = read(path, _Advisories).advisories
    return tuple(entry for entry in listed if entry.project == project and _in_range(entry, version))


def _in_range(entry: Advisory, version: str) -> bool:
    first, found, before = (package_version(text) for text in (entry.first, version, entry.before))
    return first is not None and found is not None and before is not None and first <= found < before
