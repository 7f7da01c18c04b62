"""Blanks the GPU code of other chips in a shared object: zeros take no room in an archive.

The entries' headers and the layout stay, so that the driver still finds the entry of its own chip.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
MAGIC, MACHINE_CODE, NOBITS = 0xBA55ED50, 2, 8


def keep(path: Path, architecture: int) -> int:
    """Blank all of a file's GPU code but one architecture's machine code (90 for Hopper); return the bytes blanked."""
    data = bytearray(path.read_bytes())
    blanked = 0
    for kind, found, begin, size in _entries(data):
        if kind != MACHINE_CODE or found != architecture:
            data[begin : begin + size] = bytes(size)
            blanked += size
    if blanked:
        path.write_bytes(data)
    return blanked


def _entries(data: bytearray) -> Iterator[tuple[int, int, int, int]]:
    """Yield (kind, architecture, where its code begins, its bytes) of every entry."""
    for begin, size in _sections(data):
        place, end = begin, begin + size
        while place + 16 <= end:
            magic, _, header, body = struct.unpack_from("<IHHQ", data, place)
            if magic != MAGIC:
                place += 8
                continue
            entry, stop = place + header, place + header + body
            while entry < stop:
                kind, _, own_header, length = struct.unpack_from("<HHIQ", data, entry)
                (architecture,) = struct.unpack_from("<I", data, entry + 28)
                yield kind, architecture, entry + own_header, length
                entry += own_header + length
            place = stop


def _sections(data: bytearray) -> Iterator[tuple[int, int]]:
    """Yield (where it begins, its bytes) of each section with GPU code. Raises ValueError for what is no ELF file."""
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("no 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    width, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * width) for number in range(count)]
    for header in headers:
        begin = headers[names_at][4] + header[0]
        name = bytes(data[begin : data.index(b"\0", begin)]).decode()
        if name in SECTIONS and header[1] != NOBITS:
            yield header[4], header[5]
