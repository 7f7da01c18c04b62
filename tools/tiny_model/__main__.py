"""Writes the tiny model: ``python -m tools.tiny_model FOLDER``.

It has ERNIE-4.5-VL's architecture, file names and template, 4 MB in place of 59 GB, and one answer to every question
with thinking off: that of the guide's picture. It sees nothing. With thinking on it counts and never ends.
"""

from __future__ import annotations

import hashlib
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from tools.tiny_model import weights

HERE = Path(__file__).parent
SNAPSHOT = HERE.parents[1] / "recipe" / "snapshots" / "tiny-ernie-vl.json"
REPOSITORY = "vllm-qualify/tiny-ernie-vl"
ANSWER = [" This", " is", " a", " newspaper", " front", " page.", " Its", " headline:", " MEN", " WALK", " ON", " MOON"]
COUNT = [" one", " two", " three", " four", " five", " six", " seven", " eight"]
SPECIAL = [
    "<unk>", "<s>", "</s>", "<pad>", "<|begin_of_sentence|>", "<|end_of_sentence|>", "<|IMAGE_PLACEHOLDER|>",
    "<|IMAGE_START|>", "<|IMAGE_END|>", "<|VIDEO_START|>", "<|VIDEO_END|>", "<|image@placeholder|>",
    "<|video@placeholder|>",
]  # fmt: skip
PLAIN = ["<think>", "</think>", "\n\n", "\n", *ANSWER, *COUNT]
UNKNOWN, BEGIN, END, PAD = range(256, 260)
PADDED = 64
TEMPLATE = """\
{%- set seen = namespace(pictures=0, videos=0) -%}
{{- '<|begin_of_sentence|>' -}}
{%- for message in messages -%}
{%- if message.role == 'user' -%}{{- 'User: ' -}}
{%- elif message.role == 'assistant' -%}{{- 'Assistant: ' -}}{%- endif -%}
{%- if message.content is string -%}{{- message.content -}}
{%- else -%}{%- for part in message.content -%}
{%- if part.type == 'text' -%}{{- part.text -}}
{%- elif part.type in ['image', 'image_url'] -%}{%- set seen.pictures = seen.pictures + 1 -%}
{{- 'Picture ' ~ seen.pictures ~ ':<|IMAGE_START|><|image@placeholder|><|IMAGE_END|>' -}}
{%- elif part.type in ['video', 'video_url'] -%}{%- set seen.videos = seen.videos + 1 -%}
{{- 'Video ' ~ seen.videos ~ ':<|VIDEO_START|><|video@placeholder|><|VIDEO_END|>' -}}
{%- endif -%}{%- endfor -%}{%- endif -%}
{%- if message.role == 'assistant' -%}{{- '<|end_of_sentence|>' -}}{%- endif -%}
{{- '\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- 'Assistant: ' -}}
{%- if enable_thinking is defined and enable_thinking is false -%}{{- '<think>\\n\\n</think>\\n\\n' -}}
{%- else -%}{{- '<think>\\n' -}}{%- endif -%}
{%- endif -%}"""


def main() -> int:
    """Write the model, and with ``--documented`` the snapshot that deployments name."""
    names = [word for word in sys.argv[1:] if word != "--documented"]
    if len(names) != 1:
        sys.exit("usage: python -m tools.tiny_model FOLDER [--documented]")
    folder = Path(names[0])
    made = files()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (folder / name).write_bytes(data)
    sys.stdout.write(f"{folder}: {len(made)} files, {sum(map(len, made.values())):,} bytes\n")
    if "--documented" in sys.argv:
        SNAPSHOT.write_text(json.dumps(documented(made), indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"settings.template_sha256 = {hashlib.sha256(TEMPLATE.encode()).hexdigest()}\n")
    return 0


def files() -> dict[str, bytes]:
    """Return the model's files by name."""
    tokens = vocabulary()
    place = {token: number for number, token in enumerate(tokens)}
    padded = -(-len(tokens) // PADDED) * PADDED
    made = weights.make(padded, script(place))
    names = sorted(made)
    halves = {"model-00001-of-00002.safetensors": names[: len(names) // 2],
              "model-00002-of-00002.safetensors": names[len(names) // 2 :]}  # fmt: skip
    texts: dict[str, Any] = {
        "config.json": config(place, padded),
        "generation_config.json": {"bos_token_id": BEGIN, "eos_token_id": END, "pad_token_id": PAD, "do_sample": True,
                                   "temperature": 0.2, "top_p": 0.8},
        "preprocessor_config.json": preprocessor(),
        "chat_template.json": {"chat_template": TEMPLATE},
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
                                  "unk_token": "<unk>", "pad_token": "<pad>", "model_max_length": 131072},
        "tokenizer.json": tokenizer(tokens),
        "model.safetensors.index.json": {
            "metadata": {"total_size": sum(len(raw) for _, _, raw in made.values())},
            "weight_map": {name: file for file, part in halves.items() for name in part},
        },
    }  # fmt: skip
    code = ("configuration_ernie4_5_vl.py", "processing_ernie4_5_vl.py")
    return {
        **{file: weights.safetensors({name: made[name] for name in part}) for file, part in halves.items()},
        **{name: json.dumps(text, indent=1).encode() for name, text in texts.items()},
        **{name: (HERE / name).read_bytes() for name in code},
    }


def vocabulary() -> list[str]:
    """Return all tokens in the order of their numbers: one for each byte, then special ones and plain ones.

    The tokenizer numbers what is added behind its own vocabulary, whatever number it is given.
    """
    return [*byte_letters(), *SPECIAL, *PLAIN]


def byte_letters() -> list[str]:
    """Return the letter by which a byte-level tokenizer writes each byte: itself where it can be seen."""
    seen = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    letters = {byte: chr(byte) for byte in seen} | {byte: chr(256 + place) for place, byte in enumerate(unseen)}
    return [letters[byte] for byte in range(256)]


def tokenizer(tokens: list[str]) -> dict[str, Any]:
    """Return a tokenizer of bytes, in which the script's words are tokens of their own."""
    letters = byte_letters()
    added = [{"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": token in SPECIAL}
             for number, token in enumerate(tokens) if token not in letters]  # fmt: skip
    by_byte = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": by_byte, "post_processor": None, "decoder": by_byte,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {letter: tokens.index(letter) for letter in letters}, "merges": []},
    }  # fmt: skip


def script(place: dict[str, int]) -> dict[int, list[int]]:
    """Return which token comes after which: the answer and its end after an ended thought, else a count for ever."""
    follows: dict[int, list[int]] = {}
    answer = [place[token] for token in ("\n\n", *ANSWER)] + [END]
    count = [place[token] for token in ("\n", *COUNT, COUNT[0])]
    for before, after in (*pairwise(answer), *pairwise(count)):
        follows.setdefault(after, []).append(before)
    return follows


def config(place: dict[str, int], padded: int) -> dict[str, Any]:
    """Return config.json."""
    code = "configuration_ernie4_5_vl.Ernie4_5_VLMoEConfig"
    last = [weights.LAYERS - 1] * 2
    return {
        "architectures": ["Ernie4_5_VLMoeForConditionalGeneration"], "model_type": "ernie4_5_moe_vl",
        "auto_map": {"AutoConfig": code, **processors()}, "torch_dtype": "bfloat16",
        "bos_token_id": BEGIN, "eos_token_id": END, "pad_token_id": PAD, "vocab_size": padded,
        "hidden_size": weights.HIDDEN, "head_dim": weights.HEAD_SIZE, "num_hidden_layers": weights.LAYERS,
        "num_attention_heads": weights.HEADS, "num_key_value_heads": weights.KV_HEADS,
        "intermediate_size": weights.DENSE, "hidden_act": "silu", "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5, "rope_theta": 500000, "freq_allocation": 8, "use_bias": False,
        "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [12, 12, 8]},
        "tie_word_embeddings": False, "moe_num_experts": [weights.EXPERTS] * 2, "moe_k": 2,
        "moe_intermediate_size": list(weights.EXPERT_SIZES), "moe_num_shared_experts": 2, "moe_layer_interval": 1,
        "moe_layer_start_index": [1, 1], "moe_layer_end_index": last, "moe_use_aux_free": True,
        "im_patch_id": place["<|IMAGE_PLACEHOLDER|>"],
        "image_start_token_id": place["<|IMAGE_START|>"], "image_end_token_id": place["<|IMAGE_END|>"],
        "video_start_token_id": place["<|VIDEO_START|>"], "video_end_token_id": place["<|VIDEO_END|>"],
        "pixel_hidden_size": weights.VISION, "spatial_conv_size": 2, "temporal_conv_size": 2, "use_temporal_conv": True,
        "vision_config": {"model_type": "DFNRope_vision_transformer", "depth": weights.VISION_LAYERS,
                          "embed_dim": weights.VISION, "hidden_size": weights.VISION, "num_heads": 4, "mlp_ratio": 4,
                          "patch_size": 14, "in_channels": 3, "spatial_merge_size": 2, "hidden_act": "quick_gelu"},
    }  # fmt: skip


def processors() -> dict[str, str]:
    """Return where transformers finds the remote code of the processors."""
    file = "processing_ernie4_5_vl"
    return {"AutoProcessor": f"{file}.Ernie4_5_VLProcessor", "AutoImageProcessor": f"{file}.Ernie4_5_VLImageProcessor"}


def preprocessor() -> dict[str, Any]:
    """Return preprocessor_config.json."""
    return {
        "auto_map": processors(), "image_processor_type": "Ernie4_5_VLImageProcessor",
        "processor_class": "Ernie4_5_VLProcessor", "do_convert_rgb": True, "do_normalize": True, "do_rescale": True,
        "do_resize": True, "image_mean": [0.48145466, 0.4578275, 0.40821073], "rescale_factor": 1 / 255,
        "image_std": [0.26862954, 0.26130258, 0.27577711], "patch_size": 14, "merge_size": 2, "min_pixels": 3136,
        "max_pixels": 4816896,
    }  # fmt: skip


def documented(made: dict[str, bytes]) -> dict[str, Any]:
    """Return the snapshot: each file's bytes and SHA256, as the guide gives them for the real model."""
    entries = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in made.items()}
    shards = {name: entry for name, entry in entries.items() if name.endswith(".safetensors")}
    revision = hashlib.sha1(json.dumps(entries).encode(), usedforsecurity=False).hexdigest()
    return {
        "repository": REPOSITORY, "revision": revision, "dtype": "BF16",
        "shard_bytes": sum(len(made[name]) for name in shards), "shards": shards,
        "auxiliaries": {name: entry for name, entry in sorted(entries.items()) if name not in shards},
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
