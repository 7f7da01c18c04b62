"""CTRF, the Common Test Report Format, from the rows: what was not judged is failed there, never skipped."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Any

from reports.document import Document
from reports.files import json_bytes
from reports.junit import is_error, is_failure, is_skip
from reports.outcomes import Row

SPEC_VERSION = "0.0.0"
STATUSES = ("passed", "failed", "skipped", "pending", "other")


def render(document: Document) -> bytes:
    """Return the CTRF file of a run: one test for each row, its own word as raw status."""
    titles = {stage.id: stage.title for stage in document.stages}
    tests = [_test(row, titles[row.stage]) for row in document.requirements]
    number = Counter(test["status"] for test in tests)
    summary = {
        "tests": len(tests),
        **{status: number[status] for status in STATUSES},
        "start": _milliseconds(document.started),
        "stop": _milliseconds(document.ended),
        "extra": {"verdict": document.verdict, "headline": document.headline},
    }
    content = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "timestamp": document.ended.isoformat(),
        "generatedBy": f"vllm-qualify {document.suite.version}",
        "results": {
            "tool": {"name": "vllm-qualify", "version": document.suite.version},
            "summary": summary,
            "tests": tests,
            "environment": {"appName": document.deployment.name, "commit": document.suite.commit},
        },
    }
    return json_bytes(content)


def _test(row: Row, stage: str) -> dict[str, Any]:
    return {
        "name": row.name,
        "status": _status(row),
        "duration": round(row.seconds * 1000),
        "suite": [stage],
        "message": row.told,
        "rawStatus": row.outcome.value,
        "tags": [row.level.value, row.origin.value],
        "labels": {"requirement": row.id, "stage": row.stage, "case": row.case},
    }


def _status(row: Row) -> str:
    if is_failure(row) or is_error(row):
        return "failed"
    return "other" if is_skip(row) else "passed"


def _milliseconds(time: dt.datetime) -> int:
    return round(time.timestamp() * 1000)
