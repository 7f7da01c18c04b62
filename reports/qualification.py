"""One qualification run, as a pytest plugin object: it orders, blocks, settles and closes."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from recipe.catalogue import Catalogue, Level
from recipe.deployment import Deployment
from recipe.judgement import Blocked, Judgement
from recipe.snapshot import Snapshot
from recipe.values import Fact, Secret
from reports.bundle import Bundle, new_folder, remove_if_empty
from reports.conditions import Conditions
from reports.interrupts import Interrupts
from reports.items import arguments, judge_call, requirement_id
from reports.ledger import Ledger
from reports.outcomes import Outcome, Row
from reports.verdict import Verdict

if TYPE_CHECKING:
    from reports.signing import Signing

SECRET_VARIABLES = ("VLLM_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
JUDGEMENT = pytest.StashKey[Judgement]()
SECONDS = pytest.StashKey[float]()


class Qualification:
    """Registered for ``-m qualify`` only. Everything the run knows about itself hangs here, nothing is global.

    ``accepts`` tells for which verdicts the exit status is 0; ``interrupted_before`` names what had cut short the run
    that is judged again, in a replay.
    """

    def __init__(
        self,
        config: pytest.Config,
        catalogue: Catalogue,
        deployment: Deployment,
        snapshot: Snapshot | None,
        conditions: Conditions,
        signing: Signing | None = None,
    ) -> None:
        self.deployment = deployment
        self.snapshot = snapshot
        self.ledger = Ledger(catalogue, deployment, snapshot, conditions)
        self.interrupts = Interrupts()
        folder = new_folder(config.option.bundle, deployment.name)
        self.bundle = Bundle(folder, deployment, snapshot, self.ledger, signing)
        for name in SECRET_VARIABLES:
            if os.environ.get(name):
                self.bundle.redactor.add(Secret(name, os.environ[name]))
        if signing:
            self.bundle.redactor.add(signing.secret)
        config.option.htmlpath = str(folder / "log.html")
        config.option.self_contained_html = True
        config.add_cleanup(partial(remove_if_empty, folder))
        self._rank = {row_id: place for place, row_id in enumerate(dict.fromkeys(row.id for row in self.ledger.rows))}
        self._reached = 0
        self._bound = False
        self.conclude: Callable[[Verdict, str], None] | None = None
        self.accepts: Callable[[Verdict], bool] = _qualifies
        self.interrupted_before: str | None = None

    # ------------------------------------------------------------------ start and end of the run

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.bundle.open()
        self.interrupts.install(partial(setattr, session, "shouldstop"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Wrap all clean-up: whatever happens in it, the bundle is closed and the exit status is the verdict's."""
        finished = False
        try:
            result = yield
            finished = session.exitstatus is not pytest.ExitCode.INTERNAL_ERROR
            return result
        finally:
            self._finish(session, finished)

    def _finish(self, session: pytest.Session, finished: bool) -> None:
        if self.interrupts.received:
            # The signal may have come in the middle of a destructor: Python then says so, to nobody's use.
            warnings.simplefilter("ignore", pytest.PytestUnraisableExceptionWarning)
        verdict, problem = self._close(finished)
        if self.accepts(verdict):
            session.exitstatus = pytest.ExitCode.OK
        elif session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.conclude:
            self.conclude(verdict, problem)

    def _close(self, finished: bool) -> tuple[Verdict, str]:
        """Close the bundle. A run that broke off, or a bundle that cannot be written, is INCOMPLETE at best."""
        broken = None if finished else "a fault of the suite"
        try:
            return self.bundle.close(lambda: self.interrupts.received or broken or self.interrupted_before), ""
        except OSError as error:
            problem = f"the bundle could not be written ({error.strerror})"
            remedy = f"free space in {self.bundle.folder} and run again"
            return self.ledger.verdict(interrupted=True), f"{problem}: {remedy}"

    def pytest_unconfigure(self) -> None:
        self.interrupts.ignore()

    # ------------------------------------------------------------------ collection and order

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Bind each test to its requirement and give it the catalogue's place; pytest-order then sorts."""
        owner: dict[str, str] = {}
        for item in items:
            identity = requirement_id(item)
            if identity not in self._rank:
                raise pytest.UsageError(f"{item.nodeid}: no requirement of the catalogue has this test's id")
            function = item.nodeid.partition("[")[0]
            if owner.setdefault(identity, function) != function:
                raise pytest.UsageError(f"{identity} has two tests: {owner[identity]} and {function}")
            item.add_marker(pytest.mark.order(self._rank[identity] + 1))
        items[:] = [item for item in items if self._is_judged(self.row_of(item))]
        self._bound = True

    def _is_judged(self, row: Row) -> bool:
        only = self.ledger.conditions.only_stage
        return row.outcome is not Outcome.NOT_APPLICABLE and row.stage == (only or row.stage)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Check that the sorting took place, and mark what this run leaves out."""
        if not self._bound:
            return
        places = [self._rank[requirement_id(item)] for item in session.items]
        if places != sorted(places):
            raise pytest.UsageError("the tests are not in the catalogue's order: another plugin reordered them")
        selected = {self.row_of(item).name for item in session.items}
        only = self.ledger.conditions.only_stage
        found = f"not asked for: only stage {only} is judged" if only else "not selected in this run"
        for row in self.ledger.rows:
            if row.outcome is Outcome.NOT_RUN and row.level is not Level.ATTEST and row.name not in selected:
                self.ledger.settle(row.id, row.case, Outcome.NOT_RUN, found=found)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give a test that is judged file by file one case for each file of the snapshot."""
        for argument, identity in (("shard", "WTS-01"), ("auxiliary", "WTS-03")):
            if argument in metafunc.fixturenames:
                cases = [row.case for row in self.ledger.rows if row.id == identity]
                metafunc.parametrize(argument, cases, ids=cases)

    # ------------------------------------------------------------------ one test

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        identity = requirement_id(item)
        requirement = self.ledger.catalogue.get(identity)
        self.ledger.stages_began.setdefault(requirement.stage, round(time.time(), 3))
        item.stash[JUDGEMENT] = Judgement(requirement.says)
        if self._rank[identity] < self._reached:
            raise RuntimeError(f"{identity} runs out of the catalogue's order")
        self._reached = self._rank[identity]
        if obstacle := self.ledger.obstacle(identity):
            item.stash[JUDGEMENT].finds(f"blocked by {obstacle}")
            raise Blocked(f"blocked by {obstacle}")

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Generator[None, Any, Any]:
        with self.interrupts.working():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        text = report.longreprtext
        if text:
            report.longrepr = self.bundle.redactor.text(text)
        report.sections = [(name, self.bundle.redactor.text(content)) for name, content in report.sections]
        self._settle(item, call, text)
        report.user_properties = [("requirement", self.row_of(item).name), ("outcome", self.row_of(item).outcome.value)]
        return report

    def _settle(self, item: pytest.Item, call: pytest.CallInfo[None], text: str) -> None:
        judgement, row = item.stash[JUDGEMENT], self.row_of(item)
        seconds = item.stash.get(SECONDS, 0.0) + call.duration
        item.stash[SECONDS] = seconds
        outcome, found = judge_call(call, judgement, row.level)
        if outcome is None:
            return
        evidence = self.bundle.facts_of(arguments(item))
        if outcome is Outcome.ERROR and text:
            evidence += (self.bundle.evidence.artefact(f"error-{row.id}-{call.when}.txt", text),)
        self.ledger.settle(
            row.id,
            row.case,
            outcome,
            wanted=self.bundle.redactor.text(judgement.wanted),
            found=self.bundle.redactor.text(found),
            seconds=round(seconds, 3),
            evidence=evidence,
        )

    def row_of(self, item: pytest.Item) -> Row:
        """Return the row of a test, of its file where it is judged file by file."""
        callspec = getattr(item, "callspec", None)
        return self.ledger.row(requirement_id(item), callspec.id if callspec else "")

    @pytest.fixture
    def requirement(self, request: pytest.FixtureRequest) -> Judgement:
        """The requirement that this test judges."""
        judgement: Judgement = request.node.stash[JUDGEMENT]
        return judgement

    # ------------------------------------------------------------------ facts

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Record what every fact fixture of the session returns, before any test can see it."""
        with self.interrupts.working():
            value = yield
        if isinstance(value, Fact):
            self.bundle.record(fixturedef.argname, value)
        return value


def _qualifies(verdict: Verdict) -> bool:
    return verdict.qualifies
