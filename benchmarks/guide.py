"""The guide's own download script (Download the model, step 1), line by line, for other files and another address."""

from __future__ import annotations

import hashlib
import urllib.request
from pathlib import Path

from recipe.snapshot import Snapshot


def script(snapshot: Snapshot, root: Path, address: str = "") -> None:
    """Verify all files in a folder; fetch what is not valid, verify it, rename it, and verify it again."""
    for name, meta in snapshot.files.items():
        path = root / name

        def valid(p: Path, size: int = meta.bytes, sha256: str = meta.sha256) -> bool:
            if not p.exists() or p.stat().st_size != size:
                return False
            h = hashlib.sha256()
            with p.open("rb") as f:
                for b in iter(lambda: f.read(8 * 1024 * 1024), b""):
                    h.update(b)
            return h.hexdigest() == sha256

        if not valid(path):
            tmp = path.with_name(path.name + ".partial")
            with urllib.request.urlopen(f"{address}/{name}") as response, tmp.open("wb") as out:
                while True:
                    b = response.read(8 * 1024 * 1024)
                    if not b:
                        break
                    out.write(b)
            if not valid(tmp):
                raise SystemExit(f"{name} checksum/size mismatch")
            tmp.replace(path)
        if not valid(path):
            raise SystemExit(name)
