"""Does a qualification still hold on this host? What it stood on against what is here now, and its age."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from reports.document import Document
from reports.facts import Facts
from reports.files import DEPLOYMENT_FILE, BundleError
from reports.fingerprint import Fingerprint, fingerprint
from reports.suite import ROOT

READING_S = 20.0
ALL = "all of it"


class State(StrEnum):
    """What became of one aspect."""

    HOLDS = "holds"
    CHANGED = "changed"
    VOID = "void"
    UNKNOWN = "unknown"


class Aspect(msgspec.Struct, frozen=True):
    """One aspect of a qualification: what is to be said of it, and what a new run would have to judge again."""

    name: str
    state: State
    told: str
    judges_again: str = ""


def facts_now(bundle: Path, model_folder: str) -> Facts:
    """Return what is here now, as a program of its own reads it. Raises `BundleError` where that gives no answer."""
    argv = [sys.executable, "-m", "fixtures.fingerprint", str((bundle / DEPLOYMENT_FILE).resolve()), model_folder]
    try:
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, timeout=READING_S, check=True)
        return Facts(msgspec.json.decode(done.stdout, type=dict[str, Any]))
    except subprocess.TimeoutExpired as error:
        raise BundleError(
            f"this host could not be read within {READING_S:.0f} s; look at it with --stage=hst"
        ) from error
    except (subprocess.CalledProcessError, msgspec.DecodeError) as error:
        lines = getattr(error, "stderr", b"").decode("utf-8", "replace").strip().splitlines()
        raise BundleError(f"this host could not be read: {lines[-1] if lines else error}") from error


def standing(told: Document, now: Facts, today: dt.date) -> tuple[Aspect, ...]:
    """Return every aspect of a qualification, as it stands now."""
    then, here = told.fingerprint, fingerprint(now)
    ground = [aspect for aspect in _by_ground(then, here, now) if aspect]
    nothing = Aspect("ground", State.UNKNOWN, "nothing was recorded that could be compared", ALL)
    return (*_by_itself(told, today), *(ground or [nothing]))


def _by_itself(told: Document, today: dt.date) -> Iterator[Aspect]:
    holds = told.verdict.qualifies and not told.rehearsal
    yield Aspect("verdict", State.HOLDS if holds else State.VOID, told.headline, "" if holds else ALL)
    days, valid = (today - told.ended.date()).days, told.deployment.validity_days
    fresh = 0 <= days <= valid  # a bundle from the future was made under a wrong clock
    yield Aspect("age", State.HOLDS if fresh else State.VOID, f"{days} of {valid} days", "" if fresh else ALL)


def _by_ground(then: Fingerprint, here: Fingerprint, now: Facts) -> Iterator[Aspect | None]:
    gpus, image = now.lack("gpus"), now.lack("derived_image", "image")
    yield _compared("driver", then.driver, here.driver, gpus, "host and service")
    yield _compared("GPUs", "; ".join(then.gpus), "; ".join(here.gpus), gpus, "host and service")
    yield _compared("image", then.image, here.image, image, "image and service")
    yield _files(then, here)
    yield _arguments(then, here, now)


def _compared(name: str, then: str, here: str, lack: tuple[bool, str], judges_again: str) -> Aspect | None:
    """Compare one value; ``lack`` tells of one that is not there now whether it is gone, and why."""
    if not then:
        return None
    if not here:
        gone, why = lack
        return Aspect(name, State.CHANGED if gone else State.UNKNOWN, f"was {then}, now: {why}", judges_again)
    if then == here:
        return Aspect(name, State.HOLDS, then)
    return Aspect(name, State.CHANGED, f"was {then}, is {here}", judges_again)


def _files(then: Fingerprint, here: Fingerprint) -> Aspect | None:
    """Compare the sizes of the model's files; their hashes take a run."""
    if not then.files:
        return None
    changed = [name for name, size in then.files.items() if here.files.get(name) != size]
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    if changed:
        told = f"not as they were: {', '.join(changed[:3])}{more} in {then.model_folder}"
        return Aspect("files", State.CHANGED, told, "weights and service")
    return Aspect("files", State.HOLDS, f"{len(then.files)} of the same sizes in {then.model_folder}")


def _arguments(then: Fingerprint, here: Fingerprint, now: Facts) -> Aspect | None:
    """Compare the arguments of the server that runs now; where none runs there is nothing to compare."""
    if not then.arguments:
        return None
    gone, why = now.lack("container")
    if now.get("container") is None and not gone:
        return Aspect("arguments", State.UNKNOWN, f"the server that may run: {why}", "service")
    if not now.get("container", "running"):
        return Aspect("arguments", State.HOLDS, "no server of that name runs now; the next run judges the next start")
    image = now.text("container", "image_id")
    if image and image != then.image:
        return Aspect("arguments", State.CHANGED, f"the server runs image {image}", "service")
    return _compared("arguments", " ".join(then.arguments), " ".join(here.arguments), (gone, why), "service")
