"""Text from outside made fit to be shown: what no format can hold, or what only deceives the eye, becomes U+FFFD."""

from __future__ import annotations

import re
from typing import Any

# Control characters (all but tab and line ends), lone surrogates, non-characters, and those that turn writing around.
UNFIT = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)
LONE = re.compile("[\ud800-\udfff]")
MARK = "\ufffd"


def printable(text: str) -> str:
    """Return the text with the mark in place of every character that is not fit to be shown."""
    return UNFIT.sub(MARK, text)


def without_surrogates(text: str) -> str:
    """Return the text with the mark in place of lone surrogates, which UTF-8 cannot hold; the rest is as it was."""
    return LONE.sub(MARK, text)


def in_all(change: Any, value: Any) -> Any:
    """Return plain values (as JSON knows them) with a change of text made in every one, in keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {in_all(change, key): in_all(change, entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [in_all(change, entry) for entry in value]
    return value
