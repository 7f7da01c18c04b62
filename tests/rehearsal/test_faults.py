"""The rehearsal's faults: that they fit, and that the host's publicly reported ones are all among them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fixtures.rehearsal.faults import faults, simulate
from recipe import deployment as deployments

# Reports of a wrong host, driver, engine or toolkit. Not among them: a table of nvidia-smi that is parsed wrongly (it is not
# parsed), and names as bytes (no fault of a host).
REPORTED = {
    "G01", "G03", "G04", "G06", "G08", "G09", "G10", "G11", "G12", "G14", "G15", "G16", "G17", "G18", "G19",
    "D01", "D02", "D03", "D04", "D05", "D06", "D07", "D09", "D14", "D15",
}  # fmt: skip
# Reports of a wrong server or answer. Not among them: one whose route is open by vLLM's own design (VFY-18 records it), an answer
# of garbled words (as good as a misread headline), what the engine's own tests plant, and the end of a rootless user's session.
REPORTED_OF_A_SERVER = {
    "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S12", "S14",
    "A01", "A03", "A04", "A05", "A06", "A09", "A10", "A11", "A12", "A13", "T01", "T03",
}  # fmt: skip


def test_every_reported_fault_of_a_host_is_among_them() -> None:
    assert {fault.seen for fault in faults().values()} >= REPORTED


def test_every_reported_fault_of_a_server_is_among_them() -> None:
    assert {fault.seen for fault in faults().values()} >= REPORTED_OF_A_SERVER


def test_a_world_without_faults_has_the_documented_gpus() -> None:
    host = simulate((), deployments.load("ernie-4.5-vl-28b.h200-tp1").host).host

    assert [gpu.name for gpu in host.gpus] == ["NVIDIA H200"]
    assert host.gpus[0].memory_total > 67 * 10**9


def test_faults_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    text = '[[fault]]\nname = "a"\nsays = "b"\ncatches = "HST-01"\nset = { "host.colour" = 1 }\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(msgspec.ValidationError):
        faults(path)

    good = text.replace("host.colour", "host.architecture").replace("= 1 }", '= "arm" }')
    path.write_text(good + good, encoding="utf-8")
    with pytest.raises(ValueError, match="stands twice"):
        faults(path)
    path.write_text(good, encoding="utf-8")
    assert simulate(tuple(faults(path).values())).host.architecture == "arm"
