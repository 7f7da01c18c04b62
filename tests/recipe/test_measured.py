"""Measurements and series: what is told of several values, and what thinning keeps."""

from __future__ import annotations

import pytest

from recipe.measurements import measure
from recipe.series import Series, thinned


def test_a_measurement_tells_median_spread_number_and_method() -> None:
    found = measure("time", "s", [0.3, 0.1, 0.25], "a clock", "from here to there")
    assert found is not None

    assert (found.least, found.median, found.most, found.n) == (0.1, 0.25, 0.3, 3)
    assert found.told == "time: 0.25 s (0.1 to 0.3, n 3); a clock, from here to there"


def test_one_value_has_no_spread_and_none_is_no_measurement() -> None:
    one = measure("tokens", "", [12], "the server", "usage")
    assert one is not None

    assert one.told == "tokens: 12; the server, usage"
    assert measure("time", "s", [], "a clock", "never") is None


@pytest.mark.parametrize("most", [1, 3, 7, 50])
def test_thinning_keeps_the_highest_value_and_both_lengths(most: int) -> None:
    values = [float(at % 17) for at in range(100)]
    times, lines = thinned([float(at) for at in range(100)], {"a": values}, most)

    assert len(times) == len(lines["a"]) <= most + 1
    assert max(lines["a"]) == 16
    assert times[0] == 0


def test_a_short_series_is_left_as_it_is() -> None:
    assert thinned([1.0, 2.0], {"a": [3.0, 4.0]}, 10) == ([1.0, 2.0], {"a": [3.0, 4.0]})
    assert thinned([], {}, 10) == ([], {})


def test_values_keep_four_places() -> None:
    found = measure("t", "s", [0.123449, 0.223451, 0.323449], "clock", "once")

    assert found is not None
    assert (found.least, found.median, found.most) == (0.1234, 0.2235, 0.3234)


def test_two_values_have_a_spread_and_one_has_none() -> None:
    two, one = measure("t", "s", [1.0, 3.0], "clock", "m"), measure("t", "s", [1.0], "clock", "m")

    assert two is not None
    assert one is not None
    assert two.told == "t: 2 s (1 to 3, n 2); clock, m"
    assert one.told == "t: 1 s; clock, m"


@pytest.mark.parametrize(
    ("times", "lines", "whole"),
    [
        ((1.0, 2.0), {"a": (1.0, 2.0), "b": (3.0, 4.0)}, True),
        ((1.0, 2.0), {"a": (1.0, 2.0), "b": (3.0,)}, False),
        ((1.0,), {"a": (1.0, 2.0)}, False),
        ((1.0, 2.0), {"a": (1.0,)}, False),
        ((), {"a": ()}, False),
        ((1.0,), {}, False),
        ((), {}, False),
    ],
)
def test_a_series_is_whole_with_a_value_at_each_moment(
    times: tuple[float, ...], lines: dict[str, tuple[float, ...]], whole: bool
) -> None:
    assert Series("t", "u", "m", times, lines).whole is whole


@pytest.mark.parametrize(
    ("length", "most", "places"),
    [(4, 4, 4), (5, 4, 3), (8, 4, 4), (9, 4, 3), (12, 4, 4), (13, 4, 4), (7, 3, 3), (3, 0, 3), (1, 1, 1)],
)
def test_a_series_is_thinned_to_at_most_so_many_moments(length: int, most: int, places: int) -> None:
    times = [float(number) for number in range(length)]
    found, lines = thinned(times, {"a": times[::-1]}, most)

    assert len(found) == len(lines["a"]) == places <= (most or length)
    assert lines["a"][0] == length - 1
    assert (found is times) == (length <= most or not most)
