"""The tiny model: the same bytes everywhere, whole by the suite's own probes, and its script in its weights."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.machine import Machine
from fixtures.probes import safetensors as probe
from fixtures.probes.safetensors import Tensors
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.deployment import stated
from tools.tiny_model import __main__ as tiny

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return tiny.files()


def test_its_bytes_are_the_documented_ones(made: dict[str, bytes]) -> None:
    documented = json.loads((snapshots.FOLDER / "tiny-ernie-vl.json").read_text(encoding="utf-8"))

    assert tiny.documented(made) == documented


def test_its_tensors_are_whole(made: dict[str, bytes], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.tiny_model", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shards = tuple(name for name in made if name.endswith(".safetensors"))
    found = probe.tensors(Machine(), tmp_path, "model.safetensors.index.json", shards)

    assert "11 files" in done.stdout
    assert isinstance(found, Tensors)
    assert not found.problems
    assert found.bytes_of["BF16"] > 0.9 * sum(found.bytes_of.values())


def test_without_a_folder_it_says_how_it_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.tiny_model"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (1, "usage: python -m tools.tiny_model FOLDER [--documented]\n")


def rows(made: dict[str, bytes], name: str) -> list[list[float]]:
    """Return a BF16 matrix of the files as numbers."""
    for data in (data for file, data in made.items() if file.endswith(".safetensors")):
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        if name in header:
            begin, end = header[name]["data_offsets"]
            raw = data[8 + length + begin : 8 + length + end]
            values = [struct.unpack("<f", b"\0\0" + raw[at : at + 2])[0] for at in range(0, len(raw), 2)]
            width = header[name]["shape"][1]
            return [values[at : at + width] for at in range(0, len(values), width)]
    raise KeyError(name)


def test_the_script_stands_in_head_and_embeddings(made: dict[str, bytes]) -> None:
    tokens = tiny.vocabulary()
    embeddings, head = rows(made, "model.embed_tokens.weight"), rows(made, "lm_head.weight")

    def after(token: str) -> str:
        own = embeddings[tokens.index(token)]
        scores = [sum(a * b for a, b in zip(own, row, strict=True)) for row in head]
        return tokens[scores.index(max(scores))]

    said = ["\n\n"]
    while said[-1] != "</s>":
        said.append(after(said[-1]))
    answer = "".join(said[1:-1])
    expected = stated(deployments.load("tiny-ernie-vl.cpu-tp4").expected)

    assert answer == " This is a newspaper front page. Its headline: MEN WALK ON MOON"
    assert expected.headline in answer
    assert expected.document in answer
    assert after("\n") == " one"
    assert after(" eight") == " one"


def test_one_worker_is_all_that_the_smaller_deployment_changes() -> None:
    four, one = (deployments.load(f"tiny-ernie-vl.cpu-tp{number}") for number in (4, 1))
    changed = [
        pair
        for pair in zip(stated(four.service).arguments, stated(one.service).arguments, strict=True)
        if len(set(pair)) > 1
    ]

    assert (stated(four.service).workers, stated(one.service).workers) == (4, 1)
    assert changed == [("4", "1")]
