"""What a test uses to judge its requirement: it states what is wanted, what is found, and asserts."""

from __future__ import annotations

from typing import TypeVar

from recipe.values import Absent, Unreadable

T = TypeVar("T")


class Blocked(Exception):
    """The requirement cannot be judged, for a cause that is named: another requirement or something outside."""


class Judgement:
    """One requirement under judgement. ``wanted`` and ``found`` become its row in the report."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.found = ""

    def wants(self, wanted: str) -> None:
        """State what is wanted, with the deployment's own value. Say it before looking."""
        self.wanted = wanted

    def finds(self, found: object) -> None:
        """State what was found. A test that passes without having found anything is an error of the suite."""
        self.found = str(found)

    def needs(self, fact: T | Absent | Unreadable) -> T:
        """Return the fact. An unreadable one blocks the requirement, an absent one fails it."""
        if isinstance(fact, Unreadable):
            self.found = str(fact)
            raise Blocked(str(fact))
        if isinstance(fact, Absent):
            self.found = str(fact)
            raise AssertionError(str(fact))
        return fact
