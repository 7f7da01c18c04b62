"""The clean rehearsal. Each fault through a whole one is tests/detection."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

from recipe import catalogue as catalogues
from tests.running import ROOT, Qualify


def test_the_clean_rehearsal_passes_and_says_that_it_is_one(qualify: Qualify) -> None:
    ended = qualify()

    assert ended.status == 0, ended.output
    assert ended.verdict == "QUALIFIED"
    assert ended.told["rehearsal"] is True
    assert not ended.ids("failed") | ended.ids("blocked") | ended.ids("error") | ended.ids("not run")
    assert ended.ids("not applicable") == {"RMV-01", "RMV-02"}
    assert "REHEARSAL: QUALIFIED" in ended.output
    assert not re.search(r"(?<!REHEARSAL: )\bQUALIFIED\b", ended.output)
    report = (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"(?<!REHEARSAL: )\bQUALIFIED\b", report)
    assert qualify.leftovers() == []


def test_the_bundle_is_complete_and_agrees_with_itself(qualify: Qualify) -> None:
    ended = qualify()
    told = ended.told
    suite = ElementTree.parse(ended.bundle / "junit.xml").getroot().find("testsuite")
    assert suite is not None

    assert set(told) >= {
        "schema",
        "verdict",
        "rehearsal",
        "deployment",
        "started",
        "ended",
        "suite",
        "requirements",
        "counts",
    }
    assert set(told["suite"]) == {"version", "commit"}
    keys = {"id", "case", "level", "origin", "outcome", "says", "source"}
    keys |= {"wanted", "found", "remedy", "seconds", "evidence"}
    assert all(set(row) == keys for row in told["requirements"])
    assert dict(Counter(row["outcome"] for row in told["requirements"])) == told["counts"]
    assert len(suite.findall("testcase")) == len(told["requirements"])
    for row in told["requirements"]:
        assert row["outcome"] not in ("passed", "recorded") or (row["found"] and row["evidence"]), row["id"]
        for path in row["evidence"]:
            assert (ended.bundle / path).is_file()
    assert list(dict.fromkeys(row["id"] for row in told["requirements"])) == [
        entry.id for entry in catalogues.load().requirements
    ]
    for fact in (ended.bundle / "facts").iterdir():
        json.loads(fact.read_text(encoding="utf-8"))
    artefacts = {path.name for path in (ended.bundle / "artefacts").iterdir()}
    assert artefacts == {
        "image-build.txt",
        "image-diagnostics.txt",
        "image-response.json",
        "memory-samples.jsonl",
        "server.log.txt",
        "unseen-headline.png",
        "without-text.png",
    }
    assert "Application startup complete" in (ended.bundle / "artefacts" / "server.log.txt").read_text(encoding="utf-8")
    log = (ended.bundle / "log.html").read_text(encoding="utf-8")
    assert "REHEARSAL, the test runner&#39;s log" in log or "REHEARSAL, the test runner's log" in log
    assert 'data-column-type="requirement"' in log
    assert 'data-column-type="outcome"' in log
    assert log.count("qualification/test_") >= len([row for row in told["requirements"] if row["evidence"]])


def test_a_long_output_is_cut_in_the_log_and_kept_whole(qualify: Qualify) -> None:
    talker = "def pytest_runtest_call(item):\n    if 'hst_01' in item.nodeid:\n        print('<b>spam</b>' * 10000)\n"
    (qualify.folder / "talker.py").write_text(talker, encoding="utf-8")

    ended = qualify(plugins=("no:cacheprovider", "talker"), env={"PYTHONPATH": str(qualify.folder)})
    log = (ended.bundle / "log.html").read_text(encoding="utf-8")

    assert ended.verdict == "QUALIFIED"
    assert "90,001 more characters in artefacts/HST-01-Captured-stdout-call.txt" in log
    kept = ended.bundle / "artefacts" / "HST-01-Captured-stdout-call.txt"
    assert kept.read_text(encoding="utf-8") == f"{'<b>spam</b>' * 10000}\n"
    assert log.count("spam") < 2_000


def test_a_reader_that_goes_away_does_not_end_the_run(qualify: Qualify) -> None:
    bundle = qualify.folder / "unread"
    argv = [sys.executable, "-m", "pytest", "-m", "qualify", "--deployment=rehearsal", f"--bundle={bundle}"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.wait(60)

    assert json.loads((bundle / "verdict.json").read_text(encoding="utf-8"))["verdict"] == "QUALIFIED"


def test_the_rehearsal_needs_no_proxy_and_no_name(qualify: Qualify) -> None:
    dead = "http://127.0.0.1:9"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")

    ended = qualify(env=dict.fromkeys(names, dead) | {"no_proxy": "", "NO_PROXY": ""})

    assert ended.verdict == "QUALIFIED", ended.output


def test_a_folder_set_up_before_is_qualified_as_it_stands(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    first = qualify(f"--workdir={workdir}")
    before = {path: path.stat().st_mtime_ns for path in workdir.rglob("*") if path.is_file()}

    second = qualify(f"--workdir={workdir}", "--fault", "shard-forbidden")

    assert (first.verdict, second.verdict) == ("QUALIFIED", "QUALIFIED"), second.output
    rewritten = {path.name for path, at in before.items() if path.stat().st_mtime_ns != at}
    assert rewritten <= {
        "image-request.json",
        "image-response.json",
        "container-environment.txt",
        "derived-image-id.txt",
    }
    assert "was there" in second.row("WTS-01")["found"]
    assert not (workdir / ".qualify.lock").exists()


def test_remove_takes_the_work_folder_and_nothing_else(qualify: Qualify) -> None:
    workdir = qualify.folder / "parent" / "hosting"
    neighbour = workdir.parent / "neighbour"
    neighbour.mkdir(parents=True)

    ended = qualify(f"--workdir={workdir}", "--remove")

    assert ended.verdict == "QUALIFIED", ended.output
    assert {"RMV-01", "RMV-02"} <= ended.ids("passed")
    assert not workdir.exists()
    assert neighbour.is_dir()


def test_remove_keeps_a_folder_that_holds_something_else(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    workdir.mkdir()
    (workdir / "thesis.tex").write_text("years of work", encoding="utf-8")

    ended = qualify(f"--workdir={workdir}", "--remove")

    assert ended.ids("failed") == {"RMV-01"}
    assert "thesis.tex" in ended.row("RMV-01")["found"]
    assert (workdir / "thesis.tex").exists()


def test_two_faults_are_both_told_in_one_run(qualify: Qualify) -> None:
    ended = qualify("--fault", "gpu-mig", "--fault", "toolkit-not-configured")

    assert ended.ids("failed") == {"HST-04", "HST-09"}
