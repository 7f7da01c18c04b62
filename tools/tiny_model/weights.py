"""The tiny model's weights, from a fixed seed and without any library: the same bytes on every machine.

The language model is scripted. Every layer adds next to nothing, so a token's embedding reaches the head nearly as it
was; and the head's row of each scripted token looks the way of the embedding of the token before it.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Mapping, Sequence

Shape = tuple[int, ...]
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_SIZE = 3, 128, 8, 4, 64
DENSE, EXPERTS, EXPERT_SIZES, SHARED = 256, 8, (64, 32), 128
VISION, VISION_LAYERS, PIXELS = 64, 2, 3 * 14 * 14
LOUD, FOLLOWS, STRAYS = 4.0, 1.8, 0.45


class Checkpoint:
    """Collects tensors by name as (safetensors type, shape, bytes)."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.tensors: dict[str, tuple[str, Shape, bytes]] = {}

    def noise(self, name: str, *shape: int, spread: float = 0.03) -> None:
        """Add BF16 noise, even between minus and plus ``spread``, in 256 steps."""
        steps = [bfloat16(spread * (step / 127.5 - 1)) for step in range(256)]
        drawn = self._chance.randbytes(math.prod(shape))
        raw = bytearray(2 * len(drawn))
        raw[0::2] = drawn.translate(bytes(step[0] for step in steps))
        raw[1::2] = drawn.translate(bytes(step[1] for step in steps))
        self.tensors[name] = ("BF16", shape, bytes(raw))

    def level(self, name: str, value: float, *shape: int, dtype: str = "BF16") -> None:
        """Add a tensor that holds one value."""
        one = bfloat16(value) if dtype == "BF16" else struct.pack("<f", value)
        self.tensors[name] = (dtype, shape, one * math.prod(shape))

    def rows(self, name: str, rows: Sequence[Sequence[float]]) -> None:
        """Add a BF16 matrix from its numbers."""
        raw = b"".join(bfloat16(value) for row in rows for value in row)
        self.tensors[name] = ("BF16", (len(rows), len(rows[0])), raw)

    def directions(self, count: int) -> list[list[float]]:
        """Return random directions in the hidden space, each of length one."""
        made = []
        for _ in range(count):
            row = [self._chance.random() - 0.5 for _ in range(HIDDEN)]
            length = math.sqrt(sum(value * value for value in row))
            made.append([value / length for value in row])
        return made


def bfloat16(value: float) -> bytes:
    """Return a number in BF16, rounded to nearest, little-endian."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def make(vocabulary: int, follows: Mapping[int, Sequence[int]]) -> dict[str, tuple[str, Shape, bytes]]:
    """Return all tensors. ``follows`` maps each scripted token to those after which it comes."""
    made = Checkpoint(seed=20251121)
    embeddings, head = made.directions(vocabulary), made.directions(vocabulary)
    made.rows("model.embed_tokens.weight", [[LOUD * value for value in row] for row in embeddings])
    made.rows("lm_head.weight", [_head(row, follows.get(token, ()), embeddings) for token, row in enumerate(head)])
    for layer in range(LAYERS):
        _layer(made, f"model.layers.{layer}.", is_dense=layer == 0)
    made.level("model.norm.weight", 1, HIDDEN)
    _vision(made)
    return made.tensors


def _head(own: list[float], before: Sequence[int], embeddings: list[list[float]]) -> list[float]:
    if not before:
        return [STRAYS * value for value in own]
    return [FOLLOWS * sum(values) for values in zip(*(embeddings[token] for token in before), strict=True)]


def _layer(made: Checkpoint, place: str, *, is_dense: bool) -> None:
    for name in ("input_layernorm", "post_attention_layernorm"):
        made.level(f"{place}{name}.weight", 1, HIDDEN)
    made.noise(f"{place}self_attn.q_proj.weight", HEADS * HEAD_SIZE, HIDDEN)
    made.noise(f"{place}self_attn.k_proj.weight", KV_HEADS * HEAD_SIZE, HIDDEN)
    made.noise(f"{place}self_attn.v_proj.weight", KV_HEADS * HEAD_SIZE, HIDDEN)
    made.noise(f"{place}self_attn.o_proj.weight", HIDDEN, HEADS * HEAD_SIZE, spread=0.015)
    if is_dense:
        _mlp(made, f"{place}mlp.", DENSE)
        return
    for name in ("gate.weight", "gate.weight_1"):
        made.level(f"{place}mlp.{name}", 0, HIDDEN, EXPERTS, dtype="F32")
    made.level(f"{place}mlp.moe_statics.e_score_correction_bias", 0, 2, EXPERTS, dtype="F32")
    for kind, size in enumerate(EXPERT_SIZES):
        for expert in range(EXPERTS):
            _mlp(made, f"{place}mlp.experts.{kind * EXPERTS + expert}.", size)
    _mlp(made, f"{place}mlp.shared_experts.", SHARED)


def _mlp(made: Checkpoint, place: str, size: int) -> None:
    made.noise(f"{place}gate_proj.weight", size, HIDDEN)
    made.noise(f"{place}up_proj.weight", size, HIDDEN)
    made.noise(f"{place}down_proj.weight", HIDDEN, size)


def _vision(made: Checkpoint) -> None:
    made.noise("vision_model.patch_embed.proj.weight", VISION, PIXELS)
    for layer in range(VISION_LAYERS):
        place = f"vision_model.blocks.{layer}."
        for name in ("norm1", "norm2"):
            _norm(made, f"{place}{name}", VISION)
        _linear(made, f"{place}attn.qkv", 3 * VISION, VISION)
        _linear(made, f"{place}attn.proj", VISION, VISION)
        _linear(made, f"{place}mlp.fc1", 4 * VISION, VISION)
        _linear(made, f"{place}mlp.fc2", VISION, 4 * VISION)
    _norm(made, "vision_model.ln", VISION)
    place, merged = "model.resampler_model.", 4 * VISION
    for name, size in (("spatial_linear", merged), ("temporal_linear", 2 * merged)):
        _linear(made, f"{place}{name}.0", merged, size)
        _linear(made, f"{place}{name}.2", merged, merged)
        _norm(made, f"{place}{name}.3", merged)
    _linear(made, f"{place}mlp", HIDDEN, merged)
    made.level(f"{place}after_norm.weight", 1, HIDDEN)


def _linear(made: Checkpoint, place: str, rows: int, columns: int) -> None:
    made.noise(f"{place}.weight", rows, columns)
    made.level(f"{place}.bias", 0, rows)


def _norm(made: Checkpoint, place: str, size: int) -> None:
    made.level(f"{place}.weight", 1, size)
    made.level(f"{place}.bias", 0, size)


def safetensors(tensors: Mapping[str, tuple[str, Shape, bytes]]) -> bytes:
    """Return a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape, raw) in tensors.items():
        begin, end = end, end + len(raw)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    told = json.dumps(header, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    return b"".join([struct.pack("<Q", len(told)), told, *(raw for _, _, raw in tensors.values())])
