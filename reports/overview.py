"""An overview of many runs: one static page with the newest first, and how the measurements went over time."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import msgspec

from recipe.series import Series
from reports import document
from reports.document import Document
from reports.drawing import Drawing, draw
from reports.files import VERDICT_FILE, BundleError, write_atomically
from reports.html import environment, frame
from reports.outcomes import TOLD

FILE = "index.html"
LEAST = 2  # a single value makes no trend


class Run(msgspec.Struct, frozen=True):
    """One bundle of the overview: where it lies, and its content."""

    link: str
    told: Document


class Trend(msgspec.Struct, frozen=True):
    """The measurements of one deployment on one host over its runs."""

    deployment: str
    host: str
    drawings: list[Drawing]


def write(folder: Path) -> Path:
    """Write the overview of all bundles below a folder. Raises `BundleError` where there is none."""
    runs, unreadable = _read(folder)
    if not runs and not unreadable:
        raise BundleError(f"{folder}: no bundle below it; name the folder in which the bundles lie")
    runs.sort(key=lambda run: run.told.started, reverse=True)
    template = environment().get_template("overview.html.j2")
    page = template.render(runs=runs, unreadable=unreadable, trends=_trends(runs), told_of=TOLD, frame=frame())
    write_atomically(folder / FILE, page.encode("utf-8", "replace"))
    return folder / FILE


def _read(folder: Path) -> tuple[list[Run], list[str]]:
    """Return the bundles that can be read, and a line for each that cannot: none goes missing quietly."""
    runs, unreadable = [], []
    for path in sorted(folder.rglob(VERDICT_FILE)):
        try:
            runs.append(Run(path.parent.relative_to(folder).as_posix(), document.load(path.parent)))
        except BundleError as error:
            unreadable.append(str(error))
    return runs, unreadable


def _trends(runs: list[Run]) -> list[Trend]:
    def place(run: Run) -> tuple[str, str]:
        return run.told.deployment.name, run.told.host

    return [
        Trend(*key, drawings)
        for key, group in groupby(sorted(runs, key=place), key=place)
        if (drawings := _drawings([run.told for run in group]))
    ]


def _drawings(told: list[Document]) -> list[Drawing]:
    """Draw each measurement over the runs that have it, oldest first: least, median and most."""
    ordered = sorted(told, key=lambda one: one.started)
    names = dict.fromkeys(entry.name for one in ordered for entry in one.measurements)
    return [drawing for name in names if (drawing := _drawing(name, ordered))]


def _drawing(name: str, ordered: list[Document]) -> Drawing | None:
    entries = [(one.ended.timestamp(), entry) for one in ordered for entry in one.measurements if entry.name == name]
    if len(entries) < LEAST:
        return None
    values = [entry for _, entry in entries]
    lines = {word: tuple(getattr(entry, word) for entry in values) for word in ("median", "least", "most")}
    times = tuple(at for at, _ in entries)
    method = f"{values[-1].instrument}, {values[-1].method}"
    return draw(Series(title=name, unit=values[-1].unit or "count", method=method, times=times, lines=lines), {})
