"""docs/requirements.md, derived from the catalogue. ``python -m reports.catalogue_page`` writes it anew."""

from __future__ import annotations

import sys

from recipe import catalogue as catalogues
from recipe.catalogue import Catalogue, Requirement
from reports.suite import ROOT

PAGE = ROOT / "docs" / "requirements.md"
HEAD = """\
# Requirements

Generated from `recipe/requirements.toml` by `python -m reports.catalogue_page`; a test fails when it is stale.

Levels: MUST decides the verdict, SHOULD is a remark, RECORD is measured and never judged, ATTEST is stated by a person.
Origin: `guide` is the deployment guide, `suite` is this project beyond the guide.
"""


def render(catalogue: Catalogue) -> str:
    """Return the page: one table for each stage, in run order."""
    parts = [HEAD]
    for stage in catalogue.stages:
        rows = [entry for entry in catalogue.requirements if entry.stage == stage.id]
        note = f" (only with `{stage.option}`)" if stage.option else ""
        parts.append(f"\n## {stage.id}: {stage.title}{note}\n\n")
        parts.append("| id | level | origin | requirement | guide section | remedy |\n|---|---|---|---|---|---|\n")
        parts += [_row(entry) for entry in rows]
    return "".join(parts)


def _row(entry: Requirement) -> str:
    cells = (entry.id, entry.level, entry.origin, entry.says, entry.source, entry.remedy)
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(render(catalogues.load()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
