"""GPU code in a shared object: that of other chips becomes zeros, that of one stays, and nothing moves."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tools.gpu_bundle import gpu_code

needs_binutils = pytest.mark.skipif(
    not shutil.which("objcopy") and "CI" not in os.environ, reason="objcopy is not installed: apt-get install binutils"
)
PTX, MACHINE_CODE = 1, 2


def entry(kind: int, architecture: int, code: bytes) -> bytes:
    header = struct.pack("<HHIQ", kind, 0x101, 64, len(code)) + bytes(12) + struct.pack("<I", architecture)
    return header.ljust(64, b"\0") + code


def fatbin(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@needs_binutils
def test_only_the_machine_code_of_one_chip_is_kept(tmp_path: Path) -> None:
    code = {name: name.encode() * 40 for name in ("ptx90", "elf80", "elf90", "later")}
    first = fatbin(
        entry(PTX, 90, code["ptx90"]), entry(MACHINE_CODE, 80, code["elf80"]), entry(MACHINE_CODE, 90, code["elf90"])
    )
    (tmp_path / "fat").write_bytes(first + bytes(16) + fatbin(entry(MACHINE_CODE, 80, code["later"])))
    (tmp_path / "x.c").write_text("int one(void) { return 1; }")
    library = tmp_path / "x.so"
    subprocess.run(["gcc", "-shared", "-o", library, tmp_path / "x.c"], check=True)
    subprocess.run(["objcopy", "--add-section", f".nv_fatbin={tmp_path / 'fat'}", library], check=True)
    before = library.read_bytes()

    assert gpu_code.keep(library, 90) == len(code["ptx90"] + code["elf80"] + code["later"])
    after = library.read_bytes()
    assert len(after) == len(before)
    assert code["elf90"] in after
    assert not [name for name in ("ptx90", "elf80", "later") if code[name] in after]
    assert after.count(struct.pack("<I", 0xBA55ED50)) == 2, "headers stay"
    assert gpu_code.keep(library, 90) == len(code["ptx90"] + code["elf80"] + code["later"])
    assert library.read_bytes() == after


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"x" * 100)

    with pytest.raises(ValueError, match="no 64-bit ELF file"):
        gpu_code.keep(tmp_path / "x.so", 90)
