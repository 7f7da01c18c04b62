"""The redactor: every text on its way to a file or the terminal passes it, and no secret passes."""

from __future__ import annotations

import base64
import contextlib
import re
from typing import TextIO
from urllib.parse import quote

from recipe.values import Secret

MARK = "<redacted>"
SHORTEST = 8
PART = 16  # so many characters of a secret on end are a leak of it
CHUNK = 8  # any part of twice as many characters holds one whole chunk
# What a secret may be broken up by: all but letters and digits, be it line ends, quotes, commas, hyphens or colons.
BREAKS = bytes(byte for byte in range(256) if not chr(byte).isalnum() or byte > 127)


def forms(text: str) -> frozenset[str]:
    """Return the forms in which a secret could stand in an artefact: plain, URL, hex, and base64 at each alignment.

    Of a base64 form only the characters that depend on nothing but the secret are taken.
    """
    raw = text.encode()
    found = {text, quote(text, safe=""), raw.hex(), raw.hex().upper()}
    for shift in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            coded = encode(b"\0" * shift + raw).decode().rstrip("=")
            start = -(-8 * shift // 6)
            end = (8 * (shift + len(raw))) // 6
            found.add(coded[start:end])
    return frozenset(form for form in found if len(form) >= SHORTEST)


class Redactor:
    """Knows the run's secrets in all their forms. Texts come out with the mark in their place."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._bytes: re.Pattern[bytes] | None = None

    def add(self, secret: Secret) -> None:
        """Learn one more secret. One shorter than eight characters could not be told from ordinary text."""
        if len(secret.reveal()) < SHORTEST:
            return
        self._forms |= forms(secret.reveal())
        ordered = sorted(self._forms, key=len, reverse=True)
        source = "|".join(re.escape(form) for form in ordered)
        self._pattern = re.compile(source, re.IGNORECASE)
        self._bytes = re.compile(source.encode(), re.IGNORECASE)

    def text(self, text: str) -> str:
        """Return the text without any secret."""
        return self._pattern.sub(MARK, text) if self._pattern else text

    def data(self, data: bytes) -> bytes:
        """Return the bytes without any secret."""
        return self._bytes.sub(MARK.encode(), data) if self._bytes else data

    def leaks(self, data: bytes) -> bool:
        """Tell whether the bytes hold a secret in any form, whole, broken up by other characters, or a part of it."""
        if self._bytes is None:
            return False
        return bool(self._bytes.search(data)) or self._holds_parts(_joined(data))

    def _holds_parts(self, joined: bytes) -> bool:
        return any(_holds_part(joined, _joined(form.encode())) for form in self._forms)


def _joined(data: bytes) -> bytes:
    """Return letters and digits alone, in lower case, as if nothing had broken them up."""
    return data.translate(None, BREAKS).lower()


def _holds_part(joined: bytes, form: bytes) -> bool:
    """Tell whether ``joined`` holds so many characters of ``form`` on end as make a leak; of a short form, all."""
    enough = min(PART, len(form))
    for start in range(0, len(form) - CHUNK + 1, CHUNK):
        at = joined.find(form[start : start + CHUNK])
        while at >= 0:
            if _length_around(joined, at, form, start) >= enough:
                return True
            at = joined.find(form[start : start + CHUNK], at + 1)
    return False


def _length_around(joined: bytes, at: int, form: bytes, start: int) -> int:
    """Return how many characters on end agree around the place where a chunk of the form was found."""
    before = after = 0
    while before < min(at, start) and joined[at - before - 1] == form[start - before - 1]:
        before += 1
    while after < min(len(joined) - at, len(form) - start) and joined[at + after] == form[start + after]:
        after += 1
    return before + after


class RedactingStream:
    """A text stream that redacts what is written to it, and is otherwise the stream behind it.

    A reader that goes away (``| head``, a closed terminal) must not end a run in the middle: what nobody reads is
    let go.
    """

    def __init__(self, stream: TextIO, redactor: Redactor) -> None:
        self._stream = stream
        self._redactor = redactor

    def write(self, text: str) -> int:
        """Write the redacted text; the length told is that of the text given."""
        with contextlib.suppress(OSError):
            self._stream.write(self._redactor.text(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind, if somebody still reads it."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
