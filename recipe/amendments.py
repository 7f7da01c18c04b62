"""Amendments: how a deployment differs from the documented one. All that differs stands in them, by construction."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from recipe.errors import RecipeError
from recipe.values import Text


class Amendment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One numbered difference: dotted paths with their new values, what the guide says, what is done here, and why."""

    id: Annotated[str, msgspec.Meta(pattern=r"^A[1-9]\d*$")]
    set: dict[str, Any]
    guide: Text
    here: Text
    why: Text


class Amended(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole content of a deployment file that amends another."""

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    name: Text
    title: Text
    amends: Text
    amendments: Annotated[tuple[Amendment, ...], msgspec.Meta(min_length=1)]


def amend(source: str, plain: dict[str, Any], amendments: tuple[Amendment, ...]) -> dict[str, Any]:
    """Return a deployment, as plain values, with the amendments in it.

    Raises `RecipeError` for an id that stands twice, a path that leads nowhere, is set twice or keeps its value.
    """
    changed: set[str] = set()
    for number, amendment in enumerate(amendments, 1):
        if amendment.id != f"A{number}":
            raise RecipeError(source, f"amendments[{amendment.id}]", f"the ids count up: A{number} is next")
        if not amendment.set:
            raise RecipeError(source, f"amendments[{amendment.id}].set", "changes nothing")
        for path, value in amendment.set.items():
            if path in changed:
                raise RecipeError(source, f"amendments[{amendment.id}].set", f"{path} is changed twice")
            changed.add(path)
            _put(source, f"amendments[{amendment.id}].set", plain, path, value)
    return plain


def _put(source: str, key: str, plain: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at a path that the original states, be it by default."""
    *parents, last = path.split(".")
    place: Any = plain
    for name in parents:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        raise RecipeError(source, key, f"{path} is no value of the original")
    if place[last] == value or place[last] == (tuple(value) if isinstance(value, list) else value):
        raise RecipeError(source, key, f"{path} has this value in the original too")
    place[last] = value
