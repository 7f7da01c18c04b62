"""A deployment of one's own: the process engine, this real machine, no container."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.rehearsal.hub import LoopbackHub
from fixtures.rehearsal.world import Hub
from recipe.deployment import FOLDER
from tests.running import ROOT


@pytest.fixture
def own_deployment(tmp_path: Path) -> Iterator[Path]:
    """A process deployment whose server is the stand-in under the name of vllm, fed by a loopback hub."""
    hub = LoopbackHub(Hub())
    text = (FOLDER / "rehearsal.toml").read_text(encoding="utf-8")
    text = text.replace('name = "rehearsal"', 'name = "own"').replace(
        'engine = "rehearsal"\nrehearsal = true', 'engine = "process"'
    )
    text = text.replace("http://127.0.0.1", hub.origin).replace(f"shm_bytes = {16 << 30:_}\n", "")
    text = re.sub(r"\[(host|image|image\.wheel|image\.checks)\]\n(?:[^\[\n].*\n|\n)*", "", text)
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    (tmp_path / "world.json").write_text("{}", encoding="utf-8")
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    start = (
        f'exec env PYTHONPATH="{ROOT}" "{sys.executable}" -m fixtures.rehearsal.standin "{tmp_path}/world.json" "$@"'
    )
    program.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec echo 0.11.2\nshift\n{start}\n', encoding="utf-8")
    program.chmod(0o755)
    yield tmp_path
    hub.close()
