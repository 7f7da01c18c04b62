"""Is a bundle what its signer wrote? Signature, list, schema, and a verdict that follows from its rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from securesystemslib.signer import SSlibKey

from reports import document, signing, statement
from reports.document import Document
from reports.files import DEPLOYMENT_FILE, ENVELOPE, STATEMENT, SUMS, BundleError, listed, read_sums, sha256
from reports.verdict import counts, decide


def problems(bundle: Path, key: SSlibKey) -> Iterator[str]:
    """Yield what speaks against a bundle, a line each; nothing where all is as the holder of the key signed it."""
    try:
        told = document.load(bundle)
    except BundleError as error:
        yield str(error)
    else:
        yield from _contradictions(told)
        yield from _of_statement(bundle, told)
    yield from _of_list(bundle)
    yield from _of_signature(bundle, key)


def _contradictions(told: Document) -> Iterator[str]:
    """The verdict must follow from the rows, by the rule that anybody can apply again."""
    rows = told.requirements
    follows = decide(rows, interrupted=told.interrupted is not None, remarks=bool(told.conditions.unpinned))
    if follows is not told.verdict:
        yield f"the verdict does not follow from its rows: it says {told.verdict}, they make {follows}"
    if counts(rows) != told.counts:
        yield f"the counts are not those of the rows: {told.counts} and {counts(rows)}"
    if str(told.verdict) not in told.headline or told.rehearsal != told.headline.startswith("REHEARSAL: "):
        yield f"the headline is not that of the verdict: {told.headline!r}"


def _of_list(bundle: Path) -> Iterator[str]:
    """Every file must be listed with its hash, and every listed one be there."""
    try:
        wanted = read_sums((bundle / SUMS).read_bytes())
    except OSError as error:
        yield f"{SUMS}: {error.strerror}; without the list nobody can tell what belongs to the bundle"
        return
    except BundleError as error:
        yield str(error)
        return
    there = set(listed(bundle))
    for name, digest in wanted.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            yield f"{name}: listed, but leads out of the bundle"
        elif name not in there:
            yield f"{name}: missing; the list has it"
        elif (bundle / name).is_symlink():
            yield f"{name}: altered; it is a link"
        elif not (bundle / name).is_file() or sha256(bundle / name) != digest:
            yield f"{name}: altered; its SHA256 is not the listed one"
    for name in sorted(there.difference(wanted)):
        yield f"{name}: extra; the list does not have it"


def _of_statement(bundle: Path, told: Document) -> Iterator[str]:
    """The statement must be the one over this list, this image, this model and this verdict."""
    try:
        stated = msgspec.json.decode((bundle / STATEMENT).read_bytes(), type=dict[str, Any])
        sums, deployment = (bundle / SUMS).read_bytes(), (bundle / DEPLOYMENT_FILE).read_bytes()
    except OSError as error:
        yield f"{error.filename}: {error.strerror}"
        return
    except msgspec.DecodeError as error:
        yield f"{STATEMENT}: altered; {error}"
        return
    wanted = msgspec.json.decode(statement.render(told, sums, deployment), type=dict[str, Any])
    for part in wanted:
        if stated.get(part) != wanted[part]:
            yield f"{STATEMENT}: its {part} is not that of this bundle"


def _of_signature(bundle: Path, key: SSlibKey) -> Iterator[str]:
    path = bundle / ENVELOPE
    if not path.is_file():
        yield f"unsigned: there is no {ENVELOPE}; run with --sign-key, or ask the signer for it"
        return
    try:
        payload = signing.verified(path.read_bytes(), key)
        if payload != (bundle / STATEMENT).read_bytes():
            yield f"{STATEMENT}: altered; it is not the one that was signed"
    except signing.SigningError as error:
        yield str(error)
    except OSError as error:
        yield f"{error.filename}: {error.strerror}"
