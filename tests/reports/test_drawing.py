"""Drawings: lines lie within the picture, axes are round, and stages are marked where they began."""

from __future__ import annotations

import msgspec
import pytest

from recipe.series import Series
from reports.drawing import HEIGHT, LEFT, WIDTH, draw
from tests.reports.made import Tags, document, page


def series(**lines: tuple[float, ...]) -> Series:
    times = tuple(100.0 + at for at in range(len(next(iter(lines.values())))))
    return Series(title="GPU memory in use", unit="GiB", method="NVML", times=times, lines=lines)


def test_lines_lie_within_the_picture_and_highest_is_below_the_last_mark() -> None:
    made = draw(series(a=(0.0, 38.5, 38.5, 0.0), b=(0.0, 1.0, 2.0, 3.0)), {"HST": 10.0, "SRV": 101.0, "STP": 103.5})
    points = [tuple(map(float, pair.split(","))) for line in made.lines for pair in line.points.split()]

    assert all(LEFT <= x <= WIDTH and 0 < y < HEIGHT for x, y in points)
    assert [mark.label for mark in made.values] == ["0", "10", "20", "30", "40"]
    assert [(mark.label, mark.at) for mark in made.stages] == [("HST", LEFT), ("SRV", 284.0)]
    assert (made.lines[0].least, made.lines[0].most, made.span) == (0.0, 38.5, "3.0 s")


def test_a_series_without_a_value_at_each_moment_is_not_drawn() -> None:
    whole = series(a=(0.0, 2.0), b=(1.0, 1.0))
    broken = series(a=(0.0, 2.0), b=(1.0,))
    empty = Series(title="x", unit="", method="", times=(), lines={})

    assert (whole.whole, broken.whole, empty.whole) == (True, False, False)
    assert "polyline class" not in page(msgspec.structs.replace(document(), series=(broken, empty)))


@pytest.mark.parametrize("values", [(0.0,), (0.0, 0.0), (5e-3, 1e-3), (140_000.0, 1.0)])
def test_any_values_can_be_drawn(values: tuple[float, ...]) -> None:
    made = draw(series(a=values), {})

    assert float(made.values[-1].label) >= max(values)
    assert 2 <= len(made.values) <= 6


def test_the_report_draws_it_with_a_text_beside() -> None:
    told = document()
    told = type(told)(
        **{name: getattr(told, name) for name in told.__struct_fields__} | {"series": (series(a=(0.0, 2.0)),)}
    )
    text = page(told)

    assert Tags(text).tags.count("polyline") == 1
    assert "GPU memory in use over 1.0 s, in GiB: a from 0.0 to 2.0" in text
    assert "polyline class" not in page(document())
