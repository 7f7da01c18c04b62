"""What a collected test is to the catalogue: its requirement, its facts, and the outcome that a phase of it gives."""

from __future__ import annotations

import inspect
import re

import pytest

from recipe.catalogue import Level
from recipe.judgement import Blocked, Judgement
from reports.outcomes import Outcome

TEST_NAME = re.compile(r"^test_([a-z]{3})_(\d{2})_")


def requirement_id(item: pytest.Item) -> str:
    """Return the id of the requirement that a test judges."""
    return requirement_id_of(item.nodeid)


def requirement_id_of(nodeid: str) -> str:
    """Return ``HST-05`` for ``…::test_hst_05_…``, or the node id where the name has no requirement in it."""
    match = TEST_NAME.match(nodeid.rpartition("::")[2])
    return f"{match[1].upper()}-{match[2]}" if match else nodeid


def arguments(item: pytest.Item) -> tuple[str, ...]:
    """Return the names of the fixtures that a test itself asks for."""
    return tuple(inspect.signature(item.function).parameters) if isinstance(item, pytest.Function) else ()


def judge_call(call: pytest.CallInfo[None], judgement: Judgement, level: Level) -> tuple[Outcome | None, str]:
    """Return the outcome that one phase of a test gives, and what was found. None: this phase settles nothing.

    Only an assertion in the test's body is a failure; anything else unexpected is an error of the suite.
    """
    problem = call.excinfo.value if call.excinfo else None
    if isinstance(problem, Blocked):
        return Outcome.BLOCKED, judgement.found or str(problem)
    if problem is not None and (
        call.when != "call" or not isinstance(problem, AssertionError) or level is Level.RECORD
    ):
        return Outcome.ERROR, f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else 'no text'}"
    if call.when != "call":
        return None, ""
    if not judgement.found:
        return Outcome.ERROR, "the test ended without saying what it found"
    if problem is not None:
        return Outcome.FAILED, judgement.found
    return (Outcome.RECORDED if level is Level.RECORD else Outcome.PASSED), judgement.found
