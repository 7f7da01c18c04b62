"""Deployments and snapshots: the guide's values, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.advisories import covering
from recipe.deployment import DEFAULT, FOLDER, Deployment, stated
from recipe.errors import RecipeError
from recipe.snapshot import Snapshot, SnapshotFile

DEFAULT_TEXT = (FOLDER / f"{DEFAULT}.toml").read_text(encoding="utf-8")


def load(tmp_path: Path, text: str) -> Deployment:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return deployments.load(str(path))


def test_the_default_is_the_guides_deployment() -> None:
    deployment = deployments.load(DEFAULT)
    host, service = stated(deployment.host), stated(deployment.service)

    assert (host.gpu_product, host.gpu_count, host.driver_min) == ("L40S", 4, "575.57.08")
    assert service.arguments[:3] == ("/model", "--served-model-name", "ernie-vl")
    assert service.arguments[-2] == "--mm-processor-kwargs"
    assert len(service.arguments) == 34
    assert service.shm_bytes == 16 << 30
    assert not deployment.rehearsal
    assert list(stated(deployment.request).parameters)[:3] == ["max_tokens", "temperature", "top_p"]
    assert stated(deployment.image).reference.startswith("vllm/vllm-openai@sha256:47a9896f")


def test_the_h200_deployment_is_the_recipes() -> None:
    """Against the recipe JSON: argv, hardware, variant, install."""
    deployment = deployments.load("ernie-4.5-vl-28b.h200-tp1")
    host, service, program = stated(deployment.host), stated(deployment.service), stated(deployment.program)

    argv = ("--trust-remote-code", "--tensor-parallel-size", "1", "--mm-encoder-tp-mode", "data")
    assert (program.command, service.arguments[0], service.arguments[1 : 1 + len(argv)]) == ("vllm", "/model", argv)
    assert (host.gpu_product, host.gpu_count, host.gpu_memory_min_bytes) == ("H200", 1, 67 * 10**9)
    assert (program.version_min, service.context_tokens) == ("0.11.0", 131072)
    assert (deployment.engine, deployment.image, host.driver_min, host.os_id) == ("process", None, None, None)
    assert [value.value for value in deployment.unpinned] == ["vLLM", "PyTorch and CUDA", "NVIDIA driver"]
    assert service.media_limit is None


def test_only_the_h200_deployment_leaves_anything_open() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml") if deployments.load(path.stem).unpinned} == {
        "ernie-4.5-vl-28b.h200-tp1"
    }
    assert stated(deployments.load(DEFAULT).service).media_limit == '{"image":1,"video":0}'


def test_the_snapshot_is_the_guides() -> None:
    snapshot = snapshots.load("ernie-4.5-vl-28b-a3b-pt")

    assert (len(snapshot.shards), len(snapshot.auxiliaries)) == (12, 14)
    assert snapshot.shard_bytes == 58_817_660_680
    assert snapshot.total_bytes == 58_820_706_985
    assert next(iter(snapshot.files)) == "model-00001-of-00012.safetensors"


def test_all_deployments_load() -> None:
    for path in FOLDER.glob("*.toml"):
        assert deployments.load(path.stem).name == path.stem


def test_a_stated_path_is_told_from_one_that_is_not(tmp_path: Path) -> None:
    bare = load(tmp_path, 'schema = 1\nname = "bare"\ntitle = "Bare"\nengine = "process"\nworkdir = "w"\n')

    assert bare.states("workdir")
    assert not bare.states("host.driver_min")
    assert bare.missing(("workdir", "host.driver_min")) == "host.driver_min"
    assert bare.missing(("workdir",)) is None
    with pytest.raises(LookupError):
        stated(bare.host)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('engine = "docker"', 'engine = "docker"\ncolour = 1', "mine.toml: top level: Object contains unknown field"),
        ('engine = "docker"', 'engine = "rehearsal"', "mine.toml: rehearsal: must be true"),
        ("gpu_count = 4", "gpu_count = 4\nspeed = 2", "mine.toml: host: Object contains unknown field `speed`"),
        ("gpu_count = 4\n", "", "mine.toml: host: Object missing required field `gpu_count`"),
        ("gpu_count = 4", 'gpu_count = "4"', "mine.toml: host.gpu_count: Expected `int`"),
        ("sha256:47a9896f", "sha256:47a9896", "mine.toml: image.digest"),
        ('driver_min = "575.57.08"', 'driver_min = "new"', "mine.toml: host.driver_min: 'new' is not a driver version"),
        ('vllm = "0.11.2"', 'vllm = "new"', "mine.toml: image.checks.vllm: not a PEP 440 version"),
        ('snapshot = "ernie-4.5-vl-28b-a3b-pt"', 'snapshot = "none"', "mine.toml: snapshot: no recipe/snapshots/none"),
        (
            "max_pixels = 200704\ngrid",
            "max_pixels = 300000\ngrid",
            "mine.toml: picture.max_pixels: allows more",
        ),
        ('"/model",\n', '"/model", "--api-key",\n', "mine.toml: service.arguments: --api-key"),
        (
            "workers = 4",
            "workers = 3",
            "mine.toml: service.workers: 3, while the arguments ask for 4 workers; make it agree",
        ),
        (
            '"--tensor-parallel-size", "4"',
            '"-tp=3"',
            "mine.toml: service.workers: 4, while the arguments ask for 3 workers",
        ),
        (
            '"--tensor-parallel-size", "4"',
            '"-tp", "4", "--pipeline-parallel-size=2"',
            "mine.toml: service.workers: 4, while the arguments ask for 8 workers",
        ),
        ('"--tensor-parallel-size", "4"', '"--tensor-parallel-size"', "mine.toml: service.arguments: a parallel size"),
        ("gpu_count = 4", "gpu_count = 3", "mine.toml: service.workers: 4, while host.gpu_count is 3; give each"),
        ('engine = "docker"', 'engine = "podman"', "mine.toml: engine"),
        ("schema = 1", "schema = 2", "mine.toml: schema"),
    ],
)
def test_a_broken_deployment_is_one_clear_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in DEFAULT_TEXT
    with pytest.raises(RecipeError) as caught:
        load(tmp_path, DEFAULT_TEXT.replace(old, new, 1))

    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_a_program_without_a_version_is_one_clear_line(tmp_path: Path) -> None:
    text = (FOLDER / "ernie-4.5-vl-28b.h200-tp1.toml").read_text(encoding="utf-8")
    with pytest.raises(RecipeError, match=r"^mine.toml: program.version_min: not a PEP 440 version"):
        load(tmp_path, text.replace('version_min = "0.11.0"', 'version_min = "newest"'))


def test_an_unknown_deployment_lists_the_known_ones() -> None:
    with pytest.raises(RecipeError, match=re.escape(DEFAULT)):
        deployments.load("none")
    with pytest.raises(RecipeError, match="no such deployment"):
        deployments.load("/nowhere/at-all.toml")


def write_snapshot(folder: Path, **changes: Any) -> None:
    file = {"bytes": 3, "sha256": "0" * 64}
    told = {"repository": "a/b", "revision": "0" * 40, "shard_bytes": 3, "dtype": "BF16"}
    told |= {"shards": {"a": file}, "auxiliaries": {}}
    (folder / "mine.json").write_text(json.dumps(told | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"shard_bytes": 4}, "mine.json: shard_bytes: states 4, but the shards add up to 3"),
        ({"auxiliaries": {"a": {"bytes": 1, "sha256": "0" * 64}}}, "mine.json: auxiliaries: a is also a shard"),
        ({"shards": {"../a": {"bytes": 3, "sha256": "0" * 64}}}, "mine.json: "),
        ({"shards": {"a": {"bytes": 3, "sha256": "XY"}}}, "mine.json: shards[...].sha256"),
        ({"revision": "main"}, "mine.json: revision"),
    ],
)
def test_a_broken_snapshot_is_one_clear_line(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    write_snapshot(tmp_path, **changes)
    with pytest.raises(RecipeError) as caught:
        snapshots.load("mine", tmp_path)

    assert str(caught.value).startswith(says)


FILES = st.dictionaries(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(str.isascii),
    st.builds(SnapshotFile, bytes=st.integers(0, 2**40), sha256=st.from_regex(r"[0-9a-f]{64}", fullmatch=True)),
    max_size=5,
)


@given(FILES)
def test_a_snapshot_survives_a_round_trip(files: dict[str, SnapshotFile]) -> None:
    snapshot = Snapshot("a/b", "0" * 40, sum(file.bytes for file in files.values()), "BF16", files, {})

    assert msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot) == snapshot


@given(st.sampled_from(sorted(path.stem for path in FOLDER.glob("*.toml"))))
def test_a_deployment_survives_a_round_trip(name: str) -> None:
    deployment = deployments.load(name)

    assert msgspec.json.decode(msgspec.json.encode(deployment), type=Deployment) == deployment


def test_an_advisory_covers_its_range_only() -> None:
    assert {"CVE-2026-22778", "CVE-2026-22807"} < {entry.id for entry in covering("vllm", "0.11.2")}
    assert [entry.id for entry in covering("vllm", "0.14.0")] == ["CVE-2026-22778"]
    assert covering("vllm", "0.14.1") == ()
    assert covering("vllm", "0.8.2") == ()
    assert covering("torch", "2.9.0") == ()
    assert covering("vllm", "") == ()
