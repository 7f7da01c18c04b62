"""The layers: imports point one way, heavy libraries stay where they belong, files stay short."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("recipe", "fixtures", "qualification", "reports", "tools")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "assets" not in path.parts)
OURS = {
    "recipe": {"recipe"},
    "reports": {"reports", "recipe"},
    "fixtures": {"fixtures", "recipe"},
    "qualification": {"fixtures", "recipe"},
    "tools": {"tools"},
}
HOST_LIBRARIES = {"docker", "pynvml", "requests", "PIL", "psutil", "pypi_simple"}
LONGEST_FILE, LONGEST_FUNCTION = 265, 45
SHAPELESS = {"utils", "helpers", "common", "misc"}


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    ours = {name.split(".")[0] for name in imports(path)} & {*PACKAGES, "tests"}

    assert ours <= OURS[package(path)]


@pytest.mark.parametrize("path", [p for p in FILES if package(p) != "fixtures"], ids=lambda p: str(p.relative_to(ROOT)))
def test_host_libraries_are_imported_only_under_fixtures(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & HOST_LIBRARIES


@pytest.mark.parametrize("path", [p for p in FILES if package(p) == "recipe"], ids=lambda p: p.name)
def test_the_recipe_is_a_leaf(path: Path) -> None:
    foreign = {name.split(".")[0] for name in imports(path)} - {"recipe", "msgspec", "packaging"}

    assert foreign <= set(__import__("sys").stdlib_module_names)


def test_inside_fixtures_the_layers_hold() -> None:
    for path in FILES:
        names = set(imports(path))
        folder = path.parent.name
        if folder == "probes":
            assert not {
                n for n in names if n.startswith(("fixtures.provisioners", "fixtures.engines", "fixtures.rehearsal"))
            }
        if folder in ("provisioners", "engines"):
            assert not {n for n in names if n.startswith("fixtures.rehearsal")}, path


def test_qualification_does_no_io() -> None:
    reading = {"pathlib", "os", "subprocess", "socket", "open", "time", "io", "shutil"}
    for path in (p for p in FILES if package(p) == "qualification"):
        assert not {name.split(".")[0] for name in imports(path)} & reading
        calls = {
            n.func.id
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert not calls & {"open", "exec", "eval"}


def test_no_test_skips() -> None:
    for path in (p for p in FILES if package(p) in ("qualification", "fixtures")):
        text = path.read_text(encoding="utf-8")
        assert "pytest.skip" not in text, path
        assert "xfail" not in text, path


def test_loopback_is_an_address_and_never_a_name() -> None:
    for path in (p for p in FILES if package(p) == "fixtures"):
        assert "localhost" not in path.read_text(encoding="utf-8"), path


def test_nothing_catches_everything() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, path
                assert not (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")), path


def test_files_and_functions_stay_short_and_well_named() -> None:
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= LONGEST_FILE, f"{path}: {len(lines)} lines"
        assert path.stem not in SHAPELESS
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, f"{path}: {node.name}"
