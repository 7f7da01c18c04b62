"""The bundle: one folder for each run, which says INCOMPLETE from its first moment until a verdict stands."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from recipe.deployment import Deployment
from recipe.series import Series
from recipe.values import Fact
from reports import html, junit, suite
from reports.conditions import Conditions
from reports.evidence import Evidence, write_atomically
from reports.ledger import Ledger
from reports.outcomes import Outcome, Row
from reports.redaction import Redactor
from reports.verdict import Verdict, counts

SCHEMA = "vllm-qualify/verdict/1"
LEAK_REQUIREMENT = "CFG-06"


class Suite(msgspec.Struct, frozen=True):
    """Version and commit of this suite."""

    version: str
    commit: str


class Document(msgspec.Struct, frozen=True):
    """The content of verdict.json. Times are UTC, ISO 8601; those of stages and series are seconds since the epoch."""

    schema: str
    verdict: Verdict
    rehearsal: bool
    deployment: str
    started: str
    ended: str
    interrupted: str | None
    suite: Suite
    host: str
    conditions: Conditions
    requirements: tuple[Row, ...]
    counts: dict[str, int]
    stages_began: dict[str, float]
    series: tuple[Series, ...]

    @property
    def headline(self) -> str:
        """The verdict in words; a rehearsal says so first, and conditions follow."""
        return headline(self.verdict, self.conditions, rehearsal=self.rehearsal)


def headline(verdict: Verdict, conditions: Conditions, *, rehearsal: bool) -> str:
    """Return the verdict as people read it."""
    return f"{'REHEARSAL: ' if rehearsal else ''}{verdict}{conditions.words}"


def new_folder(option: str | None, deployment: str) -> Path:
    """Make the folder for a new bundle. Raises pytest.UsageError where it cannot be made, or is not empty."""
    folder = _place(option, deployment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def _unwritable(folder: Path, error: OSError) -> pytest.UsageError:
    return pytest.UsageError(f"cannot write the bundle in {folder}: {error.strerror}; name another --bundle")


def _place(option: str | None, deployment: str) -> Path:
    if option:
        folder = Path(option).expanduser().resolve()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise pytest.UsageError(
                f"--bundle {folder}: is not an empty folder; a bundle is never written into another"
            )
        return folder
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    return suite.ROOT / "reports" / "out" / f"{stamp}-{deployment}-{os.getpid()}"


def remove_if_empty(folder: Path) -> None:
    """Take away the folder of a run that was refused before it wrote anything."""
    with contextlib.suppress(OSError):
        folder.rmdir()


class Bundle:
    """Writes one run's bundle: facts and artefacts as they come, verdict, JUnit and report at the end."""

    def __init__(self, folder: Path, deployment: Deployment, ledger: Ledger) -> None:
        self.folder = folder
        self.deployment = deployment
        self.ledger = ledger
        self.redactor = Redactor()
        self.started = now()
        self.plan = ""
        self._suite = Suite(suite.version(), suite.commit())
        self._facts: dict[str, str] = {}
        self._series: list[Series] = []

    def open(self) -> None:
        """Create the folder and a verdict of INCOMPLETE, which stands if the run is killed."""
        try:
            self.evidence = Evidence(self.folder, self.redactor)
            self._write_verdict(Verdict.INCOMPLETE, None)
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def record(self, fixture: str, fact: Fact) -> None:
        """Record a fact under the name of its fixture."""
        self._facts[fixture] = self.evidence.fact(fixture, fact)
        if isinstance(fact, Series) and fact.times:
            self._series.append(fact)

    def facts_of(self, fixtures: Iterable[str]) -> tuple[str, ...]:
        """Return the paths of the facts that these fixtures gave."""
        return tuple(self._facts[name] for name in fixtures if name in self._facts)

    def close(self, interrupted: Callable[[], str | None]) -> Verdict:
        """Decide and write everything. A signal that comes in meanwhile makes it be written again, as INCOMPLETE."""
        self._judge_leaks()
        while True:
            signal = interrupted()
            verdict = self.ledger.verdict(interrupted=signal is not None)
            document = self._write_verdict(verdict, signal)
            write_atomically(self.folder / "junit.xml", self.redactor.data(junit.render(document)))
            page = html.render(document, self.ledger.catalogue, self.deployment)
            write_atomically(self.folder / "report.html", self.redactor.data(page))
            if interrupted() == signal:
                return verdict

    def _judge_leaks(self) -> None:
        """Scan the finished bundle once more: what leaked after the configuration stage fails it too."""
        leaks = self.evidence.leaks()
        if leaks and self.ledger.row(LEAK_REQUIREMENT).outcome is not Outcome.NOT_APPLICABLE:
            self.ledger.settle(LEAK_REQUIREMENT, "", Outcome.FAILED, found=f"a secret stands in {', '.join(leaks)}")

    def _write_verdict(self, verdict: Verdict, signal: str | None) -> Document:
        rows = self.ledger.rows
        document = Document(
            schema=SCHEMA,
            verdict=verdict,
            rehearsal=self.deployment.rehearsal,
            deployment=self.deployment.name,
            started=self.started,
            ended=now(),
            interrupted=signal,
            suite=self._suite,
            host=platform.node(),
            conditions=self.ledger.conditions,
            requirements=rows,
            counts=counts(rows),
            stages_began=self.ledger.stages_began,
            series=tuple(self._series),
        )
        data = msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
        write_atomically(self.folder / "verdict.json", self.redactor.data(data))
        return document


def now() -> str:
    """Return the present moment, UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
