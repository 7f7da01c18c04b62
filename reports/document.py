"""The one model of a run's result. verdict.json is it; page, JUnit, CTRF and statement are derived from it alone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final, Literal

import msgspec

from recipe.catalogue import Unknown
from recipe.measurements import Measurement
from recipe.series import Series
from recipe.values import Days
from reports.conditions import Conditions
from reports.files import VERDICT_FILE, BundleError, json_bytes
from reports.fingerprint import Fingerprint
from reports.outcomes import Row
from reports.provenance import AnsweringRoute, Provenance
from reports.verdict import Verdict

SCHEMA: Final = "vllm-qualify/verdict/2"


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Version and commit of this suite."""

    version: str
    commit: str


class Deployed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which deployment was judged; deployment.json has all of it. The qualification holds ``validity_days``."""

    name: str
    title: str
    amends: str
    validity_days: Days


class StageRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stage: when it began (seconds since the epoch), and how long it took. None where it was not reached."""

    id: str
    title: str
    began: float | None
    seconds: float


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of verdict.json. Times are UTC, RFC 3339; those of stages and series are seconds since the epoch.

    ``leaks`` are files in which the closing scan found a secret. ``signer`` is the id of the key that signs the bundle.
    """

    schema: Literal["vllm-qualify/verdict/2"]
    verdict: Verdict
    headline: str
    rehearsal: bool
    deployment: Deployed
    started: dt.datetime
    ended: dt.datetime
    interrupted: str | None
    suite: Suite
    host: str
    signer: str
    conditions: Conditions
    counts: dict[str, int]
    requirements: tuple[Row, ...]
    stages: tuple[StageRun, ...]
    server_started: bool
    leaks: tuple[str, ...]
    fingerprint: Fingerprint
    provenance: Provenance
    measurements: tuple[Measurement, ...]
    routes: tuple[AnsweringRoute, ...]
    unknowns: tuple[Unknown, ...]
    series: tuple[Series, ...]


def moment(time: dt.datetime) -> str:
    """Return a time as people read it."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")


def encode(document: Document) -> bytes:
    """Return the bytes of verdict.json."""
    return json_bytes(document)


def load(bundle: Path) -> Document:
    """Read a bundle's verdict.json. Raises `BundleError` for what is not one of this schema."""
    path = bundle / VERDICT_FILE
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise BundleError(f"{path}: {error.strerror}; name the folder of a bundle") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = f"{path} is not of the schema {SCHEMA}: {error}"
        raise BundleError(f"{problem}; it was altered, or written by another version of the suite") from error


def decode(data: bytes) -> Document:
    """Read the bytes of verdict.json. Raises msgspec.DecodeError for what is not of the schema."""
    return msgspec.json.decode(data, type=Document, strict=True)
