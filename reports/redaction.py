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
        """Tell whether the bytes hold a secret in any form."""
        return bool(self._bytes and self._bytes.search(data))


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
