"""Hostile text in logs, answers and file names: the run ends, every format can be read, and none is bloated or scripted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from reports.document import load
from tests.reports.made import Tags
from tests.running import Ended, Qualify

MARKUP = "</td></script><script>alert(1)</script><img src=x onerror=alert(1)>"
HOSTILE = f"\x1b[31m\x1b]0;owned\x07 \x00\x08 {MARKUP} ]]> %0A::error::forged | `code` \u202egpj.exe \u2028 \ufffe "
UNFIT = {"\x1b", "\x00", "\x07", "\x08", "\u202e"}
NAMES = (b"bad\xff\xfe.py", b"<script>alert(1)<\x1b[2J", b"two\nlines", b"%s{{7*7}}", b"long" * 60)
LOG_LINES, LINE = 20, 1_000_000


def check(qualify: Qualify, ended: Ended) -> str:
    """Hold everything that a run has left to what its readers need; return the page."""
    assert ended.ids("error") == set(), ended.output
    assert "Traceback" not in ended.output
    assert not set(ended.output) & UNFIT
    assert len(ended.output) < 100_000
    page = (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert not {"script", "iframe", "object"} & set(Tags(page).tags)
    assert not set(page) & UNFIT
    assert load(ended.bundle).verdict == ended.verdict
    cases = list(ElementTree.parse(ended.bundle / "junit.xml").iter("testcase"))
    tests = json.loads((ended.bundle / "ctrf.json").read_text(encoding="utf-8"))["results"]["tests"]
    assert len(cases) == len(tests) == len(ended.told["requirements"])
    for path in ended.bundle.iterdir():
        assert path.is_dir() or path.stat().st_size < 1_000_000, path
    again = qualify.replay(ended.bundle)
    assert (again.status, again.last_line.startswith("Replay AGREES")) == (0, True), again.output
    return page


def run(qualify: Qualify, own: Path, **world: object) -> Ended:
    (own / "world.json").write_bytes(msgspec.json.encode(world))
    return qualify("-v", f"--deployment={own}/own.toml", deployment=None, env={"PATH": f"{own}/bin:/usr/bin:/bin"})


def test_a_hostile_log_of_20_mb_breaks_bloats_and_scripts_nothing(qualify: Qualify, own_deployment: Path) -> None:
    lines = [(HOSTILE * (LINE // len(HOSTILE)))[:LINE] for _ in range(LOG_LINES)]

    ended = run(qualify, own_deployment, log_lines=[f"ERROR NCCL error {HOSTILE}", *lines])
    page = check(qualify, ended)

    assert (ended.status, ended.ids("failed")) == (1, {"SRV-10"})
    assert "this checkout has no deployment own" in qualify.replay(ended.bundle).output
    assert (ended.bundle / "artefacts" / "server.log.txt").stat().st_size > LOG_LINES * LINE * 0.9
    assert "NCCL error" in page


def test_hostile_answers_break_bloat_and_script_nothing(qualify: Qualify, own_deployment: Path) -> None:
    ended = run(qualify, own_deployment, prefix=HOSTILE * 200)
    page = check(qualify, ended)

    assert ended.ids("blocked") == set()
    assert {"VFY-05", "VFY-07"} <= ended.ids("failed")
    assert Tags(page).tags.count("img") == 2
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_hostile_file_names_break_bloat_and_script_nothing(qualify: Qualify) -> None:
    model = qualify.folder / "hosting" / "model"
    model.mkdir(parents=True)
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(model) + b"/" + name)).write_bytes(b"x")

    ended = qualify("-v", f"--workdir={model.parent}")
    page = check(qualify, ended)

    assert ended.ids("failed") == {"WTS-05"}
    assert "bad��.py" in page
    assert "two\nlines" in ended.row("WTS-05")["found"]
