"""Strict reading of recipe files: any doubt is one clear line, never a default."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from recipe.errors import RecipeError

T = TypeVar("T")


def read(path: Path, kind: type[T]) -> T:
    """Read a ``.toml`` or ``.json`` file into ``kind``.

    Raises `RecipeError` for a missing or unreadable file, a syntax error, an unknown key, a missing value or
    a value of the wrong form; the message names the file and the key.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise RecipeError(str(path), "", error.strerror or str(error), "name an existing recipe file") from error
    decode = msgspec.toml.decode if path.suffix == ".toml" else msgspec.json.decode
    try:
        return decode(raw, type=kind, strict=True)
    except msgspec.ValidationError as error:
        problem, key = _split(str(error))
        raise RecipeError(path.name, key, problem) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecipeError(path.name, "", f"not valid {path.suffix[1:].upper()}: {error}") from error


def _split(message: str) -> tuple[str, str]:
    """Part msgspec's ``problem - at `$.key``` into the problem and a key that a person would write."""
    problem, _, key = message.partition(" - at `$")
    return problem, key.rstrip("`").lstrip(".") or "top level"
