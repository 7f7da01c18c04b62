"""The verdict: every pair of outcomes, and that it never rises when an outcome gets worse."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe.catalogue import Level, Origin
from reports.outcomes import Outcome, Row
from reports.verdict import Verdict, counts, decide

BEST_FIRST = [Outcome.PASSED, Outcome.WAIVED, Outcome.BLOCKED, Outcome.NOT_RUN, Outcome.ERROR, Outcome.FAILED]
# A failed SHOULD is a remark that is known; one that nobody could or did judge is worse than that.
BEST_FIRST_OTHERWISE = [Outcome.PASSED, Outcome.WAIVED, Outcome.FAILED, Outcome.BLOCKED, Outcome.NOT_RUN, Outcome.ERROR]
WORST_FIRST = list(Verdict)


def row(outcome: Outcome, level: Level = Level.MUST) -> Row:
    return Row("HST-01", "", level, Origin.GUIDE, outcome, "s", "g", "w", "f", "r")


def rank(verdict: Verdict) -> int:
    return WORST_FIRST.index(verdict)


@pytest.mark.parametrize(
    ("must", "verdict"),
    [
        (Outcome.PASSED, Verdict.QUALIFIED),
        (Outcome.NOT_APPLICABLE, Verdict.QUALIFIED),
        (Outcome.WAIVED, Verdict.WITH_WAIVERS),
        (Outcome.BLOCKED, Verdict.INCOMPLETE),
        (Outcome.NOT_RUN, Verdict.INCOMPLETE),
        (Outcome.ERROR, Verdict.INCOMPLETE),
        (Outcome.FAILED, Verdict.NOT_QUALIFIED),
    ],
)
def test_one_must_decides(must: Outcome, verdict: Verdict) -> None:
    assert decide([row(Outcome.PASSED), row(must)]) is verdict


@pytest.mark.parametrize(
    ("must", "verdict"),
    [
        (Outcome.PASSED, Verdict.WITH_REMARKS),
        (Outcome.WAIVED, Verdict.WITH_WAIVERS),
        (Outcome.BLOCKED, Verdict.INCOMPLETE),
        (Outcome.FAILED, Verdict.NOT_QUALIFIED),
    ],
)
def test_a_remark_beyond_the_rows_is_the_best_that_can_be(must: Outcome, verdict: Verdict) -> None:
    assert decide([row(Outcome.PASSED), row(must)], remarks=True) is verdict


@pytest.mark.parametrize(
    ("should", "verdict"),
    [
        (Outcome.PASSED, Verdict.QUALIFIED),
        (Outcome.NOT_APPLICABLE, Verdict.QUALIFIED),
        (Outcome.FAILED, Verdict.WITH_REMARKS),
        (Outcome.BLOCKED, Verdict.WITH_REMARKS),
        (Outcome.WAIVED, Verdict.WITH_REMARKS),
        (Outcome.NOT_RUN, Verdict.INCOMPLETE),
        (Outcome.ERROR, Verdict.INCOMPLETE),
    ],
)
@pytest.mark.parametrize("level", [Level.SHOULD, Level.RECORD])
def test_what_is_no_must_can_only_remark(should: Outcome, verdict: Verdict, level: Level) -> None:
    assert decide([row(Outcome.PASSED), row(should, level)]) is verdict


@pytest.mark.parametrize("outcome", list(Outcome))
def test_attestations_do_not_decide(outcome: Outcome) -> None:
    assert decide([row(Outcome.PASSED), row(outcome, Level.ATTEST)]) is Verdict.QUALIFIED


def test_nothing_passed_is_never_qualified() -> None:
    assert decide([]) is Verdict.INCOMPLETE
    for outcome in Outcome:
        if outcome is not Outcome.PASSED:
            assert not decide([row(outcome)]).qualifies


def test_an_interrupted_run_is_incomplete_at_best() -> None:
    assert decide([row(Outcome.PASSED)], interrupted=True) is Verdict.INCOMPLETE
    assert decide([row(Outcome.FAILED)], interrupted=True) is Verdict.NOT_QUALIFIED


def test_every_pair_of_musts_is_as_bad_as_its_worse_one() -> None:
    for first, second in product(BEST_FIRST, repeat=2):
        single = [decide([row(Outcome.PASSED), row(outcome)]) for outcome in (first, second)]

        assert rank(decide([row(Outcome.PASSED), row(first), row(second)])) == min(map(rank, single))


OUTCOMES = st.lists(st.tuples(st.sampled_from(BEST_FIRST), st.sampled_from(Level)), max_size=8)


@given(OUTCOMES, st.data())
def test_the_verdict_never_rises_when_an_outcome_gets_worse(
    outcomes: list[tuple[Outcome, Level]], data: st.DataObject
) -> None:
    rows = [row(outcome, level) for outcome, level in outcomes]
    if not rows:
        return
    place = data.draw(st.integers(0, len(rows) - 1))
    order = BEST_FIRST if rows[place].level is Level.MUST else BEST_FIRST_OTHERWISE
    worse = data.draw(st.sampled_from(order[order.index(rows[place].outcome) :]))
    changed = [*rows[:place], row(worse, rows[place].level), *rows[place + 1 :]]

    assert rank(decide(changed)) <= rank(decide(rows))
    assert rank(decide(changed, interrupted=True)) <= rank(decide(changed))


@given(OUTCOMES)
def test_only_the_last_three_words_qualify(outcomes: list[tuple[Outcome, Level]]) -> None:
    verdict = decide(row(outcome, level) for outcome, level in outcomes)

    assert verdict.qualifies is verdict.value.startswith("QUALIFIED")


def test_counts_follow_the_vocabulary() -> None:
    rows = [row(Outcome.FAILED), row(Outcome.PASSED), row(Outcome.PASSED)]

    assert counts(rows) == {"passed": 2, "failed": 1}
    assert counts([]) == {}


@pytest.mark.parametrize("outcome", [Outcome.NOT_RUN, Outcome.ERROR])
def test_what_is_unknown_of_a_must_and_of_a_should_at_once_is_incomplete(outcome: Outcome) -> None:
    rows = [row(Outcome.PASSED), row(outcome), row(outcome, Level.SHOULD)]

    assert decide(rows) is Verdict.INCOMPLETE
