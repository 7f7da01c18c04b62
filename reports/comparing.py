"""What changed between two bundles: the ground that they stand on, their measurements, and which outcomes moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from reports.document import Document
from reports.recording import Recording

NONE = "none"
SHOWN = 6
# Where things lie in one run, and how fast they came, is no change of what is served.
PASSING = {"source", "model_folder"}


class Changes(msgspec.Struct, frozen=True):
    """Lines for people. ``ground`` and ``outcomes`` make a difference; ``measured`` always moves a little."""

    ground: tuple[str, ...]
    outcomes: tuple[str, ...]
    measured: tuple[str, ...]


def changes(before: Recording, after: Recording) -> Changes:
    """Return what changed from one bundle to another."""
    old, new = before.document, after.document
    ground = (
        *_of_value("host", old.host, new.host),
        *_of_value("suite", f"{old.suite.version} {old.suite.commit}", f"{new.suite.version} {new.suite.commit}"),
        *_of_values("deployment ", msgspec.to_builtins(before.deployment), msgspec.to_builtins(after.deployment)),
        *_of_values("", _ground(old), _ground(new)),
    )
    return Changes(ground, tuple(_of_outcomes(old, new)), tuple(_of_measurements(old, new)))


def _ground(told: Document) -> dict[str, Any]:
    """Return what a run stood on: fingerprint and provenance, the model's files by their hashes."""
    hashes = {file.name: file.sha256 for file in told.provenance.files}
    plain = {**msgspec.to_builtins(told.fingerprint), **msgspec.to_builtins(told.provenance), "files": hashes}
    return {name.replace("_", " "): value for name, value in plain.items() if name not in PASSING}


def _of_values(prefix: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Compare two mappings name by name: texts, lists of texts, and mappings within them."""
    for name in dict.fromkeys((*old, *new)):
        pair = old.get(name), new.get(name)
        if pair[0] and not pair[1]:
            yield f"{prefix}{name}: {_told(pair[0])} → {NONE}"
        elif all(isinstance(value, dict) for value in pair):
            yield from _of_values(f"{prefix}{name} ", old[name], new[name])
        elif all(isinstance(value, list | tuple) for value in pair):
            yield from _of_words(f"{prefix}{name}", *pair)
        else:
            yield from _of_value(f"{prefix}{name}", *pair)


def _of_outcomes(old: Document, new: Document) -> Iterator[str]:
    """Name the verdicts, then the requirements by how they moved."""
    yield from _of_value("verdict", old.headline, new.headline)
    before = {row.name: row.outcome.value for row in old.requirements}
    after = {row.name: row.outcome.value for row in new.requirements}
    moved: dict[str, list[str]] = {}
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name, NONE), after.get(name, NONE)
        if pair[0] != pair[1]:
            moved.setdefault(f"{pair[0]} → {pair[1]}", []).append(name)
    for way, names in sorted(moved.items(), key=lambda entry: len(entry[1])):
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield f"{way}: {', '.join(names[:SHOWN])}{more}"


def _of_measurements(old: Document, new: Document) -> Iterator[str]:
    before = {entry.name: entry for entry in old.measurements}
    after = {entry.name: entry for entry in new.measurements}
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name), after.get(name)
        if was and now and was.median != now.median:
            change = f" ({(now.median - was.median) / was.median:+.1%})" if was.median else ""
            yield f"{name}: {was.median:g} → {now.median:g} {now.unit}".rstrip() + change
        elif was and not now:
            yield f"{name}: {was.median:g} {was.unit}".rstrip() + f" → {NONE}"
        elif now and not was:
            yield f"{name}: {NONE} → {now.median:g} {now.unit}".rstrip()


def _of_value(name: str, old: Any, new: Any) -> Iterator[str]:
    if old != new:
        yield f"{name}: {_told(old)} → {_told(new)}"


def _of_words(name: str, old: Any, new: Any) -> Iterator[str]:
    """Name what left and what came; where that is nothing, but the order changed, say so."""
    gone = [str(word) for word in old if word not in new]
    come = [str(word) for word in new if word not in old]
    yield from (f"{name}: no more {word}" for word in gone)
    yield from (f"{name}: now {word}" for word in come)
    if not gone and not come and list(old) != list(new):
        yield f"{name}: another order or number: {_told(old)} → {_told(new)}"


def _told(value: Any) -> str:
    if isinstance(value, dict | list | tuple) and len(value) > SHOWN:
        return f"{len(value)} of them"
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items()) or NONE
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or NONE
    return NONE if value in (None, "") else str(value)
