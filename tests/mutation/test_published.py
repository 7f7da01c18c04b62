"""The published score: no survivor without a reason, and the README says the same."""

from __future__ import annotations

import json

from reports.suite import ROOT


def test_the_readme_has_the_published_score_and_every_survivor_its_reason() -> None:
    score = json.loads((ROOT / "docs" / "mutation.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert score["unexplained"] == 0
    assert score["killed"] + score["survive"] == score["mutants"] > 2_000
    assert f"| mutants killed | {score['killed']:,} of {score['mutants']:,} |" in readme
