"""The installer of the CPU build: what it does to a library that needs a newer C++ library, and what it refuses."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.vllm_cpu import abi

ROOT = Path(__file__).resolve().parents[2]
needs_gcc = pytest.mark.skipif(
    not shutil.which("g++") and "CI" not in os.environ, reason="g++ is not installed: apt-get install g++"
)


@needs_gcc
def test_a_need_of_the_newer_library_is_weakened(tmp_path: Path) -> None:
    provider = abi.build(tmp_path)
    (tmp_path / "user.c").write_text(
        "extern void __cxa_call_terminate(void *); void use(void) { __cxa_call_terminate(0); }"
    )
    user = tmp_path / "user.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", user, tmp_path / "user.c", provider], check=True)

    assert abi.weaken(user) == 1
    told = subprocess.run(["readelf", "--version-info", user], capture_output=True, text=True, check=True).stdout
    assert "Name: CXXABI_1.3.15  Flags: WEAK" in told
    provider.rename(tmp_path / "libother.so")
    ctypes.CDLL(str(tmp_path / "libother.so"), mode=ctypes.RTLD_GLOBAL)


@needs_gcc
def test_the_systems_own_library_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, "VERSION", b"CXXABI_1.3")
    assert not abi.is_missing()
    monkeypatch.setattr(abi, "VERSION", b"CXXABI_9.9")
    assert abi.is_missing()


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"#!/bin/sh\n")

    with pytest.raises(ValueError, match="no 64-bit ELF file"):
        abi.weaken(tmp_path / "x.so")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "usage: python -m tools.vllm_cpu FOLDER\n"),
        (["x"], "gcc, g++, uv not found: install gcc, g++ and uv, and run again\n"),
    ],
)
def test_it_says_what_it_lacks(words: list[str], says: str) -> None:
    argv = [sys.executable, "-m", "tools.vllm_cpu", *words]
    done = subprocess.run(argv, cwd=ROOT, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, says)
