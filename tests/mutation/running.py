"""Tests on mutants: each mutant in a copy of the tree, its tests in a process forked with everything foreign imported."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

from reports.suite import ROOT
from tests.detection.replaying import HEAVY
from tests.mutation.mutants import Mutant

LONGEST_S = 60.0
JUDGEMENTS = ("tests/detection/test_judgements.py", "tests/detection/test_boundaries.py")
READERS = ("tests/reports/test_ledger.py", "tests/reports/test_formats.py", "tests/fixtures/test_file_probes.py")
TESTS = {
    "recipe": (["tests/recipe", "tests/test_structs.py"], [*JUDGEMENTS], ["tests/fuzz/test_recipe.py", *READERS]),
    "qualification": ([*JUDGEMENTS], ["tests/fuzz/test_answers.py"]),
    "reports": (
        ["tests/reports", "tests/test_structs.py"],
        ["tests/fuzz/test_bundles.py", "tests/fuzz/test_recipe.py"],
    ),
}
STAGES = {
    "10": "HST",
    "11": "HST",
    "20": "IMG",
    "30": "WTS",
    "40": "CFG",
    "50": "SRV",
    "60": "VFY",
    "61": "VFY",
    "70": "STP",
    "80": "RMV",
}
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([*HEAVY, "securesystemslib.signer", "cryptography.hazmat.primitives.serialization"])


def survivors(mutants: Iterable[tuple[Mutant, str]], jobs: int) -> Iterator[tuple[Mutant, bool]]:
    """Yield each mutant, and whether it survived all tests, ``jobs`` at a time."""
    copies: SimpleQueue[Path] = SimpleQueue()
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"mutation-{os.getpid()}"
    for number in range(jobs):
        copies.put(_copy(folder / str(number)))

    _check_the_original(folder / "0")

    def run(entry: tuple[Mutant, str]) -> tuple[Mutant, bool]:
        copy = copies.get()
        try:
            return entry[0], _survives(copy, *entry)
        finally:
            copies.put(copy)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(run, mutants)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(folder: Path) -> Path:
    """Copy the tree as it stands, what git ignores left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _check_the_original(copy: Path) -> None:
    """Tests that fail on the code as it is would kill every mutant. Raises RuntimeError for them."""
    for argv in {tuple(group): group for groups in TESTS.values() for group in groups}.values():
        if not _passes(copy, argv):
            raise RuntimeError(f"these fail without any mutant: {' '.join(argv)}")


def _survives(copy: Path, mutant: Mutant, text: str) -> bool:
    path = copy / mutant.path
    path.write_text(text, encoding="utf-8")
    try:
        return all(_passes(copy, [*argv, *_chosen(mutant, argv)]) for argv in _tests(mutant))
    finally:
        shutil.copy2(ROOT / mutant.path, path)


def _tests(mutant: Mutant) -> list[list[str]]:
    """Return the tests by groups: first the file that mirrors the mutated one, where there is one."""
    package, stem = mutant.path.partition("/")[0], Path(mutant.path).stem
    own = f"tests/{package}/test_{stem}.py"
    return [*([[own]] if (ROOT / own).is_file() else []), *TESTS[package]]


def _chosen(mutant: Mutant, argv: list[str]) -> list[str]:
    """Return what narrows the tests to the stage that a mutated judgement belongs to."""
    stage = STAGES.get(Path(mutant.path).name.removeprefix("test_").partition("_")[0])
    return ["-k", stage] if stage and argv == [*JUDGEMENTS] else []


def _passes(copy: Path, argv: list[str]) -> bool:
    process = FORKS.Process(target=_pytest, args=(copy, argv))
    process.start()
    process.join(LONGEST_S)
    if process.is_alive():
        process.kill()
        process.join()
        return False  # a mutant that hangs is noticed
    return process.exitcode == 0


def _pytest(copy: Path, argv: list[str]) -> None:
    """Run tests in a copy; its modules come first, and none of the suite's own has been imported here."""
    os.chdir(copy)
    sys.path[:] = [str(copy), *(entry for entry in sys.path if entry not in ("", str(ROOT)))]
    for name in [
        name
        for name in sys.modules
        if name.partition(".")[0] in ("recipe", "reports", "fixtures", "qualification", "tests", "conftest")
    ]:
        del sys.modules[name]
    sys.dont_write_bytecode = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os._exit(int(pytest.main(["-x", "-q", "-pno:cacheprovider", "-pno:randomly", *argv])))
