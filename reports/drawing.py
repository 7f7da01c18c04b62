"""Drawings of measured series: where lines and marks lie. The template makes an inline SVG of them."""

from __future__ import annotations

import math

import msgspec

from recipe.series import Series

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 220, 46, 22, 26
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TICKS = 4


class Line(msgspec.Struct, frozen=True):
    """One line: its name, its points in SVG's form, and the least and most of its values."""

    name: str
    points: str
    least: float
    most: float


class Mark(msgspec.Struct, frozen=True):
    """A label at a place on an axis."""

    at: float
    label: str


class Drawing(msgspec.Struct, frozen=True):
    """One series as it is drawn: lines, stage marks and axis marks, in pixels from the upper left corner."""

    title: str
    unit: str
    method: str
    lines: tuple[Line, ...]
    stages: tuple[Mark, ...]
    values: tuple[Mark, ...]
    span: str


def draw(series: Series, stages_began: dict[str, float]) -> Drawing:
    """Place a series over the stages that began while it was taken. It has at least one moment."""
    begin, end = series.times[0], max(series.times[-1], series.times[0] + 0.1)
    ticks = _ticks(max((value for values in series.lines.values() for value in values), default=0.0))

    def across(moment: float) -> float:
        return round(LEFT + (moment - begin) / (end - begin) * (WIDTH - LEFT), 1)

    def down(value: float) -> float:
        return round(HEIGHT - BOTTOM - value / ticks[-1] * (HEIGHT - BOTTOM - TOP), 1)

    lines = (
        Line(
            name=name,
            points=" ".join(f"{across(at)},{down(value)}" for at, value in zip(series.times, values, strict=True)),
            least=min(values),
            most=max(values),
        )
        for name, values in series.lines.items()
    )
    return Drawing(
        title=series.title,
        unit=series.unit,
        method=series.method,
        lines=tuple(lines),
        stages=tuple(Mark(across(max(at, begin)), stage) for stage, at in _within(stages_began, begin, end)),
        values=tuple(Mark(down(tick), f"{tick:g}") for tick in ticks),
        span=_span(end - begin),
    )


def _span(seconds: float) -> str:
    """Return a length of time in the greatest unit of which there are two."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def _within(stages_began: dict[str, float], begin: float, end: float) -> list[tuple[str, float]]:
    """Return the stages that were going on in that time: the one that it began in, and those that began meanwhile."""
    before = [entry for entry in stages_began.items() if entry[1] <= begin]
    return [*before[-1:], *(entry for entry in stages_began.items() if begin < entry[1] <= end)]


def _ticks(most: float) -> list[float]:
    """Return round numbers from 0 to at least the highest value."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / TICKS
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(step * scale for step in STEPS if step * scale >= raw)
    return [round(step * number, 6) for number in range(math.ceil(most / step) + 1)]
