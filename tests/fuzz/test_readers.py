"""What the probes read of files and logs: safetensors headers against the format's own reader, logs with errors in noise."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import pytest
import safetensors
from hypothesis import example, given
from hypothesis import strategies as st

from fixtures.machine import Machine
from fixtures.probes.log import ERRORS, announced_routes, first_trouble, read_log
from fixtures.probes.safetensors import SIZES, header
from tests.fuzz.making import changed_bytes, changed_json, fuzz

SHARD = Path(__file__).resolve().parents[2] / "fixtures/rehearsal/assets/snapshot/model-00001-of-00002.safetensors"
ORIGINAL = SHARD.read_bytes()
LENGTH = struct.unpack("<Q", ORIGINAL[:8])[0]
ENTRIES: dict[str, Any] = json.loads(ORIGINAL[8 : 8 + LENGTH])


@st.composite
def shards(draw: st.DrawFn) -> bytes:
    """A shard with other entries, another stated length, or another number of bytes behind its header."""
    entries = draw(changed_json(ENTRIES) | st.just(ENTRIES))
    text = json.dumps(entries, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode()
    text += b" " * draw(st.integers(0, 9))
    length = len(text) + draw(st.sampled_from([0, 0, 0, 0, 1, -1, 8, 1 << 40]))
    data = ORIGINAL[8 + LENGTH :]
    data = data[: len(data) + draw(st.sampled_from([0, 0, 0, -1, -32]))] + bytes(
        draw(st.sampled_from([0, 0, 0, 1, 64]))
    )
    return struct.pack("<Q", length % (1 << 64)) + text + data


@st.composite
def layouts(draw: st.DrawFn) -> bytes:
    """Tensors of any type and shape, side by side or not quite."""
    entries, end = {}, 0
    for number in range(draw(st.integers(0, 5))):
        dtype = draw(st.sampled_from([*SIZES, "F4", "C64", "bf16"]))
        shape = draw(st.lists(st.integers(0, 4), max_size=3))
        size = SIZES.get(dtype, 1)
        for side in shape:
            size *= side
        begin = end + draw(st.sampled_from([0, 0, 0, 0, 0, 1, -1]))
        end = begin + size + draw(st.sampled_from([0, 0, 0, 0, 0, 1, -1]))
        entries[f"t{number}"] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    names = draw(st.permutations(sorted(entries)))
    text = json.dumps({name: entries[name] for name in names}).encode()
    return struct.pack("<Q", len(text)) + text + bytes(max(0, end + draw(st.sampled_from([0, 0, 0, 1, -1]))))


def by_the_format(raw: bytes) -> dict[str, tuple[str, list[int]]] | None:
    """Return names, types and shapes by the format's own reader; None where it refuses the bytes."""
    try:
        told: list[tuple[str, dict[str, Any]]] = safetensors.deserialize(raw)  # type: ignore[no-untyped-call]
        return {name: (tensor["dtype"], tensor["shape"]) for name, tensor in told}
    except safetensors.SafetensorError:
        return None


@given(shards() | layouts() | changed_bytes(ORIGINAL) | st.binary(max_size=64))
@example(ORIGINAL)
@example(ORIGINAL.replace(b'"format":"pt"', b'"format":null'))
@fuzz
def test_a_shard_is_refused_with_a_reason_or_is_what_the_format_says(raw: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "shard.safetensors"
        path.write_bytes(raw)
        try:
            tensors, length = header(Machine(), path)
        except ValueError:
            return
    assert length == 8 + struct.unpack("<Q", raw[:8])[0]
    assert {name: (tensor.dtype, list(tensor.shape)) for name, tensor in tensors.items()} == by_the_format(raw)


BAD = {
    "out of memory": [
        "torch.OutOfMemoryError: CUDA out of memory.",
        "ValueError: No available memory for the cache blocks.",
    ],
    "NCCL": [
        "NCCL WARN Call to posix_fallocate failed : No space left on device",
        "NCCL error: unhandled system error",
    ],
    "import": ["ModuleNotFoundError: No module named 'decord'", "Encountered exception while importing decord: x"],
    "tensor parallel": ["Exception: WorkerProc initialization failed due to an exception in a background process."],
    "CUDA": ["CUDA error: uncorrectable ECC error encountered", "Error 803: system has unsupported display driver"],
}
NOISE = st.text(max_size=60) | st.sampled_from(
    ["\x1b[31m", "\r", "\x00\ufffd", "(Worker_TP0 pid=1) INFO ok", " " * 5000, "\u2028"]
)


@given(
    st.lists(NOISE, max_size=12),
    st.sampled_from([(kind, line) for kind, lines in BAD.items() for line in lines]),
    st.data(),
)
@fuzz
def test_an_error_is_found_in_any_noise(noise: list[str], bad: tuple[str, str], data: st.DataObject) -> None:
    kind, line = bad
    prefix = data.draw(
        st.sampled_from(["", "(EngineCore_DP0 pid=51) ERROR 12-01 ", "\x1b[0;36m(Worker_TP1 pid=7)\x1b[0m "])
    )
    lines = [*noise]
    lines.insert(data.draw(st.integers(0, len(noise))), prefix + line)

    found = read_log("\n".join(lines), "artefact")

    assert kind in {entry[0] for entry in found.errors[:5]} or len(found.errors) >= 5
    assert first_trouble("\n".join(lines))


@given(st.text(max_size=4000) | st.lists(NOISE, max_size=50).map("\n".join))
@fuzz
def test_any_text_is_a_log(text: str) -> None:
    found = read_log(text, "artefact")

    assert found.lines >= 0
    assert all(any(kind == known for known, _ in ERRORS) for kind, _ in found.errors)
    assert isinstance(announced_routes(text), tuple)
    assert first_trouble(text)


@pytest.mark.parametrize("size", [4_000_000])
def test_a_log_of_one_endless_line_is_read(size: int) -> None:
    assert read_log("NCCL" * (size // 4), "artefact").lines == 1
