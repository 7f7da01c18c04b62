"""What the routes of a vLLM server are for, and which answers mean that a route is open."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from recipe.loading import read
from recipe.values import Text

FILE = Path(__file__).with_name("routes.toml")
Kind = Literal["harmless", "inference", "control"]
# What each kind means where it answers, in the order in which a reader wants it: the open ones first.
MEANINGS = {
    "inference": "inference without a key, open to all of this host and kept from others by the loopback binding",
    "control": "control without a key, likewise",
    "unknown": "of a purpose unknown to this suite, without a key",
    "harmless": "tells of the server, without a key",
    "protected": "protected",
    "not there": "not there",
    "no answer": "no answer",
}
REFUSED, ABSENT = (401, 403), (404, 410)


class RouteGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Routes of one kind. With a body they are asked by POST, else by GET, which changes nothing."""

    paths: tuple[Text, ...]
    kind: Kind
    body: dict[str, Any] | None = None


class _Routes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    routes: tuple[RouteGroup, ...]


@cache
def known() -> dict[str, RouteGroup]:
    """Return the group of each known route. Raises `RecipeError`."""
    return {path: group for group in read(FILE, _Routes).routes for path in group.paths}


def sort(path: str, status: int) -> str:
    """Return the heading under which a route without a key belongs, by what it answered and what it is for."""
    if status in REFUSED:
        return "protected"
    if status in ABSENT:
        return "not there"
    group = known().get(path)
    return group.kind if group else "unknown"
