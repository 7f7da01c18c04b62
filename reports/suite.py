"""Which version and commit of this suite is running."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """Return the version that pyproject.toml states."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def commit() -> str:
    """Return the checked-out commit, marked ``+changes`` where the working tree differs, or ``unknown``."""
    head = _git("rev-parse", "HEAD")
    if not head:
        return "unknown"
    return f"{head}+changes" if _git("status", "--porcelain") else head


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
