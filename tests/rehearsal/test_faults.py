"""The rehearsal's faults: that they fit, change something, and leave no judged requirement out."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.rehearsal.faults import faults, simulate
from fixtures.rehearsal.world import World
from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe.catalogue import Level


def test_a_world_without_faults_has_the_documented_gpus() -> None:
    host = simulate((), deployments.load("ernie-4.5-vl-28b.h200-tp1").host).host

    assert [gpu.name for gpu in host.gpus] == ["NVIDIA H200"]
    assert host.gpus[0].memory_total > 67 * 10**9


def test_faults_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    text = '[[fault]]\nname = "a"\nsays = "b"\ncatches = "HST-01"\nset = { "host.colour" = 1 }\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="colour"):
        faults(path)
    path.write_text(text.replace("host.colour", "ghost.colour.0"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"ghost\.colour\.0: the simulated world has no such place"):
        faults(path)

    good = text.replace("host.colour", "host.architecture").replace("= 1 }", '= "arm" }')
    path.write_text(good + good, encoding="utf-8")
    with pytest.raises(ValueError, match="stands twice"):
        faults(path)
    path.write_text(good, encoding="utf-8")
    assert simulate(fault.set for fault in faults(path).values()).host.architecture == "arm"


def test_every_judged_requirement_has_its_fault() -> None:
    catalogue = catalogues.load()
    judged = {entry.id: entry.level for entry in catalogue.requirements if entry.level in (Level.MUST, Level.SHOULD)}

    assert {fault.catches for fault in faults().values()} == set(judged)
    for fault in faults().values():
        assert (fault.outcome == "remark") == (judged[fault.catches] is Level.SHOULD), fault.name


def test_every_fault_changes_the_world() -> None:
    for fault in faults().values():
        assert simulate([fault.set]) != World(), fault.name
