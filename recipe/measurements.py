"""Measurements: what was measured how often, with what, and how; least, median and most. None has a threshold."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One quantity. ``n`` is the number of values; ``instrument`` took them, by ``method``."""

    name: str
    unit: str
    least: float
    median: float
    most: float
    n: int
    instrument: str
    method: str

    @property
    def told(self) -> str:
        """The quantity in one line."""
        spread = f"{self.median:,.4g} {self.unit}".strip()
        if self.n > 1:
            spread += f" ({self.least:,.4g} to {self.most:,.4g}, n {self.n})"
        return f"{self.name}: {spread}; {self.instrument}, {self.method}"


def measure(name: str, unit: str, values: Sequence[float], instrument: str, method: str) -> Measurement | None:
    """Return the measurement of these values, None where there is none."""
    if not values:
        return None
    return Measurement(
        name=name,
        unit=unit,
        least=round(min(values), 4),
        median=round(statistics.median(values), 4),
        most=round(max(values), 4),
        n=len(values),
        instrument=instrument,
        method=method,
    )
