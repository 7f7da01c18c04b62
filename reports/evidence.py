"""The one door through which facts and artefacts enter the bundle. The door redacts."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from reports.files import json_bytes, write_atomically
from reports.printable import in_all, without_surrogates
from reports.redaction import Redactor

SAFE = re.compile(r"[^A-Za-z0-9._-]+")
WITHHELD = b"withheld: a secret stood in this file\n"


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
        plain = in_all(without_surrogates, msgspec.to_builtins(value))
        return self._write(f"facts/{name}.json", json_bytes(plain))

    def artefact(self, name: str, content: bytes | str) -> str:
        """Keep a log, an output or a picture; return its path within the bundle."""
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        return self._write(f"artefacts/{SAFE.sub('-', name)}", data)

    def leaks(self) -> list[str]:
        """Return the files of the bundle that hold a secret in any form, as paths within it."""
        files = sorted(path for path in self.bundle.rglob("*") if path.is_file())
        return [str(path.relative_to(self.bundle)) for path in files if self.redactor.leaks(path.read_bytes())]

    def withhold(self, name: str) -> None:
        """Put a word in the place of a file in which a secret stands: a bundle goes to where the secret must not."""
        write_atomically(self.bundle / name, WITHHELD)

    def _write(self, name: str, data: bytes) -> str:
        write_atomically(self.bundle / name, self.redactor.data(data))
        return name
