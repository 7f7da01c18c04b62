"""report.html: one static file, readable without JavaScript, derived from the verdict document and our own pictures."""

from __future__ import annotations

import base64
import datetime as dt
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import msgspec

from recipe.catalogue import Level, Unknown
from recipe.routes import MEANINGS
from reports.bars import rates, timeline
from reports.document import Document, moment
from reports.drawing import BOTTOM, HEIGHT, LEFT, WIDTH, draw
from reports.outcomes import SETTLED, Outcome, Row, judged
from reports.provenance import AnsweringRoute
from reports.verdict import counts

FILE = "report.html"
LONGEST = 2000
BIGGEST_PICTURE = 150_000
PNG = b"\x89PNG\r\n\x1a\n"
WORDS = {
    "QUALIFIED": "Every applicable MUST requirement passed.",
    "QUALIFIED WITH REMARKS": "Every applicable MUST requirement passed; the remarks below need reading.",
    "QUALIFIED WITH WAIVERS": "No MUST requirement failed unwaived; the waivers below need reading.",
    "NOT QUALIFIED": "At least one MUST requirement failed.",
    "INCOMPLETE": "No MUST requirement failed, but not all could be judged. This is no qualification.",
}
# The pages that this suite draws itself, and the requirement that tells what was answered to each.
OWN_PAGES = {
    "unseen-headline.png": ("A page with a headline made up for this run", "VFY-14"),
    "without-text.png": ("The same page without any text", "VFY-15"),
}


class ShownStage(msgspec.Struct, frozen=True):
    """One stage as the page shows it."""

    id: str
    title: str
    seconds: float
    rows: list[Row]
    counts: list[tuple[str, int]]


class ShownPage(msgspec.Struct, frozen=True):
    """One of our own pages, embedded: ``text`` says what it shows to who cannot see it."""

    base64: str
    text: str
    caption: str


def render(document: Document, bundle: Path) -> bytes:
    """Return the report as UTF-8 HTML. The same document and artefacts give the same bytes."""
    templates = environment()
    templates.globals |= {"document": document, "print": document.fingerprint, **_sorted(document)}
    page = templates.get_template("report.html.j2").render(
        words=WORDS[document.verdict],
        valid_until=_valid_until(document),
        frame=frame(),
        timeline=timeline(document.stages),
        rates=rates(document.provenance.files),
        drawings=[draw(series, _began(document)) for series in document.series if series.whole],
        pages=list(_pages(document, bundle)),
        unknowns=_unknowns(document),
        routes=_routes(document.routes),
    )
    return page.encode("utf-8", "replace")


def environment() -> jinja2.Environment:
    """Return what our pages are made with: all is escaped, nothing may be undefined, and the style is one."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["short"] = short
    made.filters["moment"] = moment
    style = Path(__file__).parent / "templates" / "report.css"
    made.globals["style"] = markupsafe.Markup(style.read_text(encoding="utf-8"))  # noqa: S704 - it is our own
    return made


def frame() -> dict[str, int]:
    """Return the measures of a drawing, in pixels."""
    return {"width": WIDTH, "height": HEIGHT, "left": LEFT, "base": HEIGHT - BOTTOM}


def _sorted(document: Document) -> dict[str, Any]:
    """Return the rows under the heads of the page."""
    rows = document.requirements
    bad = [row for row in rows if row.outcome in (Outcome.FAILED, Outcome.ERROR)]
    to_judge = judged(rows)
    return {
        "settled": SETTLED,
        "failures": [row for row in bad if row.level is Level.MUST or row.outcome is Outcome.ERROR],
        "remarks": [row for row in bad if row.level is not Level.MUST and row.outcome is not Outcome.ERROR],
        "waived": [row for row in rows if row.outcome is Outcome.WAIVED],
        "blocked": blocked(rows),
        "unverified": [row for row in to_judge if row.outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_RUN)],
        "attestations": [row for row in rows if row.level is Level.ATTEST],
        "totals": list(counts(to_judge).items()),
        "stages": [stage for stage in _stages(document) if stage.rows],
    }


def _stages(document: Document) -> list[ShownStage]:
    found = []
    for stage in document.stages:
        rows = [row for row in document.requirements if row.stage == stage.id]
        found.append(ShownStage(stage.id, stage.title, stage.seconds, rows, list(counts(rows).items())))
    return found


def _began(document: Document) -> dict[str, float]:
    return {stage.id: stage.began for stage in document.stages if stage.began is not None}


def _valid_until(document: Document) -> str:
    return (document.ended.date() + dt.timedelta(days=document.deployment.validity_days)).isoformat()


def _unknowns(document: Document) -> list[tuple[Unknown, list[Row]]]:
    """Return what the guide calls unknown, with the rows that tell what was found."""
    return [
        (unknown, [row for row in document.requirements if row.id in unknown.measured_by])
        for unknown in document.unknowns
    ]


def _routes(routes: tuple[AnsweringRoute, ...]) -> list[tuple[str, str, list[AnsweringRoute]]]:
    """Return the exposure map by kind, what is open first."""
    sorted_in = {kind: [route for route in routes if route.kind == kind] for kind in MEANINGS}
    return [(kind, MEANINGS[kind], entries) for kind, entries in sorted_in.items() if entries]


def _pages(document: Document, bundle: Path) -> Any:
    answers = {row.id: row.found for row in document.requirements}
    for name, (title, identity) in OWN_PAGES.items():
        path = bundle / "artefacts" / name
        data = path.read_bytes() if path.is_file() and path.stat().st_size <= BIGGEST_PICTURE else b""
        if data.startswith(PNG):
            caption = f"{title} ({identity}). Answer: {short(answers.get(identity, ''))}"
            yield ShownPage(base64.b64encode(data).decode("ascii"), title, caption)


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
