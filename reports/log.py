"""log.html, the test runner's own view beside the report: with requirement and outcome, and capped."""

from __future__ import annotations

from collections.abc import Generator
from html import escape
from typing import Any

import pytest
from pytest_html import extras

from reports.bundle import Bundle
from reports.outcomes import Outcome
from reports.printable import printable

LONGEST = 20_000
COLUMNS = ("requirement", "outcome")


class Log:
    """A pytest plugin object that shapes what pytest-html writes."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_report_title(self, report: Any) -> None:
        kind = "REHEARSAL" if self._bundle.deployment.rehearsal else "Qualification"
        report.title = f"{kind}, the test runner's log: the verdict is in report.html"

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        cells[1:1] = [f'<th class="sortable" data-column-type="{name}">{name.capitalize()}</th>' for name in COLUMNS]

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: pytest.TestReport, cells: list[str]) -> None:
        told = dict(report.user_properties)
        cells[1:1] = [f'<td class="col-{name}">{escape(str(told.get(name, "")))}</td>' for name in COLUMNS]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Cut what is long, keep it whole as an artefact, and link to that and to the facts of the requirement."""
        report = yield
        name = str(dict(report.user_properties)["requirement"])
        row = self._bundle.ledger.named(name)
        if row.outcome is Outcome.BLOCKED and report.failed:
            report.longrepr = row.found  # where it was raised helps nobody
        if report.longreprtext:
            report.longrepr = self._capped(f"{name}-{report.when}.txt", report.longreprtext)
        report.sections = [(title, self._capped(f"{name}-{title}.txt", text)) for title, text in report.sections]
        paths = row.evidence if report.when == "call" or report.failed else ()
        report.extras = [extras.url(path, name=path.rpartition("/")[2]) for path in paths]  # type: ignore[attr-defined]
        return report

    def _capped(self, name: str, text: str) -> str:
        if len(text) <= LONGEST:
            return printable(text)
        path = self._bundle.evidence.artefact(name, text)
        return f"{printable(text[:LONGEST])}\n… {len(text) - LONGEST:,} more characters in {path}"
