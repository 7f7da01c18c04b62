"""The recorded facts as plain values, looked up by fixture and field. The report knows their names, not their types."""

from __future__ import annotations

from typing import Any

import msgspec

from recipe.values import Absent, Fact, Unreadable

UNSEEN = (Absent.__name__, Unreadable.__name__)


class Facts:
    """What the session fixtures of one run have given, each under its fixture's name."""

    def __init__(self, plain: dict[str, Any] | None = None) -> None:
        self._plain = plain or {}

    def add(self, fixture: str, fact: Fact) -> None:
        """Keep one fact."""
        self._plain[fixture] = msgspec.to_builtins(fact)

    def get(self, fixture: str, *fields: str) -> Any:
        """Return the value at a path of fields, None where any of it is not there, absent or unreadable."""
        value = self._at(fixture, fields)
        return None if _is_unseen(value) else value

    def lack(self, fixture: str, *fields: str) -> tuple[bool, str]:
        """Tell why there is no value at a path: whether it was looked for and is absent, and the words for that."""
        value = self._at(fixture, fields)
        if not _is_unseen(value):
            return False, "it was not read"
        return value["type"] == Absent.__name__, str(value.get("detail") or value.get("reason"))

    def _at(self, fixture: str, fields: tuple[str, ...]) -> Any:
        """Return what stands at a path of fields, or the absent or unreadable thing on the way to it."""
        value: Any = self._plain.get(fixture)
        for field in fields:
            if not _is_unseen(value):
                value = value.get(field) if isinstance(value, dict) else None
        return value

    def text(self, fixture: str, *fields: str) -> str:
        """Return the value as a text, empty where there is none."""
        value = self.get(fixture, *fields)
        return "" if value is None else str(value)

    def listed(self, fixture: str, *fields: str) -> list[Any]:
        """Return the list at a path of fields, an empty one where there is none."""
        return list(self.get(fixture, *fields) or ())

    def mapped(self, fixture: str, *fields: str) -> dict[str, Any]:
        """Return the mapping at a path of fields, an empty one where there is none."""
        return dict(self.get(fixture, *fields) or {})

    def model_files(self) -> dict[str, dict[str, Any]]:
        """Return, by name, what was read of each file of the model that is there; bytes and hash are under ``file``."""
        entries = self.mapped("weights", "files")
        return {name: entry for name, entry in entries.items() if isinstance((entry["file"] or {}).get("bytes"), int)}


def _is_unseen(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in UNSEEN
