"""Hooks by which the session fixtures speak to the report without importing it."""

from __future__ import annotations

import pytest

from recipe.values import Secret


@pytest.hookspec
def pytest_qualify_secret(secret: Secret) -> None:
    """A secret exists from now on: redact it everywhere."""


@pytest.hookspec(firstresult=True)
def pytest_qualify_artefact(name: str, content: bytes | str) -> str:
    """Keep a log, an output or a picture in the bundle. Returns its path within the bundle."""
    raise NotImplementedError


@pytest.hookspec(firstresult=True)
def pytest_qualify_leaks() -> list[str]:
    """Return the files written so far that hold a secret, as paths within the bundle."""
    raise NotImplementedError


@pytest.hookspec
def pytest_qualify_progress(task: str, done: int, total: int) -> None:
    """``done`` of ``total`` bytes of a long task are through.

    Equal numbers end the task; a total of 0 ends one that came to nothing.
    """


@pytest.hookspec
def pytest_qualify_says(text: str) -> None:
    """Tell the operator one plain line about what is going on."""


@pytest.hookspec
def pytest_qualify_plan(lines: tuple[str, ...]) -> None:
    """What a whole run would do on this host, in order; a line for each act."""


@pytest.hookspec(firstresult=True)
def pytest_qualify_qualifies() -> bool:
    """Tell whether all that has been judged so far, and what was not, would make a verdict that qualifies."""
    raise NotImplementedError


@pytest.hookspec
def pytest_qualify_left_running(name: str) -> None:
    """The server of that name lives on after this run."""


@pytest.hookspec
def pytest_qualify_server_started(name: str) -> None:
    """A server was started: the stop stage must run, whatever happens."""
