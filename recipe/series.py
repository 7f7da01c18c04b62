"""A measured series over time, as the report draws it."""

from __future__ import annotations

from recipe.values import Fact


class Series(Fact, frozen=True):
    """Values of several lines at the same moments. ``times`` are seconds since the epoch, ``unit`` that of the values.

    ``method`` says by what instrument and how often they were taken.
    """

    title: str
    unit: str
    method: str
    times: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]

    @property
    def whole(self) -> bool:
        """Whether there is something to draw: moments, and lines that have a value at each."""
        return bool(self.times and self.lines) and all(len(line) == len(self.times) for line in self.lines.values())


def thinned(times: list[float], lines: dict[str, list[float]], most: int) -> tuple[list[float], dict[str, list[float]]]:
    """Return a series of at most about so many moments: of each stretch the highest value of each line is kept."""
    step = -(-len(times) // most) if most else 1
    if step <= 1:
        return times, lines
    places = range(0, len(times), step)
    return [times[at] for at in places], {
        name: [max(values[at : at + step]) for at in places] for name, values in lines.items()
    }
