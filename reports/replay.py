"""A replay: the very same tests judge the recorded facts of a bundle, and must come to the same outcomes."""

from __future__ import annotations

import functools
import operator
import types
import typing
from collections.abc import Generator, Iterable
from typing import Any

import pytest

from recipe.values import Fact
from reports.document import Document
from reports.items import arguments
from reports.ledger import Ledger
from reports.outcomes import UNKNOWN, Outcome, Row
from reports.qualification import Qualification
from reports.recording import Recording
from reports.verdict import Verdict

FACT_FIXTURES = "fixtures."  # the package whose session fixtures read a host
UNJUDGED = UNKNOWN - {Outcome.BLOCKED}
# Times and places may differ in a replay; all that is wanted, found and concluded may not.
COMPARED = ("outcome", "level", "origin", "says", "source", "wanted", "found", "remedy")
UNCOMPARED_IF_UNJUDGED = ("wanted", "found")


class _NotRecorded:
    """Stands in the place of a live part of a run (engine, client, …), which a replay has none of."""


NOT_RECORDED = _NotRecorded()


class Replay:
    """A pytest plugin object: it hands out recorded facts in the place of every session fixture that reads a host."""

    def __init__(self, recording: Recording, qualification: Qualification) -> None:
        self._recording = recording
        self._qualification = qualification
        self._before = {row.name: row for row in recording.document.requirements}
        qualification.ledger.server_started = recording.document.server_started
        qualification.interrupted_before = recording.document.interrupted
        qualification.accepts = self.agrees
        self.bundle = recording.bundle
        self.recorded = recording.document
        self.ground = recording.ground

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Any:
        """Give the recorded fact; what is no fact, and so not recorded, no test ever sees."""
        if not fixturedef.func.__module__.startswith(FACT_FIXTURES):
            return None
        name = fixturedef.argname
        recorded = self._recording.has(name)
        value = self._recording.fact(name, kind_of_fact(fixturedef.func)) if recorded else NOT_RECORDED
        fixturedef.cached_result = (value, fixturedef.cache_key(request), None)
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        missing = [name for name in arguments(pyfuncitem) if pyfuncitem.funcargs[name] is NOT_RECORDED]
        if missing:
            raise LookupError(f"the bundle holds no fact {', '.join(missing)}")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what was not judged then: it has no facts, and stays unjudged."""
        items[:] = [item for item in items if not self._was_unjudged(item)]

    def _was_unjudged(self, item: pytest.Item) -> bool:
        before = self._before.get(self._qualification.row_of(item).name)
        return before is not None and before.outcome in UNJUDGED

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_finish(self) -> Generator[None, None, None]:
        """Settle as then what is not judged now: it may have blocked something else."""
        yield
        for row in self._qualification.ledger.rows:
            before = self._before.get(row.name)
            if before is not None and before.outcome is Outcome.ERROR:
                self._qualification.ledger.settle(row.id, row.case, Outcome.ERROR, found=before.found)

    def pytest_sessionfinish(self) -> None:
        """Take over what no test has judged: files in which the closing scan found a secret."""
        if self._recording.document.leaks:
            self._qualification.bundle.judge_leaks(self._recording.document.leaks)

    def differences(self, verdict: Verdict) -> list[str]:
        """Return what this replay came to otherwise than the run, a line each."""
        return differences(self.recorded, self._qualification.ledger, verdict)

    def agrees(self, verdict: Verdict) -> bool:
        """Tell whether the replay came to the same, in every row and in the verdict."""
        return not self.differences(verdict)


def kind_of_fact(function: Any) -> Any:
    """Return the type of fact that a fixture gives, of a generator what it yields; None where it gives none."""
    kind = typing.get_type_hints(function)["return"]
    kind = typing.get_args(kind)[0] if typing.get_origin(kind) is Generator else kind
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    facts = [option for option in options if isinstance(option, type) and issubclass(option, Fact)]
    return functools.reduce(operator.or_, facts) if facts else None


def differences(recorded: Document, ledger: Ledger, verdict: Verdict) -> list[str]:
    """Return what a replay came to otherwise than the run, a line each: rows, then the verdict."""
    before, now = _by_name(recorded.requirements), _by_name(ledger.rows)
    found = [f"{name}: the bundle has it, this suite's catalogue does not" for name in before if name not in now]
    found += [f"{name}: this suite's catalogue has it, the bundle does not" for name in now if name not in before]
    for name, row in before.items():
        found += _of_row(row, now[name]) if name in now else []
    if recorded.verdict is not verdict:
        found.append(f"verdict: recorded {recorded.verdict}, replayed {verdict}")
    return found


def _of_row(before: Row, now: Row) -> list[str]:
    unjudged = before.outcome in UNJUDGED
    fields = [field for field in COMPARED if not (unjudged and field in UNCOMPARED_IF_UNJUDGED)]
    pairs = [(field, getattr(before, field), getattr(now, field)) for field in fields]
    return [f"{now.name}: {field}: recorded {old!r}, replayed {new!r}" for field, old, new in pairs if old != new]


def _by_name(rows: Iterable[Row]) -> dict[str, Row]:
    return {row.name: row for row in rows}
