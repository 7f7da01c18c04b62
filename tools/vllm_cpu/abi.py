"""Lets a library that was built with GCC 15 load on a system whose C++ library is older (Debian 12 has GCC 12's).

It needs one function of the newer library, `__cxa_call_terminate`. The need is marked as weak in the file, and a
library of one function, loaded before it, provides it.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSION = b"CXXABI_1.3.15"
SHT_GNU_VERNEED, VER_FLG_WEAK = 0x6FFFFFFE, 2
SOURCE = """\
extern void _ZSt9terminatev(void) __attribute__((noreturn));
void __cxa_call_terminate(void *raised) { (void)raised; _ZSt9terminatev(); }
"""
EXPORTS = "CXXABI_1.3.15 { global: __cxa_call_terminate; local: *; };\n"


def is_missing() -> bool:
    """Tell whether this system's C++ library lacks the version."""
    asked = ["g++", "-print-file-name=libstdc++.so.6"]
    path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return VERSION not in Path(path).read_bytes()


def build(folder: Path) -> Path:
    """Compile the library of one function. Raises subprocess.CalledProcessError."""
    (folder / "terminate.c").write_text(SOURCE, encoding="ascii")
    (folder / "terminate.map").write_text(EXPORTS, encoding="ascii")
    made = folder / "libterminate.so"
    options = ["-shared", "-fPIC", "-O2", f"-Wl,--version-script={folder / 'terminate.map'}"]
    subprocess.run(["gcc", *options, "-o", str(made), str(folder / "terminate.c"), "-lstdc++"], check=True)
    return made


def weaken(path: Path) -> int:
    """Mark the need of the version as weak in an ELF file; return how many were marked."""
    data = bytearray(path.read_bytes())
    if data[:5] != b"\x7fELF\x02":
        raise ValueError(f"{path} is no 64-bit ELF file")
    needs = list(_needs(data))
    for flags in needs:
        (value,) = struct.unpack_from("<H", data, flags)
        struct.pack_into("<H", data, flags, value | VER_FLG_WEAK)
    path.write_bytes(data)
    return len(needs)


def _needs(data: bytearray) -> Iterator[int]:
    """Yield where the flags of each need of that version stand."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * size) for number in range(count)]
    for section in (entry for entry in sections if entry[1] == SHT_GNU_VERNEED):
        names, need = sections[section[6]][4], section[4]
        while True:
            _, entries, _, first, following = struct.unpack_from("<HHIII", data, need)
            entry = need + first
            for _ in range(entries):
                _, _, _, name, step = struct.unpack_from("<IHHII", data, entry)
                if data.startswith(VERSION + b"\0", names + name):
                    yield entry + 4
                entry += step
            if not following:
                break
            need += following
