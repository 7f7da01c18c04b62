"""The bundle: one folder for each run, which says INCOMPLETE from its first moment until a verdict stands."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from recipe.deployment import Deployment
from recipe.series import Series
from recipe.snapshot import Snapshot
from recipe.values import Fact
from reports import ctrf, document, html, junit, statement, suite
from reports.document import SCHEMA, Deployed, Document, StageRun, Suite
from reports.evidence import Evidence
from reports.facts import Facts
from reports.files import (
    DEPLOYMENT_FILE,
    ENVELOPE,
    SNAPSHOT_FILE,
    STATEMENT,
    SUMS,
    VERDICT_FILE,
    json_bytes,
    sums,
    write_atomically,
    write_together,
)
from reports.fingerprint import fingerprint
from reports.ledger import Ledger
from reports.outcomes import Outcome
from reports.printable import in_all, printable
from reports.provenance import answering_routes, measurements, provenance
from reports.redaction import Redactor
from reports.verdict import Verdict, counts

if TYPE_CHECKING:  # cryptography takes its time, and only a signed run needs it
    from reports.signing import Signing

LEAK_REQUIREMENT = "CFG-06"
DERIVED = {"junit.xml": junit.render, "ctrf.json": ctrf.render}


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
    """Writes one run's bundle: facts and artefacts as they come; verdict, page, list and statement at the end."""

    def __init__(
        self,
        folder: Path,
        deployment: Deployment,
        snapshot: Snapshot | None,
        ledger: Ledger,
        signing: Signing | None = None,
    ) -> None:
        self.folder = folder
        self.deployment = deployment
        self.snapshot = snapshot
        self.ledger = ledger
        self.signing = signing
        self.redactor = Redactor()
        self.started = now()
        self.plan = ""
        self._suite = Suite(suite.version(), suite.commit())
        self._paths: dict[str, str] = {}
        self._facts = Facts()
        self._series: list[Series] = []
        self._leaks: tuple[str, ...] = ()

    def open(self) -> None:
        """Create the folder and a verdict of INCOMPLETE, which stands if the run is killed. Keep what is to be met."""
        try:
            self.evidence = Evidence(self.folder, self.redactor)
            write_atomically(self.folder / VERDICT_FILE, self._verdict_data(Verdict.INCOMPLETE, None))
            self._keep(DEPLOYMENT_FILE, self.deployment)
            if self.snapshot:
                self._keep(SNAPSHOT_FILE, self.snapshot)
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def _keep(self, name: str, value: object) -> None:
        write_atomically(self.folder / name, self.redactor.data(json_bytes(value)))

    def record(self, fixture: str, fact: Fact) -> None:
        """Record a fact under the name of its fixture."""
        self._paths[fixture] = self.evidence.fact(fixture, fact)
        self._facts.add(fixture, fact)
        if isinstance(fact, Series) and fact.times:
            self._series.append(fact)

    def facts_of(self, fixtures: Iterable[str]) -> tuple[str, ...]:
        """Return the paths of the facts that these fixtures gave."""
        return tuple(self._paths[name] for name in fixtures if name in self._paths)

    def close(self, interrupted: Callable[[], str | None]) -> Verdict:
        """Decide and write everything, until neither a signal nor a leak has come in meanwhile."""
        while True:
            signal = interrupted()
            verdict = self.ledger.verdict(interrupted=signal is not None)
            self._write_all(verdict, signal)
            if not self._found_leaks() and interrupted() == signal:
                return verdict

    def _write_all(self, verdict: Verdict, signal: str | None) -> None:
        """Write what says the verdict to people and to programs last, when all that proves it is there."""
        data = self._verdict_data(verdict, signal)
        told = document.decode(data)  # as it will be read, so that all the rest is derived from what a reader has
        for name, render in DERIVED.items():
            write_atomically(self.folder / name, self.redactor.data(render(told)))
        page = self.redactor.data(html.render(told, self.folder))
        listing = sums(self.folder, {html.FILE: page, VERDICT_FILE: data})
        write_atomically(self.folder / SUMS, listing)
        stated = statement.render(told, listing, (self.folder / DEPLOYMENT_FILE).read_bytes())
        write_atomically(self.folder / STATEMENT, stated)
        if self.signing:
            write_atomically(self.folder / ENVELOPE, self.signing.sign(stated))
        write_together(self.folder, {html.FILE: page, VERDICT_FILE: data})

    def _found_leaks(self) -> bool:
        """Scan the written bundle. A file that leaks fails CFG-06, whatever became of it, and is withheld."""
        found = [name for name in self.evidence.leaks() if name not in self._leaks]
        for name in found:
            self.evidence.withhold(name)
        if found:
            self.judge_leaks((*self._leaks, *found))
        return bool(found)

    def judge_leaks(self, names: tuple[str, ...]) -> None:
        """Settle that secrets stood in these files of the bundle."""
        self._leaks = names
        told = f"a secret stood in {', '.join(names)}; withheld from the bundle"
        self.ledger.settle(LEAK_REQUIREMENT, "", Outcome.FAILED, found=told)

    def _verdict_data(self, verdict: Verdict, signal: str | None) -> bytes:
        return self.redactor.data(document.encode(self._document(verdict, signal)))

    def _document(self, verdict: Verdict, signal: str | None) -> Document:
        repository, revision = (self.snapshot.repository, self.snapshot.revision) if self.snapshot else ("", "")
        origin = provenance(self._facts, repository, revision)
        told = Document(
            schema=SCHEMA,
            verdict=verdict,
            headline=self.headline(verdict),
            rehearsal=self.deployment.rehearsal,
            deployment=Deployed(
                self.deployment.name,
                self.deployment.title,
                self.deployment.amends or "",
                self.deployment.validity_days,
            ),
            started=self.started,
            ended=now(),
            interrupted=signal,
            suite=self._suite,
            host=platform.node(),
            signer=self.signing.key_id if self.signing else "",
            conditions=self.ledger.conditions,
            counts=counts(self.ledger.rows),
            requirements=self.ledger.rows,
            stages=self._stages(),
            server_started=self.ledger.server_started,
            leaks=self._leaks,
            fingerprint=fingerprint(self._facts),
            provenance=origin,
            measurements=measurements(self._facts, origin),
            routes=answering_routes(self._facts),
            unknowns=self.ledger.catalogue.unknowns,
            series=tuple(self._series),
        )
        return msgspec.convert(in_all(printable, msgspec.to_builtins(told)), Document)

    def headline(self, verdict: Verdict) -> str:
        """Return a verdict as people read it; a rehearsal says so first, and the conditions follow."""
        return f"{'REHEARSAL: ' if self.deployment.rehearsal else ''}{verdict}{self.ledger.conditions.words}"

    def _stages(self) -> tuple[StageRun, ...]:
        """Return the stages with their times: one lasts until the next begins, the last until now."""
        began = self.ledger.stages_began
        ends = dict(zip(began, [*began.values(), time.time()][1:], strict=True))
        return tuple(
            StageRun(
                stage.id, stage.title, began.get(stage.id), round(ends.get(stage.id, 0.0) - began.get(stage.id, 0.0), 3)
            )
            for stage in self.ledger.catalogue.stages
        )


def now() -> dt.datetime:
    """Return the present moment, UTC, to the second."""
    return dt.datetime.now(dt.UTC).replace(microsecond=0)
