"""Measurements and series: what is told of several values, and what thinning keeps."""

from __future__ import annotations

import pytest

from recipe.measurements import measure
from recipe.series import thinned


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
