"""Every public report of this job's failures is shown by a fault, a legal world or a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from fixtures.rehearsal.faults import faults
from fixtures.rehearsal.reports import reports
from tests.detection.worlds import legal_worlds

ROOT = Path(__file__).resolve().parents[2]
REPORTS = reports()


def exists(test: str) -> bool:
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_shown_by_something(name: str) -> None:
    report = REPORTS[name]

    assert [fault.name for fault in faults().values() if name in fault.seen] or report.legal or report.tests
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|https://\S+", thread) for thread in report.threads)
    assert all(exists(test) for test in report.tests)


def test_a_fault_names_reports_that_exist() -> None:
    assert {name for fault in faults().values() for name in fault.seen} <= set(REPORTS)


def test_what_varies_in_legal_worlds_is_what_the_reports_name() -> None:
    worlds = legal_worlds(50, 1)
    varied = {name for world in worlds for name, change in world.variations.items() if change}
    varied |= {"environment of the suite" for world in worlds if world.environment}

    assert len(worlds) == 50
    assert {name for report in REPORTS.values() for name in report.legal} <= varied
