"""The words behind a verdict: each condition is said, and none where there is none."""

from __future__ import annotations

import pytest

from recipe.amendments import Amendment
from recipe.sections import Unpinned
from reports.conditions import Conditions


def amendments(*identities: str) -> tuple[Amendment, ...]:
    return tuple(Amendment(identity, {}, "g", "h", "w") for identity in identities)


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        (Conditions(), ""),
        (Conditions(amendments=amendments("A1")), " under amendment A1"),
        (Conditions(amendments=amendments("A1", "A2")), " under amendments A1, A2"),
        (Conditions(amendments=amendments("A1", "A2", "A3")), " under amendments A1, A2, A3"),
        (Conditions(unpinned=(Unpinned("vLLM", "w"), Unpinned("driver", "w"))), " (unpinned: vLLM, driver)"),
        (Conditions(only_stage="HST"), ": only stage HST was judged, which certifies nothing"),
        (Conditions(attached="web"), ", attached to web: start and stop not judged"),
        (Conditions(leaves_running=True), ", service not left running: stop not judged"),
        (Conditions(leaves_running=True, left_running="web"), ", web left running: stop not judged"),
        (Conditions(left_running="web"), ""),
        (Conditions(removes=True), ""),
    ],
)
def test_each_condition_is_said(conditions: Conditions, words: str) -> None:
    assert conditions.words == words


def test_the_options_are_those_that_were_given() -> None:
    assert Conditions().options == frozenset()
    assert Conditions(attached="web").options == {"--attach"}
    assert Conditions(leaves_running=True).options == {"--leave-running"}
    assert Conditions(removes=True).options == {"--remove"}
