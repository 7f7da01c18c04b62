"""The in-toto statement of a run: what was tested, by which configuration, with which result. It covers every file."""

from __future__ import annotations

import hashlib
from typing import Any

from recipe.catalogue import Level
from reports.document import Document
from reports.files import SUMS, json_bytes
from reports.outcomes import SETTLED, UNKNOWN, Outcome, Row
from reports.verdict import Verdict

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
WARNING = (Verdict.WITH_REMARKS, Verdict.WITH_WAIVERS)


def render(document: Document, sums: bytes, deployment: bytes) -> bytes:
    """Return the statement over the list of files, the image and the model snapshot. The same run gives the same bytes.

    ``deployment`` is the content of deployment.json, which is the configuration of the test.
    """
    content = {
        "_type": STATEMENT_TYPE,
        "subject": list(_subjects(document, sums)),
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": result(document),
            "configuration": [
                {"name": document.deployment.name, "digest": {"sha256": hashlib.sha256(deployment).hexdigest()}},
                {"name": f"vllm-qualify {document.suite.version}", "annotations": {"commit": document.suite.commit}},
            ],
            "passedTests": _names(document, _passed),
            "warnedTests": _names(document, _warned),
            "failedTests": _names(document, _failed),
            "vllmQualify": {"headline": document.headline, "ended": document.ended.isoformat()},
        },
    }
    return json_bytes(content)


def result(document: Document) -> str:
    """Return in-toto's word for the verdict. A rehearsal has tested no host: no policy must take it for a pass."""
    if document.rehearsal or not document.verdict.qualifies:
        return "FAILED"
    return "WARNED" if document.verdict in WARNING else "PASSED"


def _subjects(document: Document, sums: bytes) -> Any:
    yield {"name": SUMS, "digest": {"sha256": hashlib.sha256(sums).hexdigest()}}
    if document.fingerprint.image:
        yield {"name": "image", "digest": {"sha256": document.fingerprint.image.removeprefix("sha256:")}}
    if document.provenance.revision:
        yield {"name": document.provenance.repository, "digest": {"gitCommit": document.provenance.revision}}


def _names(document: Document, wanted: Any) -> list[str]:
    return [row.name for row in document.requirements if wanted(row)]


def _passed(row: Row) -> bool:
    return row.outcome is Outcome.PASSED


def _warned(row: Row) -> bool:
    """A waived requirement, or a SHOULD that did not pass."""
    return row.outcome is Outcome.WAIVED or (row.level is Level.SHOULD and row.outcome not in SETTLED)


def _failed(row: Row) -> bool:
    """A MUST that failed or could not be judged."""
    return row.level is Level.MUST and (row.outcome is Outcome.FAILED or row.outcome in UNKNOWN)
