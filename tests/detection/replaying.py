"""Replays in processes that are forked with everything heavy imported: it is their number that costs, not their work."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import pytest

from tests.running import ROOT, RUN_S

HEAVY = [
    "docker",
    "hypothesis",
    "jinja2",
    "msgspec",
    "PIL.Image",
    "pynvml",
    "pytest",
    "pytest_html",
    "requests",
    "rich",
    "urllib3",
]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(HEAVY)


def replay(bundle: Path) -> str:
    """Judge a bundle again, as ``python -m reports replay`` does; return what it said where that is not *agrees*."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        output = Path(folder) / "output"
        process = FORKS.Process(target=_replay, args=(bundle, output))
        process.start()
        process.join(RUN_S)
        if process.is_alive():
            process.kill()
            return "its replay did not end"
        said = output.read_text(encoding="utf-8", errors="replace").strip()
    last = said.rpartition("\n")[2]
    agrees = process.exitcode == 0 and last.startswith("Replay AGREES")
    return "" if agrees else f"its replay ended with {process.exitcode}: {last}"


def _replay(bundle: Path, output: Path) -> None:
    os.chdir(ROOT)
    os.environ["TMPDIR"] = str(output.parent)
    tempfile.tempdir = None
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    sys.exit(pytest.main(["-m", "qualify", f"--replay={bundle}", "-pno:cacheprovider"]))
