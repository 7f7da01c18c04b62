"""A bundle judged again on another day: the same outcomes from its facts, and a difference for whatever was changed in it."""

from __future__ import annotations

import importlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.fixtures import FixtureFunctionDefinition

import conftest
from reports.replay import kind_of_fact
from tests.running import ROOT, Ended, Qualify


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a rehearsal in which one MUST and one SHOULD failed, late enough that all was judged."""
    ended = Qualify(tmp_path_factory.mktemp("recorded"))("--fault=answer-cut", "--fault=cuda-on-host")
    assert ended.ids("failed") >= {"VFY-05", "HST-12"}, ended.output
    return ended.bundle


@pytest.fixture
def bundle(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "copy"))


def change_row(bundle: Path, identity: str, **values: Any) -> None:
    path = bundle / "verdict.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    for row in told["requirements"]:
        if row["id"] == identity:
            row |= values
    path.write_text(json.dumps(told), encoding="utf-8")


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_replay_changes_nothing_and_leaves_nothing(qualify: Qualify, bundle: Path) -> None:
    before = {path: path.read_bytes() for path in bundle.rglob("*") if path.is_file()}

    again = qualify.replay(bundle)

    assert again.status == 0, again.output
    assert again.last_line == "Replay AGREES with the recorded verdict: REHEARSAL: NOT QUALIFIED"
    assert "failed" in again.output
    assert "What was to be met is what recipe/deployments/rehearsal.toml states here" in again.output
    assert {path: path.read_bytes() for path in bundle.rglob("*") if path.is_file()} == before
    assert qualify.leftovers() == []


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "outcome": (
        lambda b: change_row(b, "VFY-05", outcome="passed"),
        "VFY-05: outcome: recorded <Outcome.PASSED: 'passed'>",
    ),
    "hidden failure": (
        lambda b: change_row(b, "VFY-05", outcome="not run"),
        "verdict: recorded NOT QUALIFIED, replayed",
    ),
    "found": (lambda b: change_row(b, "HST-05", found="driver 999"), "HST-05: found: recorded 'driver 999'"),
    "level": (lambda b: change_row(b, "VFY-05", level="RECORD"), "VFY-05: level: recorded"),
    "remedy": (lambda b: change_row(b, "VFY-05", remedy="Nothing to do."), "VFY-05: remedy: recorded"),
    "fact": (lambda b: replace_in(b / "facts" / "reply.json", '"length"', '"stop"'), "VFY-05: outcome: recorded"),
    "fact of another type": (
        lambda b: replace_in(b / "facts" / "gpus.json", '"GpuInventory"', '"Absent"'),
        "HST-03: outcome: recorded",
    ),
    "missing fact": (lambda b: (b / "facts" / "gpus.json").unlink(), "the bundle holds no fact gpus"),
    "weaker deployment": (
        lambda b: replace_in(b / "deployment.json", '"575.57.08"', '"570.0"'),
        "HST-05: wanted: recorded 'driver 575.57.08 or newer",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_a_difference(qualify: Qualify, bundle: Path, name: str) -> None:
    change, told = CHANGES[name]
    change(bundle)

    again = qualify.replay(bundle)

    assert again.status == 1, again.output
    assert told in again.output
    assert (name == "weaker deployment") is ("What was to be met is NOT what recipe/" in again.output)
    assert again.last_line == "Replay DIFFERS from the recorded verdict: REHEARSAL: NOT QUALIFIED"
    assert "Traceback" not in again.output


def test_a_requirement_that_is_missing_is_a_difference(qualify: Qualify, bundle: Path) -> None:
    path = bundle / "verdict.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    told["requirements"] = [row for row in told["requirements"] if row["id"] != "VFY-05"]
    path.write_text(json.dumps(told), encoding="utf-8")

    again = qualify.replay(bundle)

    assert again.status == 1
    assert "VFY-05: this suite's catalogue has it, the bundle does not" in again.output


@pytest.mark.parametrize(
    "options",
    [("--stage=hst",), ("-k", "hst_05 or vfy_01"), ("--fault=nvml-hangs",), ("--remove",)],
    ids=["stage", "thinned out", "hanging", "remove"],
)
def test_any_run_can_be_replayed(qualify: Qualify, options: tuple[str, ...]) -> None:
    ended = qualify(*options)

    again = qualify.replay(ended.bundle)

    assert again.status == 0, again.output
    assert again.last_line.endswith(ended.told["headline"])


def test_an_interrupted_run_can_be_replayed(qualify: Qualify) -> None:
    started = qualify.start()
    started.until("Service")
    started.process.send_signal(signal.SIGTERM)
    ended = started.wait()

    again = qualify.replay(ended.bundle)

    assert (ended.verdict, again.status) == ("INCOMPLETE", 0), again.output


def refused(*options: str) -> Ended:
    argv = [sys.executable, "-m", "pytest", "-m", "qualify", *options]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return Ended(done.returncode, done.stdout + done.stderr, Path())


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--deployment=rehearsal", "leave --deployment out"),
        ("--bundle=/tmp/x", "leave --bundle out"),
        ("--workdir=/tmp/x", "leave --workdir out"),
        ("--fault=gpu-mig", "leave --fault out"),
        ("--remove", "leave --remove out"),
    ],
)
def test_a_replay_takes_everything_from_the_bundle(bundle: Path, option: str, told: str) -> None:
    ended = refused(f"--replay={bundle}", option)

    assert ended.status == 4
    assert f"--replay takes all from the bundle: {told}" in ended.output


def test_what_is_no_bundle_is_refused_in_one_line(tmp_path: Path, bundle: Path) -> None:
    assert "name the folder of a bundle" in refused(f"--replay={tmp_path}").output
    (bundle / "deployment.json").unlink()
    ended = refused(f"--replay={bundle}")

    assert (ended.status, "Traceback" in ended.output) == (4, False)
    assert "deployment.json: No such file or directory; the bundle is not whole" in ended.output


def test_every_fact_that_a_fixture_gives_can_be_read_back() -> None:
    given: dict[str, Any] = {}
    for plugin in conftest.pytest_plugins:
        for name, value in vars(importlib.import_module(plugin)).items():
            if isinstance(value, FixtureFunctionDefinition) and plugin.startswith("fixtures."):
                given[name] = kind_of_fact(value._get_wrapped_function())
    live = {name for name, kind in given.items() if kind is None}

    assert live == {"run", "progress", "say", "keep", "sampler", "client"}
    for name in given.keys() - live:
        msgspec.json.Decoder(given[name])
