"""What a test's judgement keeps, and what it does with facts that are not there."""

from __future__ import annotations

import pytest

from recipe.judgement import Blocked, Judgement
from recipe.values import Absent, Unreadable


def test_a_fact_passes_through() -> None:
    judgement = Judgement("a thing")
    judgement.wants("this thing")
    judgement.finds(7)

    assert judgement.needs("there") == "there"
    assert (judgement.wanted, judgement.found) == ("this thing", "7")


def test_an_unreadable_fact_blocks() -> None:
    judgement = Judgement("a thing")
    with pytest.raises(Blocked, match="denied"):
        judgement.needs(Unreadable(what="log", reason="denied"))
    assert judgement.found == "log could not be read: denied"


def test_an_absent_fact_fails() -> None:
    judgement = Judgement("a thing")
    with pytest.raises(AssertionError, match="not installed"):
        judgement.needs(Absent(what="Docker", detail="not installed"))
    assert judgement.found == "no Docker: not installed"
