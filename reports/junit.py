"""JUnit XML from the rows: what did not pass and is not settled is a failure or an error there, never a skip."""

from __future__ import annotations

from xml.etree import ElementTree

from recipe.catalogue import Level
from reports.document import Document
from reports.outcomes import UNKNOWN, Outcome, Row


def render(document: Document) -> bytes:
    """Return the JUnit file of a run: one test case for each row, stage as class name."""
    rows = document.requirements
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=f"{document.deployment.name}: {document.headline}",
        tests=str(len(rows)),
        failures=str(sum(is_failure(row) for row in rows)),
        errors=str(sum(is_error(row) for row in rows)),
        skipped=str(sum(is_skip(row) for row in rows)),
        time=f"{sum(row.seconds for row in rows):.3f}",
        timestamp=document.started.isoformat(),
    )
    for row in rows:
        _case(suite, row)
    return b"%b\n" % ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def is_failure(row: Row) -> bool:
    """A requirement that was judged and not met."""
    return row.outcome is Outcome.FAILED


def is_error(row: Row) -> bool:
    """A requirement that should have been judged and was not."""
    return row.outcome in UNKNOWN and row.level is not Level.ATTEST


def is_skip(row: Row) -> bool:
    """Not applicable, waived, or an attestation that is open, each with its words: none of them reads as passed."""
    return row.outcome in (Outcome.NOT_APPLICABLE, Outcome.WAIVED) or (
        row.level is Level.ATTEST and row.outcome is Outcome.NOT_RUN
    )


def _case(suite: ElementTree.Element, row: Row) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=row.stage, name=row.name, time=f"{row.seconds:.3f}")
    properties = ElementTree.SubElement(case, "properties")
    for name, value in (("requirement", row.id), ("stage", row.stage), ("outcome", row.outcome), ("level", row.level)):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    kind = "failure" if is_failure(row) else "error" if is_error(row) else "skipped" if is_skip(row) else None
    if kind:
        element = ElementTree.SubElement(case, kind, message=f"{row.outcome}: {row.found}")
        element.text = row.told
    elif row.found:
        ElementTree.SubElement(case, "system-out").text = f"wanted: {row.wanted}\nfound: {row.found}"
