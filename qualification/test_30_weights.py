"""Stage WTS: the model's files, one by one and together."""

from __future__ import annotations

import pytest

from fixtures.probes.files import is_documented
from fixtures.probes.safetensors import Tensors
from fixtures.provisioners.weights import Weights
from fixtures.weights import GenerationConfig, ModelConfig
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.snapshot import Snapshot, SnapshotFile
from recipe.values import Absent, Unreadable, count_bytes

# Mixture-of-experts checkpoints keep their routers' few parameters in this type; it is no quantisation.
ROUTER_DTYPE = "F32"
pytestmark = pytest.mark.qualify


def _judge_file(requirement: Judgement, weights: Weights, name: str, wanted: SnapshotFile) -> None:
    requirement.wants(f"{count_bytes(wanted.bytes)}, SHA256 {wanted.sha256}")
    fetched = weights.files[name]
    found = requirement.needs(fetched.file)
    digest = f"SHA256 {found.sha256}" if found.sha256 else "not hashed"
    looks = f"; it looks like {found.looks_like}" if found.looks_like else ""
    link = f"; a link to {found.link}" if found.link else ""
    requirement.finds(f"{found.bytes:,} bytes, {digest} ({'fetched' if fetched.fetched else 'was there'}){looks}{link}")
    assert found.bytes == wanted.bytes
    assert found.sha256 == wanted.sha256


def test_wts_01_shard_is_documented(requirement: Judgement, weights: Weights, snapshot: Snapshot, shard: str) -> None:
    _judge_file(requirement, weights, shard, snapshot.shards[shard])


def test_wts_02_shards_add_up(requirement: Judgement, weights: Weights, snapshot: Snapshot) -> None:
    requirement.wants(f"{count_bytes(snapshot.shard_bytes)} in {len(snapshot.shards)} shards")
    files = [requirement.needs(weights.files[name].file) for name in snapshot.shards]
    total = sum(file.bytes for file in files)
    requirement.finds(f"{count_bytes(total)} in {len(files)} shards")
    assert total == snapshot.shard_bytes


def test_wts_03_auxiliary_is_documented(
    requirement: Judgement, weights: Weights, snapshot: Snapshot, auxiliary: str
) -> None:
    _judge_file(requirement, weights, auxiliary, snapshot.auxiliaries[auxiliary])


def test_wts_04_tensors_lie_where_the_index_says(
    requirement: Judgement, tensors: Tensors | Absent | Unreadable, snapshot: Snapshot
) -> None:
    requirement.wants(
        f"the index names {len(snapshot.shards)} shards; every tensor is where it says, without gap or overlap; "
        f"the weights are {snapshot.dtype}"
    )
    found = requirement.needs(tensors)
    kinds = ", ".join(f"{kind} {count_bytes(size)}" for kind, size in found.bytes_of.items())
    told = f"{found.tensors:,} tensors in {len(found.shards_in_index)} shards: {kinds}"
    requirement.finds("; ".join([*found.problems[:5], told]))
    assert not found.problems
    assert found.shards_in_index == tuple(sorted(snapshot.shards))
    assert found.tensors > 0
    assert found.header_bytes + sum(found.bytes_of.values()) == snapshot.shard_bytes
    assert set(found.bytes_of) <= {snapshot.dtype, ROUTER_DTYPE}
    assert found.bytes_of.get(snapshot.dtype, 0) > 0.9 * sum(found.bytes_of.values())


def test_wts_05_model_folder_holds_nothing_else(requirement: Judgement, weights: Weights) -> None:
    requirement.wants(f"nothing but the {len(weights.files)} documented files, and no link that leads out")
    others = weights.others
    leading = [f"{name} leads out of the folder" for name in others.leading_out]
    partials = [f"{name}, an unfinished download" for name in others.partials]
    requirement.finds("; ".join([*others.extra, *leading, *partials]) or f"{len(weights.files)} files")
    assert not others.extra
    assert not others.leading_out


def test_wts_06_files_are_of_one_revision(requirement: Judgement, weights: Weights, snapshot: Snapshot) -> None:
    requirement.wants(f"revision {snapshot.revision} of {snapshot.repository}")
    right = sum(is_documented(weights.files[name].file, wanted) for name, wanted in snapshot.files.items())
    said = sorted({fetched.commit for fetched in weights.files.values() if fetched.commit})
    hub = f"the hub names {', '.join(said)}" if said else "nothing was fetched from a hub that names its commit"
    requirement.finds(f"{right} of {len(snapshot.files)} files carry the revision's hashes; {hub}")
    assert right == len(snapshot.files)
    assert said in ([], [snapshot.revision])


def test_wts_07_model_divides_by_the_workers(
    requirement: Judgement, deployment: Deployment, model_config: ModelConfig | Absent | Unreadable
) -> None:
    workers = stated(deployment.service).workers
    requirement.wants(f"attention heads, vision heads, experts and expert sizes divide by {workers}")
    numbers = requirement.needs(model_config).numbers
    requirement.finds(", ".join(f"{name} {value}" for name, value in numbers.items()) or "no number")
    flat = [part for value in numbers.values() for part in (value if isinstance(value, tuple) else (value,))]
    assert flat
    assert all(part > 0 and part % workers == 0 for part in flat)


def test_wts_08_generation_config_agrees_with_request(
    requirement: Judgement, deployment: Deployment, generation_config: GenerationConfig | Absent | Unreadable
) -> None:
    asked = stated(deployment.request).parameters
    native = requirement.needs(generation_config).settings
    shared = [name for name in native if name in asked]
    requirement.wants(", ".join(f"{name} {asked[name]}" for name in shared) or "settings that the request passes")
    requirement.finds(", ".join(f"{name} {native[name]}" for name in shared) or "no sampling setting of the request")
    assert "temperature" in shared
    assert all(native[name] == asked[name] for name in shared)


def test_wts_09_transfer_is_recorded(requirement: Judgement, weights: Weights) -> None:
    read = sum(entry.read for entry in weights.files.values())
    received = sum(entry.received for entry in weights.files.values())
    rate = (read + received) / max(weights.seconds, 0.001) / 1e6
    came = f"{count_bytes(received)} received from {weights.source}" if received else "nothing received"
    requirement.finds(
        f"{count_bytes(read)} read from the disk, {came}, in {weights.seconds:,.1f} s: {rate:,.0f} MB/s "
        f"with {weights.jobs} files at a time"
    )
