"""Our pages in headless Chromium, which `.ci/run` installs. Without one these tests skip; in CI they fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, sync_playwright

from recipe.catalogue import Level
from reports import overview
from reports.document import encode
from reports.files import write_atomically
from reports.outcomes import Outcome
from tests.reports.made import NASTY, bundle_in
from tests.reports.made import document as made
from tests.running import ROOT

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(f"none of {', '.join(PROGRAMS)} is installed; .ci/run installs chromium")
        pytest.skip(f"none of {', '.join(PROGRAMS)} is installed")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A rehearsal's report, one with failures, one in which all that was found is hostile, and an overview of them."""
    folder = tmp_path_factory.mktemp("bundles")
    for name, fault in (("clean", ()), ("failed", ("--fault=gpu-mig", "--fault=cuda-on-host"))):
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "qualify",
            "--deployment=rehearsal",
            f"--bundle={folder / name}",
            *fault,
        ]
        subprocess.run(argv, cwd=ROOT, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    rows = [row for row in made().requirements if row.level is not Level.ATTEST]
    outcomes = [*Outcome] * len(rows)
    told = made(*((row.id, row.case, outcome, NASTY * 9) for row, outcome in zip(rows, outcomes, strict=False)))
    told = msgspec.structs.replace(
        told, host=NASTY.replace("\ud800", ""), interrupted="SIGTERM", leaks=("artefacts/x",)
    )
    bundle = bundle_in(folder / "hostile")
    write_atomically(bundle.folder / "verdict.json", encode(told))
    subprocess.run([sys.executable, "-m", "reports", "render", str(bundle.folder)], cwd=ROOT, check=True)
    found = {name: folder / name / "report.html" for name in ("clean", "failed", "hostile")}
    return {**found, "overview": overview.write(folder)}
