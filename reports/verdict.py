"""From rows to one verdict. Pure: no clock, no files, no pytest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from recipe.catalogue import Level
from reports.outcomes import Outcome, Row, judged


class Verdict(StrEnum):
    """The five words, worst first."""

    NOT_QUALIFIED = "NOT QUALIFIED"
    INCOMPLETE = "INCOMPLETE"
    WITH_WAIVERS = "QUALIFIED WITH WAIVERS"
    WITH_REMARKS = "QUALIFIED WITH REMARKS"
    QUALIFIED = "QUALIFIED"

    @property
    def qualifies(self) -> bool:
        """Whether the exit status may be 0."""
        return self not in (Verdict.NOT_QUALIFIED, Verdict.INCOMPLETE)


def decide(rows: Iterable[Row], *, interrupted: bool = False, remarks: bool = False) -> Verdict:
    """Return the verdict on all rows of the catalogue.

    A failed MUST is NOT QUALIFIED. A MUST that was blocked, anything not run or in error, an interrupted run, or
    no MUST that passed at all is INCOMPLETE. What else did not pass is a waiver or a remark; ``remarks`` tells that
    there are some beyond the rows.
    """
    to_judge = judged(rows)
    must = {row.outcome for row in to_judge if row.level is Level.MUST}
    other = {row.outcome for row in to_judge if row.level is not Level.MUST}
    if Outcome.FAILED in must:
        return Verdict.NOT_QUALIFIED
    if interrupted or Outcome.PASSED not in must or Outcome.BLOCKED in must:
        return Verdict.INCOMPLETE
    if {Outcome.NOT_RUN, Outcome.ERROR} & (must | other):
        return Verdict.INCOMPLETE
    if Outcome.WAIVED in must:
        return Verdict.WITH_WAIVERS
    if remarks or {Outcome.FAILED, Outcome.BLOCKED, Outcome.WAIVED} & other:
        return Verdict.WITH_REMARKS
    return Verdict.QUALIFIED


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """Count rows by outcome, in the vocabulary's order, leaving out what did not occur."""
    number = Counter(row.outcome for row in rows)
    return {outcome.value: number[outcome] for outcome in Outcome if number[outcome]}
