"""Waivers: a person takes a failed requirement upon themselves, by name, with a reason, until a day."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec

from recipe.catalogue import Catalogue, Level
from recipe.errors import RecipeError
from recipe.loading import read
from recipe.values import Text

WAIVABLE = frozenset({Level.MUST, Level.SHOULD})


class Waiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One waiver. It holds to the end of the day ``expires`` (UTC). ``case`` narrows it to one file."""

    requirement: Text
    reason: Text
    owner: Text
    expires: dt.date
    case: str = ""

    @property
    def words(self) -> str:
        """Who waives it until when, and why."""
        return f"waived by {self.owner} until {self.expires.isoformat()}: {self.reason}"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    waivers: tuple[Waiver, ...]


def load(path: Path, catalogue: Catalogue, today: dt.date) -> tuple[Waiver, ...]:
    """Read a file of waivers.

    Raises `RecipeError` for one that is expired, names no requirement that can be waived, stands twice, or lacks a
    reason or an owner.
    """
    waivers = read(path, _File).waivers
    levels = {requirement.id: requirement.level for requirement in catalogue.requirements}
    seen: set[tuple[str, str]] = set()
    for waiver in waivers:
        where = f"waivers[{waiver.requirement}]"
        if waiver.requirement not in levels:
            raise RecipeError(path.name, where, "the catalogue has no such requirement")
        if levels[waiver.requirement] not in WAIVABLE:
            raise RecipeError(path.name, where, f"{levels[waiver.requirement]} never fails", "remove the waiver")
        if not (waiver.owner.strip() and waiver.reason.strip()):
            raise RecipeError(path.name, where, "has no owner or no reason", "say who waives it, and why")
        if waiver.expires < today:
            raise RecipeError(path.name, where, f"expired on {waiver.expires}", "remove it, or have its owner renew it")
        if (waiver.requirement, waiver.case) in seen:
            raise RecipeError(path.name, where, "stands twice")
        seen.add((waiver.requirement, waiver.case))
    return waivers
