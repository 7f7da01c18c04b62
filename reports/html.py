"""report.html: one static file, readable without JavaScript, derived from the verdict document alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from recipe.catalogue import Catalogue, Level
from recipe.deployment import Deployment
from reports.drawing import BOTTOM, HEIGHT, LEFT, WIDTH, draw
from reports.outcomes import Outcome, Row
from reports.verdict import counts

if TYPE_CHECKING:
    from reports.bundle import Document

LONGEST = 2000
WORDS = {
    "QUALIFIED": "Every applicable MUST requirement passed.",
    "QUALIFIED WITH REMARKS": "Every applicable MUST requirement passed; the remarks below need reading.",
    "QUALIFIED WITH WAIVERS": "No MUST requirement failed unwaived; the waivers below need reading.",
    "NOT QUALIFIED": "At least one MUST requirement failed.",
    "INCOMPLETE": "No MUST requirement failed, but not all could be judged. This is no qualification.",
}


def render(document: Document, catalogue: Catalogue, deployment: Deployment) -> bytes:
    """Return the report as UTF-8 HTML. The same document gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    stages = [(stage, [row for row in document.requirements if row.stage == stage.id]) for stage in catalogue.stages]
    page = environment.get_template("report.html.j2").render(
        document=document,
        deployment=deployment,
        requirement=catalogue.get,
        words=WORDS[document.verdict],
        stages=[(stage, rows) for stage, rows in stages if rows and stage.id != "ATT"],
        problems=[row for row in document.requirements if row.outcome in (Outcome.FAILED, Outcome.ERROR)],
        waived=[row for row in document.requirements if row.outcome is Outcome.WAIVED],
        blocked=blocked(document.requirements),
        unverified=[
            row
            for row in document.requirements
            if row.outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_RUN) and row.level is not Level.ATTEST
        ],
        attestations=[row for row in document.requirements if row.level is Level.ATTEST],
        frame={"width": WIDTH, "height": HEIGHT, "left": LEFT, "base": HEIGHT - BOTTOM},
        drawings=[draw(series, document.stages_began) for series in document.series],
        totals=list(counts(row for row in document.requirements if row.level is not Level.ATTEST).items()),
    )
    return page.encode("utf-8", "replace")


def blocked(rows: tuple[Row, ...]) -> list[tuple[str, list[str]]]:
    """Group the blocked rows by their cause, first cause first: (cause, their ids, files of one id counted)."""
    causes: dict[str, list[str]] = {}
    for row in rows:
        if row.outcome is Outcome.BLOCKED:
            causes.setdefault(row.found, []).append(row.id)
    return [
        (cause, [_counted(name, names.count(name)) for name in dict.fromkeys(names)]) for cause, names in causes.items()
    ]


def _counted(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number} files)"


def short(text: str) -> str:
    """Cap a text for a table cell and say how much was left out."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]} … [{len(text) - LONGEST:,} more characters in the evidence]"
