"""A run in the words of a CI system: Markdown for its job page, and annotations for what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recipe.catalogue import Level
from reports.document import Document, moment
from reports.html import blocked
from reports.outcomes import TOLD, Outcome, Row, judged
from reports.verdict import counts

LONGEST = 400
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|<>&~])")
ICONS = {True: "✅", False: "❌"}


def markdown(document: Document) -> str:
    """Return the summary for a job page: verdict, failures with remedies, what was blocked, measurements."""
    totals = ", ".join(f"{number} {outcome}" for outcome, number in counts(judged(document.requirements)).items())
    icon = ICONS[document.verdict.qualifies and not document.rehearsal]
    parts = [
        f"## {icon} {_plain(document.headline)}\n",
        f"{_plain(document.deployment.title)}, on {_plain(document.host)}, ended {moment(document.ended)}. {totals}.\n",
    ]
    parts += _table(("requirement", "outcome", "found", "remedy"), map(_problem, _problems(document)))
    parts += [f"- blocked {len(names)}: {_plain(cause)}\n" for cause, names in blocked(document.requirements)]
    measured = ((entry.name, f"{entry.median:g} {entry.unit}") for entry in document.measurements)
    parts += _table(("measured", "median"), measured)
    return "\n".join(parts)


def workflow_commands(document: Document) -> str:
    """Return GitHub's workflow commands: an error for each failed MUST, a warning for what else did not pass."""
    lines = []
    for row in _problems(document):
        kind = "error" if row.level is Level.MUST and row.outcome is not Outcome.WAIVED else "warning"
        lines.append(f"::{kind} title={_property(f'{row.name} {row.outcome}')}::{_data(row.told)}\n")
    if not document.verdict.qualifies:
        lines.append(f"::error title={_property(document.deployment.name)}::{_data(document.headline)}\n")
    return "".join(lines)


def _problems(document: Document) -> list[Row]:
    return [row for row in document.requirements if row.outcome in TOLD]


def _problem(row: Row) -> tuple[str, ...]:
    return row.name, f"{row.outcome} ({row.level})", row.found, row.remedy


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(_plain(cell).replace(chr(10), '<br>') for cell in row)} |" for row in rows]
    return ["\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines]) + "\n"] if lines else []


def _plain(text: str) -> str:
    """Return a text, cut, in which nothing is Markdown or HTML."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    return MARKDOWN.sub(r"\\\1", cut)


def _data(text: str) -> str:
    """Return a text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
