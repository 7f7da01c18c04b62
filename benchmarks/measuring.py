"""What both benchmarks share: random files, contenders in processes of their own, medians, and one table."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil
from rich.console import Console
from rich.table import Table

from recipe.snapshot import Snapshot, SnapshotFile

ROOT = Path(__file__).resolve().parents[1]
REVISION = "0" * 40
CONSOLE = Console(width=110, highlight=False)
PIECE = 4 * 1024 * 1024
SNAPSHOT = "snapshot.json"


class Measured(NamedTuple):
    """One run of one contender: wall seconds, peak resident bytes, most open files and threads."""

    seconds: float
    memory: int
    files: int
    threads: int


class Layout(NamedTuple):
    """So many files of so many bytes each."""

    files: int
    size: int

    @property
    def total(self) -> int:
        """The bytes of all files."""
        return self.files * self.size

    def __str__(self) -> str:
        return f"{self.files} × {self.size / 1e6:,.0f} MB"


GROWTH = (Layout(1, 512 << 20), Layout(2, 512 << 20), Layout(4, 512 << 20), Layout(64, 32 << 20), Layout(2, 2 << 30))


def arguments(purpose: str) -> argparse.Namespace:
    """Read the command line that both benchmarks have."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--gb", type=float, default=4.3, help="gigabytes of the main comparison (default: 4.3)")
    parser.add_argument("--files", type=int, default=8, help="files of the main comparison (default: 8)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; medians are told (default: 5)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the files are made")
    parser.add_argument("--contender", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args()


@contextmanager
def made_files(folder: Path, layout: Layout) -> Iterator[Path]:
    """Make a snapshot of random files, and its description beside the folder; they lie in the page cache afterwards."""
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=folder) as name:
        place = Path(name) / "model"
        place.mkdir()
        files: dict[str, SnapshotFile] = {}
        for number in range(layout.files):
            digest = hashlib.sha256()
            with (place / f"{number:04}.safetensors").open("wb") as file:
                for begin in range(0, layout.size, PIECE):
                    piece = os.urandom(min(PIECE, layout.size - begin))
                    digest.update(piece)
                    file.write(piece)
                os.fsync(file.fileno())
            files[f"{number:04}.safetensors"] = SnapshotFile(layout.size, digest.hexdigest())
        snapshot = Snapshot("owner/model", REVISION, layout.total, "BF16", files, {})
        (Path(name) / SNAPSHOT).write_bytes(msgspec.json.encode(snapshot))
        yield place


def snapshot_beside(place: Path) -> Snapshot:
    """Read the description that lies beside a folder of made files."""
    return msgspec.json.decode((place.parent / SNAPSHOT).read_bytes(), type=Snapshot)


def run_contender(module: str, name: str, *rest: str | Path, watched: bool = False) -> Measured:
    """Measure a contender in a process of its own, so that imports do not count and memory is its own.

    A watched one counts open files and threads as well, which costs it time.
    """
    argv = [sys.executable, "-m", module, "--contender", "watched" if watched else "timed", name, *map(str, rest)]
    done = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def measure_here(how: str, task: Callable[[], None]) -> None:
    """Do a task, and print what `run_contender` reads."""
    with _watching() if how == "watched" else nullcontext((0, 0)) as most:
        began = time.perf_counter()
        task()
        seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps([seconds, memory, *most]) + "\n")


@contextmanager
def _watching() -> Iterator[list[int]]:
    """Look at this process every 20 ms; the list holds the most open files and threads, the watcher left out."""
    own, most, over = psutil.Process(), [0, 0], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            most[:] = [max(most[0], own.num_fds()), max(most[1], own.num_threads() - 1)]

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def openssl_rate() -> float:
    """Return bytes per second of ``openssl speed sha256`` at 256 KiB blocks, on one core."""
    argv = ["openssl", "speed", "-seconds", "1", "-bytes", "262144", "-evp", "sha256"]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    match = re.search(r"^sha256\s+([\d.]+)k\s*$", done.stdout, re.MULTILINE)
    if not match:
        raise SystemExit("openssl speed printed no rate: is it OpenSSL 3?")
    return float(match[1]) * 1000


def cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0))


def compare(
    title: str, layout: Layout, rounds: list[dict[str, Measured]], ratio: str = "ours is so many times as fast"
) -> None:
    """Print the medians over all rounds; every contender is told as a ratio to the first."""
    table = _table(title, "", "seconds", "MB/s", ratio, "peak memory, MB")
    names = list(rounds[0])
    middle = {name: statistics.median(entry[name].seconds for entry in rounds) for name in names}
    for name, seconds in middle.items():
        memory = max(entry[name].memory for entry in rounds)
        table.add_row(
            name,
            f"{seconds:.2f}",
            f"{layout.total / seconds / 1e6:,.0f}",
            f"{seconds / middle[names[0]]:.2f}",
            f"{memory / 1e6:.0f}" if memory else "",
        )
    CONSOLE.print(table)


def tell_bounds(watched: Measured) -> None:
    """Print what a watched run of ours had open."""
    CONSOLE.print(f"Ours had at most {watched.files} open files and {watched.threads} threads.\n")


def grow(folder: Path, rounds: int, run: Callable[[Path], Measured]) -> None:
    """Print how ours grows with files and bytes."""
    table = _table("The same by files and bytes", "", "seconds", "MB/s", "peak memory, MB")
    for layout in GROWTH:
        with made_files(folder, layout) as place:
            runs = [run(place) for _ in range(rounds)]
        seconds = statistics.median(entry.seconds for entry in runs)
        memory = max(entry.memory for entry in runs)
        table.add_row(str(layout), f"{seconds:.2f}", f"{layout.total / seconds / 1e6:,.0f}", f"{memory / 1e6:.0f}")
    CONSOLE.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(*columns, title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def tell_machine() -> None:
    """Print what the numbers were measured on."""
    version = subprocess.run(["openssl", "version"], check=True, capture_output=True, text=True).stdout.split()[1]
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    processor = model[1] if model else platform.machine()
    CONSOLE.print(f"{processor}, {cores()} cores, Python {platform.python_version()}, OpenSSL {version}")
