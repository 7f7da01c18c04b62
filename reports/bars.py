"""Drawings of bars: how long the stages took, how fast files came through. The template makes inline SVGs of them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from reports.document import StageRun
from reports.drawing import WIDTH
from reports.provenance import ModelFile

LABELS, VALUES, ROW = 250, 150, 18
SHOWN = 40


class Bar(msgspec.Struct, frozen=True):
    """One bar, in pixels from the upper left corner; its value is written behind it."""

    label: str
    value: str
    top: int
    left: float
    width: float


class Bars(msgspec.Struct, frozen=True):
    """A drawing of bars, with a text that says the same."""

    summary: str
    caption: str
    height: int
    bars: tuple[Bar, ...]


def timeline(stages: Iterable[StageRun]) -> Bars:
    """Place the stages that were reached one under the other, each where it began."""
    reached = [(stage, stage.began) for stage in stages if stage.began is not None]
    begin = min((began for _, began in reached), default=0.0)
    total = max((began + stage.seconds for stage, began in reached), default=begin) - begin
    rows = [(f"{s.id} {s.title}", f"{s.seconds:,.1f} s", began - begin, s.seconds) for s, began in reached]
    return _bars(rows, total, "Stages by time", f"The whole run: {total:,.1f} s from the first stage on.")


def rates(files: Iterable[ModelFile]) -> Bars | None:
    """Place the rate of each file of the model; None where no byte moved. Of many files the biggest are shown."""
    moved = [file for file in files if file.read + file.received]
    biggest = sorted(moved, key=lambda file: file.bytes, reverse=True)[:SHOWN]
    rows = [(_short(file.name), f"{file.rate:,.3g} MB/s, {_way(file)}", 0.0, file.rate) for file in biggest]
    left_out = f" The {SHOWN} biggest of {len(moved)}." if len(moved) > SHOWN else ""
    caption = f"Each file through the hash, from network or disk; several at a time.{left_out}"
    return _bars(rows, max(file.rate for file in biggest), "Rates by file", caption) if biggest else None


def _way(file: ModelFile) -> str:
    return "received" if file.received >= file.read else "read"


def _short(name: str) -> str:
    return name if len(name) <= 34 else f"{name[:16]}…{name[-17:]}"


def _bars(rows: list[tuple[str, str, float, float]], most: float, title: str, caption: str) -> Bars:
    """Place rows of label, value as text, begin and length, on a scale from 0 to ``most``."""
    scale = (WIDTH - LABELS - VALUES) / (most or 1.0)
    bars = [
        Bar(
            label=label,
            value=value,
            top=number * ROW,
            left=round(LABELS + begin * scale, 1),
            width=round(max(length * scale, 1.0), 1),
        )
        for number, (label, value, begin, length) in enumerate(rows)
    ]
    told = "; ".join(f"{label} {value}" for label, value, _, _ in rows)
    return Bars(summary=f"{title}: {told or 'none'}", caption=caption, height=max(len(rows), 1) * ROW, bars=tuple(bars))
