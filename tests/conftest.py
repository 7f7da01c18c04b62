"""Fixtures of the suite's own tests: whole runs as child processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import Qualify

FOLDER = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Turn warnings into errors here; in a qualification, which loads this file too, a library's warning decides nothing."""
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("error"), append=False)


@pytest.fixture
def qualify(tmp_path: Path) -> Qualify:
    """Run a qualification in a process of its own."""
    return Qualify(tmp_path)
