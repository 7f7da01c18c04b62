"""What the operator sees: the stages as they go, then verdict, failures with remedies, and where the report is."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import pytest
from rich.console import Console
from rich.markup import escape

from recipe.catalogue import Level
from reports.bundle import Bundle
from reports.document import moment
from reports.html import blocked, short
from reports.items import requirement_id_of
from reports.outcomes import SETTLED, TOLD, UNKNOWN, Outcome, Row, judged
from reports.progress import TaskProgress
from reports.qualification import Qualification
from reports.redaction import RedactingStream
from reports.replay import Replay
from reports.verdict import Verdict, counts

ROW_INDENT = "\n" + " " * 19
STYLE = {Outcome.PASSED: "green", Outcome.RECORDED: "green", Outcome.FAILED: "bold red", Outcome.ERROR: "bold red"}


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the stage reporter in the terminal reporter's place, for a qualification only."""
    qualification = config.pluginmanager.get_plugin("qualification")
    if isinstance(qualification, Qualification):
        StageReporter.replace(config, qualification)


class StageReporter:
    """Tells a run stage by stage, in the place of pytest's own reporter. ``-v`` adds a line for each requirement."""

    @classmethod
    def replace(cls, config: pytest.Config, qualification: Qualification) -> None:
        """Take the standard reporter's place and make everything that is printed pass the redactor."""
        writer, redactor = config.get_terminal_writer(), qualification.bundle.redactor
        stream: Any = RedactingStream(writer._file, redactor)
        writer._file = stream
        reporter = cls(config, qualification.bundle, Console(file=stream, soft_wrap=True))
        reporter.replay = config.pluginmanager.get_plugin("replay")
        if config.option.capture == "no":
            for name in ("stdout", "stderr"):
                standard = getattr(sys, name)
                setattr(sys, name, RedactingStream(standard, redactor))
                config.add_cleanup(partial(setattr, sys, name, standard))
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(reporter, "terminalreporter")
        qualification.conclude = reporter.conclude

    def __init__(self, config: pytest.Config, bundle: Bundle, console: Console) -> None:
        self.config = config
        self.bundle = bundle
        self.console = console
        self.progress = TaskProgress(console)
        self._tw = config.get_terminal_writer()  # where pytest's other plugins look for it
        self._began = self._stage_began = time.monotonic()
        self._stage = ""
        self.replay: Replay | None = None

    # ------------------------------------------------------------------ pytest's hooks

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        self._began = time.monotonic()
        deployment = self.bundle.deployment
        if self.replay:
            recorded, suite = moment(self.replay.recorded.ended), self.replay.recorded.suite
            self._say(f"[bold]Replay[/] of {escape(str(self.replay.bundle))}: {escape(deployment.title)}")
            self._say(f"Recorded {recorded} by version {suite.version}, commit {suite.commit}")
            return
        name = "REHEARSAL of a qualification (certifies nothing)" if deployment.rehearsal else "Qualification"
        self._say(f"[bold]{name}[/]: {escape(deployment.title)}")
        self._say(f"Bundle: {escape(str(self.bundle.folder))}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self.config.option.collectonly:
            for item in session.items:
                self._say(escape(item.nodeid))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(f"[bold red]could not be collected[/]: {escape(report.nodeid)}\n{escape(report.longreprtext)}")

    def pytest_internalerror(self, excrepr: Any) -> bool:
        self._say(f"[bold red]fault of the suite[/]\n{escape(str(excrepr))}")
        return True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Open the stage's line when its first requirement begins."""
        stage = requirement_id_of(nodeid)[:3]
        if stage != self._stage:
            self._close_stage()
            self._stage, self._stage_began = stage, time.monotonic()
            self._say(f"[bold]{self.bundle.ledger.catalogue.stage(stage).title}[/]")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        name = str(dict(report.user_properties)["requirement"])
        row = self.bundle.ledger.named(name)
        alone = bool(self.bundle.ledger.conditions.only_stage)
        if alone or self.config.option.verbose > 0 or row.outcome in TOLD:
            style, lines = STYLE.get(row.outcome, "yellow"), short(row.found).splitlines()
            found = ROW_INDENT.join(lines if alone else lines[:1])
            self._say(f"  [{style}]{row.outcome:8}[/] {escape(row.name)}  {escape(found)}")

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        """Close the last stage; the verdict is told by `conclude`, when it stands."""
        result = yield
        self._close_stage()
        return result

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        reason = str(excinfo.value).removeprefix("interrupted by ") or "SIGINT"
        self._say(f"[bold yellow]interrupted by {escape(reason)}: cleaning up[/]")

    def pytest_unconfigure(self) -> None:
        self.progress.close()

    def pytest_qualify_progress(self, task: str, done: int, total: int) -> None:
        with self._uncaptured():
            self.progress.show(task, done, total)

    def pytest_qualify_says(self, text: str) -> None:
        self._say(f"  {escape(text)}")

    # ------------------------------------------------------------------ lines

    def _say(self, text: str) -> None:
        with self._uncaptured():
            self.console.print(text, highlight=False)

    def _uncaptured(self) -> AbstractContextManager[None]:
        """Let through what is said while a fixture runs, when pytest captures all output."""
        manager = self.config.pluginmanager.get_plugin("capturemanager")
        return manager.global_and_fixture_disabled() if manager else nullcontext()

    def _close_stage(self) -> None:
        self.progress.close()
        if not self._stage:
            return
        number = Counter(row.outcome for row in self.bundle.ledger.rows if row.stage == self._stage)
        words = ", ".join(f"{number[outcome]} {outcome}" for outcome in Outcome if number[outcome])
        self._say(f"  {words}  [dim]{time.monotonic() - self._stage_began:.1f} s[/]")
        self._stage = ""

    def conclude(self, verdict: Verdict, problem: str) -> None:
        """Print verdict, failures with remedies, what was blocked, what is open, and where the report is."""
        if self.replay:
            self._compare(self.replay, verdict)
            return
        rows = self.bundle.ledger.rows
        style = "bold green" if verdict.qualifies else "bold red"
        to_judge = judged(rows)
        total = ", ".join(f"{number} {outcome}" for outcome, number in counts(to_judge).items())
        self._say("")
        words = self.bundle.headline(verdict)
        self._say(f"[{style}]{escape(words)}[/]  ({total}; {time.monotonic() - self._began:.1f} s)")
        for row in rows:
            if row.outcome in TOLD:
                self._problem(row)
        for amendment in self.bundle.ledger.conditions.amendments:
            self._say(f"[yellow]amendment {amendment.id}[/]  {escape(amendment.here)}")
        for value in self.bundle.ledger.conditions.unpinned:
            self._say(f"[yellow]unpinned[/]  {escape(f'{value.value}: the source says {value.source_says}')}")
        for cause, names in blocked(rows):
            self._say(f"[yellow]blocked[/] {len(names)}: {escape(_span(names))}\n  {escape(_indented(short(cause)))}")
        left = [row for row in to_judge if row.outcome is Outcome.NOT_RUN]
        if left:
            self._say(f"[yellow]not run[/] {len(left)}: {escape(_span([row.name for row in left]))}")
        open_ids = [row.id for row in rows if row.level is Level.ATTEST and row.outcome not in SETTLED]
        if open_ids:
            self._say(f"Open attestations, stated by a person: {', '.join(open_ids)}")
        if only := self.bundle.ledger.conditions.only_stage:
            self._alone([row for row in rows if row.stage == only], only)
        if self.bundle.plan:
            self._say(f"\n{escape(self.bundle.plan)}\n")
        if problem:
            self._say(f"[bold red]{escape(problem)}[/]")
        else:
            self._say(f"Report: {escape(str(self.bundle.folder / 'report.html'))}")

    def _compare(self, replay: Replay, verdict: Verdict) -> None:
        """Say whether a replay came to the same as the run, and what it came to otherwise."""
        different = replay.differences(verdict)
        for line in different:
            self._say(f"[bold red]differs[/] {escape(short(line))}")
        word = "[bold red]DIFFERS[/] from" if different else "[bold green]AGREES[/] with"
        self._say(f"\n{escape(replay.ground)}")
        self._say(f"Replay {word} the recorded verdict: {escape(replay.recorded.headline)}")

    def _alone(self, rows: list[Row], stage: str) -> None:
        """Say whether a stage that was judged alone stands in the way of a qualification."""
        bad = {row.level for row in rows if row.outcome in (Outcome.FAILED, *UNKNOWN)}
        if Level.MUST not in bad:
            self._say(f"Stage {stage} passed{' with remarks' if bad else ''}: only a whole run can qualify this host.")

    def _problem(self, row: Row) -> None:
        remedy = (
            row.remedy
            if row.outcome is not Outcome.ERROR
            else f"A fault of the suite: report it with {', '.join(row.evidence)}."
        )
        style = STYLE.get(row.outcome, "yellow")
        self._say(f"[{style}]{row.outcome}[/] [bold]{escape(row.name)}[/] ({row.level}, {row.origin})")
        for label, text in (("wanted", row.wanted), ("found", row.found), ("remedy", remedy)):
            self._say(f"  {label:7} {escape(_indented(short(text)))}")


def _indented(text: str) -> str:
    """Indent every line of a text but the first, under its label."""
    return text.replace("\n", "\n          ")


def _span(names: list[str]) -> str:
    """Name a few requirements in full and a long list by its ends."""
    return ", ".join(names) if len(names) <= 6 else f"{names[0]} … {names[-1]}"
