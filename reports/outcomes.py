"""The closed vocabulary of outcomes, and the row that each requirement has in a report."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from recipe.catalogue import Level, Origin


class Outcome(StrEnum):
    """What became of a requirement. There is no word for skipped, disabled or nothing to check."""

    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    NOT_RUN = "not run"
    ERROR = "error"
    NOT_APPLICABLE = "not applicable"
    RECORDED = "recorded"
    ATTESTED = "attested"
    WAIVED = "waived"


SETTLED = frozenset({Outcome.PASSED, Outcome.RECORDED, Outcome.NOT_APPLICABLE, Outcome.ATTESTED, Outcome.WAIVED})
TOLD = (Outcome.FAILED, Outcome.ERROR, Outcome.WAIVED)  # what is told of one by one wherever a run is summed up
UNKNOWN = frozenset({Outcome.BLOCKED, Outcome.NOT_RUN, Outcome.ERROR})


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the requirement matrix. ``case`` is a file name or empty; ``seconds`` is wall time.

    ``says`` and ``source`` are the requirement's words and its section of the guide.
    """

    id: str
    case: str
    level: Level
    origin: Origin
    outcome: Outcome
    says: str
    source: str
    wanted: str
    found: str
    remedy: str
    seconds: float = 0.0
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``HST-05``, or ``WTS-01 [file]`` for a requirement that is judged file by file."""
        return f"{self.id} [{self.case}]" if self.case else self.id

    @property
    def told(self) -> str:
        """What was wanted and found, and the remedy, a line each."""
        return f"wanted: {self.wanted}\nfound: {self.found}\nremedy: {self.remedy}"

    @property
    def stage(self) -> str:
        """The stage's three letters."""
        return self.id[:3]


def judged(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that a run is to judge or record: all but a person's attestations."""
    return [row for row in rows if row.level is not Level.ATTEST]
