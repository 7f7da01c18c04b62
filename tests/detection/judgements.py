"""Single judgements out of whole runs: a requirement's test, the facts that it was given, and what must come of them.

A whole rehearsal takes seconds, its judgements take microseconds: so every one of them can be asked again and again, by
the mutation tests thousands of times. ``python -m tests.detection --keep DIR`` leaves them as ``DIR/judgements.json``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from _pytest.fixtures import FixtureFunctionDefinition

import conftest
from fixtures.rehearsal.faults import Fault
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.deployment import Deployment
from recipe.judgement import Blocked, Judgement
from recipe.snapshot import Snapshot
from reports.replay import kind_of_fact
from reports.suite import ROOT

FILE = "judgements.json"
PLAIN = "plain"  # the run without any fault or variation
FILE_CASES = {"shard", "auxiliary"}
SCRATCH = re.compile(rb'/[^"\s]*/vllm-qualify-\w+')
JUDGED = ("passed", "failed", "blocked", "recorded")


class Case(msgspec.Struct, frozen=True):
    """One judgement. ``facts`` are by fixture; ``outcome`` is what must come of them, and ``tells`` what it must say."""

    requirement: str
    run: str
    file: str
    facts: dict[str, msgspec.Raw]
    outcome: str
    tells: str = ""


def gather(folder: Path, faults: Iterable[Fault], worlds: Iterable[str]) -> None:
    """Write the distinct judgements of all kept runs.

    What must come of one is not what came of it but what the catalogue of faults says: a requirement fails where a fault
    names it, and passes in every other run that judged it.
    """
    cases: dict[bytes, Case] = {}
    for world in worlds:
        for case in _cases(folder / world, None):
            cases.setdefault(_key(case), case)
    for fault in faults:
        for case in _cases(folder / fault.name, fault):
            cases.setdefault(_key(case), case)
    (folder / FILE).write_bytes(msgspec.json.encode(list(cases.values())))


def load(path: Path) -> dict[str, list[Case]]:
    """Return all cases by requirement."""
    cases: dict[str, list[Case]] = {}
    for case in msgspec.json.decode(path.read_bytes(), type=list[Case]):
        cases.setdefault(case.requirement, []).append(case)
    return cases


def judge(case: Case, deployment: Deployment | None = None) -> tuple[str, Judgement]:
    """Ask the requirement's own test about a case's facts; return the outcome, and what it wanted and found."""
    function, judgement = tests()[case.requirement], Judgement("")
    given: dict[str, Any] = {"requirement": judgement, "deployment": deployment or ground()[0], "snapshot": ground()[1]}
    given |= dict.fromkeys(FILE_CASES, case.file)
    given |= {name: msgspec.json.decode(raw, type=_kinds()[name]) for name, raw in case.facts.items()}
    try:
        function(**{name: given[name] for name in inspect.signature(function).parameters})
    except Blocked:
        return "blocked", judgement
    except AssertionError:
        return "failed", judgement
    return "recorded" if case.outcome == "recorded" and judgement.found else "passed", judgement


@functools.cache
def tests() -> dict[str, Callable[..., None]]:
    """Return the tests of the qualification by requirement."""
    found: dict[str, Callable[..., None]] = {}
    for path in sorted((ROOT / "qualification").glob("test_*.py")):
        for name, value in vars(importlib.import_module(f"qualification.{path.stem}")).items():
            if match := re.match(r"test_([a-z]{3})_(\d\d)_", name):
                found[f"{match[1].upper()}-{match[2]}"] = value
    return found


@functools.cache
def ground() -> tuple[Deployment, Snapshot | None]:
    deployment = deployments.load("rehearsal")
    return deployment, snapshots.documented(deployment.snapshot)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return the type of fact that each session fixture gives."""
    given: dict[str, Any] = {}
    for plugin in conftest.pytest_plugins:
        for name, value in vars(importlib.import_module(plugin)).items():
            if isinstance(value, FixtureFunctionDefinition) and plugin.startswith("fixtures."):
                given[name] = kind_of_fact(value._get_wrapped_function())
    return given


def _cases(bundle: Path, fault: Fault | None) -> Iterator[Case]:
    """Yield what a run judged itself: not what another requirement blocked, and so without facts."""
    for row in json.loads((bundle / "verdict.json").read_text(encoding="utf-8"))["requirements"]:
        if row["outcome"] not in JUDGED or row["found"].startswith("blocked by "):
            continue
        outcome = _outcome(row, fault)
        names = inspect.signature(tests()[row["id"]]).parameters.keys() - {"requirement", "deployment", "snapshot"}
        files = {name: bundle / "facts" / f"{name}.json" for name in sorted(names - FILE_CASES)}
        if not all(path.is_file() for path in files.values()):
            continue
        facts = {name: msgspec.Raw(SCRATCH.sub(b"/work", path.read_bytes())) for name, path in files.items()}
        tells = fault.tells if fault and row["id"] == fault.catches and outcome != "passed" else ""
        yield Case(row["id"], bundle.name, row["case"], facts, outcome, tells)


def _outcome(row: dict[str, Any], fault: Fault | None) -> str:
    """Return what must become of a row, by the catalogue of faults; of one of several files, what became of it."""
    named = {fault.catches, *fault.also} if fault else set()
    if row["id"] in named or row["outcome"] == "blocked":
        return str(row["outcome"])
    return "recorded" if row["level"] == "RECORD" else "passed"


def _key(case: Case) -> bytes:
    return msgspec.json.encode((case.requirement, case.file, case.facts, case.outcome), order="sorted")
