"""The trace: each id one test, each test one id, catalogue order is file order; the pages are true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from recipe import catalogue as catalogues
from recipe.catalogue import Level
from reports import suite

ROOT = Path(__file__).resolve().parents[1]
STAGES = sorted((ROOT / "qualification").glob("test_*.py"))


def functions() -> list[tuple[str, str]]:
    """Return (file, test name) in file order."""
    found = []
    for path in STAGES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.append((path.name, node.name))
    return found


def test_each_requirement_has_one_test_and_each_test_one_requirement() -> None:
    catalogue = catalogues.load()
    wanted = [entry.id for entry in catalogue.requirements if entry.level is not Level.ATTEST]
    named = [re.match(r"test_([a-z]{3})_(\d\d)_", name) for _, name in functions()]
    found = [f"{match[1].upper()}-{match[2]}" for match in named if match]

    assert len(found) == len(functions())
    assert found == wanted


def test_a_file_has_one_stage_and_the_stages_are_in_order() -> None:
    order = [entry.id.lower() for entry in catalogues.load().stages if entry.id != "ATT"]
    stages = list(dict.fromkeys((file, name.split("_")[1]) for file, name in functions()))

    assert list(dict.fromkeys(stage for _, stage in stages)) == order
    assert len({file for file, _ in stages}) == len(stages)


def test_every_test_asserts_and_says_what_it_finds() -> None:
    records = {entry.test_prefix for entry in catalogues.load().requirements if entry.level is Level.RECORD}
    for path in STAGES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        judging = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef) and "assert " in ast.unparse(node)
        }
        for node in tree.body:
            if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
                continue
            text = ast.unparse(node)
            is_record = any(node.name.startswith(prefix) for prefix in records)
            delegates = any(f"{name}(" in text for name in judging if not name.startswith("test_"))
            assert is_record != ("assert " in text or delegates), node.name
            assert "requirement.finds(" in text or delegates, node.name


def test_the_changelog_names_this_version() -> None:
    assert f"## [{suite.version()}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_locks_hold_hashes_and_no_index_address() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        pinned = re.findall(r"^[a-z0-9][a-z0-9._-]*==", text, re.MULTILINE)
        assert pinned, lock
        assert len(re.findall(r"^    --hash=sha256:", text, re.MULTILINE)) >= len(pinned)
        assert "://" not in text, lock
