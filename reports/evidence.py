"""The one door through which facts and artefacts enter the bundle. The door redacts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from reports.redaction import Redactor

SAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a neighbour is written, flushed to disk and renamed over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


class Evidence:
    """Writes into ``facts/`` and ``artefacts/`` of one bundle and remembers what it wrote."""

    def __init__(self, bundle: Path, redactor: Redactor) -> None:
        self.bundle = bundle
        self.redactor = redactor
        for folder in ("facts", "artefacts"):
            (bundle / folder).mkdir(parents=True, exist_ok=True)

    def fact(self, name: str, value: object) -> str:
        """Record a frozen, JSON-able fact under its fixture's name; return its path within the bundle.

        Raises TypeError for a value that is not JSON-able: such a thing must not reach a test.
        """
        data = msgspec.json.format(msgspec.json.encode(value), indent=1)
        return self._write(f"facts/{name}.json", data + b"\n")

    def artefact(self, name: str, content: bytes | str) -> str:
        """Keep a log, an output or a picture; return its path within the bundle."""
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        return self._write(f"artefacts/{SAFE.sub('-', name)}", data)

    def leaks(self) -> list[str]:
        """Return the files of the bundle that hold a secret in any form, as paths within it."""
        files = sorted(path for path in self.bundle.rglob("*") if path.is_file())
        return [str(path.relative_to(self.bundle)) for path in files if self.redactor.leaks(path.read_bytes())]

    def _write(self, name: str, data: bytes) -> str:
        write_atomically(self.bundle / name, self.redactor.data(data))
        return name
