"""Documents and bundles made by hand, without a run."""

from __future__ import annotations

import datetime as dt
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.catalogue import Level
from reports import html
from reports.bundle import Bundle
from reports.conditions import Conditions
from reports.document import SCHEMA, Deployed, Document, StageRun, Suite
from reports.fingerprint import Fingerprint
from reports.ledger import PLAIN, Ledger
from reports.outcomes import Outcome
from reports.provenance import Provenance
from reports.signing import Signing
from reports.verdict import counts, decide

NASTY = "\x1b[31mERR\x1b[0m \x00 </script><script>alert(1)</script> & <b> lone \ud800 \u202egpj.exe"


def pass_all(ledger: Ledger) -> None:
    for row in ledger.rows:
        if row.outcome is Outcome.NOT_RUN and row.level is not Level.ATTEST:
            ledger.settle(row.id, row.case, Outcome.PASSED, found="as wanted")


def new_ledger(conditions: Conditions = PLAIN) -> Ledger:
    return Ledger(catalogues.load(), deployments.load("rehearsal"), snapshots.load("rehearsal"), conditions)


def bundle_in(folder: Path, signing: Signing | None = None) -> Bundle:
    bundle = Bundle(folder, deployments.load("rehearsal"), snapshots.load("rehearsal"), new_ledger(), signing)
    bundle.open()
    return bundle


def document(
    *changes: tuple[str, str, Outcome, str], interrupted: str | None = None, conditions: Conditions = PLAIN
) -> Document:
    ledger = new_ledger(conditions)
    pass_all(ledger)
    for identity, case, outcome, found in changes:
        ledger.settle(identity, case, outcome, found=found)
    verdict = decide(ledger.rows, interrupted=interrupted is not None)
    return Document(
        schema=SCHEMA,
        verdict=verdict,
        headline=f"REHEARSAL: {verdict}{conditions.words}",
        rehearsal=True,
        deployment=Deployed("rehearsal", "Embedded deployment", "", 90),
        started=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        ended=dt.datetime(2026, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
        interrupted=interrupted,
        suite=Suite("0.0.0", "unknown"),
        host="host",
        signer="",
        conditions=conditions,
        counts=counts(ledger.rows),
        requirements=ledger.rows,
        stages=tuple(StageRun(stage.id, stage.title, None, 0.0) for stage in ledger.catalogue.stages),
        server_started=True,
        leaks=(),
        fingerprint=Fingerprint(),
        provenance=Provenance(),
        measurements=(),
        routes=(),
        unknowns=ledger.catalogue.unknowns,
        series=(),
    )


def page(told: Document) -> str:
    return html.render(told, Path("nowhere")).decode()


def new_key(folder: Path, name: str) -> Path:
    """Make a key pair by the documented commands."""
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    private.chmod(0o600)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [str(named["id"])] if "id" in named else []
        self.links += [str(named[name]) for name in ("src", "href") if name in named]
