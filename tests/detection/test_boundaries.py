"""One value changed in the facts of a plain rehearsal: a little too much, too little, or just enough.

The faults are what happens to hosts; these are the edges of the rules. A path leads through the facts, part by part.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.probes.gpu import NOISE_BYTES
from recipe.deployment import Deployment
from tests.detection import judgements
from tests.detection.judgements import Case

GIVEN = os.environ.get("JUDGEMENTS", "")
if not GIVEN:
    pytest.skip("JUDGEMENTS names no file; 'tox -e faults' makes one and runs these", allow_module_level=True)
LOW, HIGH = "0" * 64, "f" * 64
SHARD = "weights/files/model-00001-of-00002.safetensors"
GPU = "gpus/devices/0"
AFTER = "gpus_after_stop/devices/0"
GRIDS = "two_sizes/{}_grid/{}"
SAME = "what stands last, once more"
UNREADABLE = {"type": "Unreadable", "what": "x", "reason": "y"}
WORKERS_BACKWARDS = [{"type": "ProcessInfo", "pid": pid, "name": f"VLLM::Worker_TP{pid}"} for pid in (2, 1)]
WORKERS = [{"type": "ProcessInfo", "pid": pid, "name": "VLLM::Worker"} for pid in range(5)]


def grids(small: int, large: int, prompts: tuple[int, int]) -> dict[str, Any]:
    """Return two grids of so many tokens, and the prompts' tokens."""
    sides = {("small", "rows"): small, ("large", "rows"): large, ("small", "columns"): 1, ("large", "columns"): 1}
    told = {GRIDS.format(*side): number for side, number in sides.items()}
    return told | {"two_sizes/small/prompt_tokens": prompts[0], "two_sizes/large/prompt_tokens": prompts[1]}


DEVICES: dict[str, Any] = {f"{name}/devices": [] for name in ("gpus", "gpus_after_stop")}

# Requirement, changes by path, outcome, and what it says: in part, or all of it after "= ". A + appends.
CHANGES: list[tuple[str, dict[str, Any], str, str]] = [
    ("HST-01", {"operating_system/os_id": "debian"}, "failed", "debian 24.04"),
    ("HST-01", {"operating_system/os_id": "xubuntu"}, "failed", "xubuntu"),
    ("HST-01", {"operating_system/architecture": "x86_65"}, "failed", "x86_65"),
    ("HST-02", {"gpus/driver_version": "580.65.06"}, "failed", "driver 580.65.06"),
    ("HST-02", {"gpus/driver_version": "570.65.06"}, "failed", "driver 570.65.06"),
    ("HST-06", {f"{GPU}/ecc/volatile_uncorrected": 1}, "failed", "GPU 0: 1 uncorrectable"),
    ("HST-06", {"gpus/devices": []}, "failed", ""),
    ("HST-07", {f"{GPU}/memory/used": NOISE_BYTES}, "passed", "none on 4 GPUs"),
    ("HST-07", {f"{GPU}/memory/used": NOISE_BYTES + 1}, "failed", "held by no process"),
    ("HST-10", {"disks/image_disk/free_bytes": 1_000_000, "disks/image_disk/free_inodes": 1_000}, "passed", ""),
    ("HST-10", {"disks/image_disk/free_bytes": 999_999}, "failed", "999,999 bytes"),
    ("HST-10", {"disks/image_disk/free_inodes": 999}, "failed", "999 inodes"),
    ("HST-10", {"disks/image_disk/free_inodes": None}, "passed", "any number of inodes"),
    ("HST-10", {"disks/model_disk/free_bytes": 10_804}, "failed", "10,804 bytes"),
    ("HST-10", {"disks/model_disk/free_bytes": 10_805}, "passed", "10,805 bytes"),
    ("HST-10", {"disks/data_root_is_default": True}, "passed", "Docker's default, since it does not tell"),
    ("HST-10", {"disks/image_disk": None}, "passed", "free for the model"),
    ("HST-13", {"packages/versions": {}}, "recorded", "none of them is installed"),
    ("HST-19", {f"{GPU}/remaps/corrected": 3, f"{GPU}/remaps/uncorrected": 1}, "failed", "4 rows remapped"),
    ("HST-21", {"environment/variables": {"CUDA_VISIBLE_DEVICES": "0,1,2,3", "NVIDIA_VISIBLE_DEVICES": "0"}}, "failed", "='0'"),
    ("HST-21", {"gpus/devices": [], "environment/variables": {"CUDA_VISIBLE_DEVICES": ""}}, "failed", "names 0 of 0 GPUs"),
    ("HST-21", {"gpus/devices": []}, "passed", "= neither is set"),
    ("HST-23", {"container_engine/operating_system": "Docker Desktop"}, "failed", "Docker Desktop"),
    ("HST-23", {"container_engine/operating_system": "Alpine Linux v3.20"}, "passed", "Alpine Linux"),
    ("HST-25", {"container_engine/cgroup_driver": "a", "container_engine/cdi_devices": []}, "passed", "none"),
    ("HST-25", {"container_engine/cgroup_driver": "z", "container_engine/cdi_devices": []}, "passed", "none"),
    ("HST-26", {"operating_system/memory_bytes": (16 << 30) + 1}, "passed", "17,179,869,185"),
    ("HST-26", {"operating_system/memory_bytes": 16 << 30}, "failed", "17,179,869,184"),
    ("HST-28", {f"{GPU}/memory/total": 40_000_000_000}, "passed", ""),
    ("HST-28", {f"{GPU}/memory/total": 39_999_999_999}, "failed", ""),
    ("HST-29", {"container_engine/cdi_devices": [], "container_engine/cdi_folders": []}, "recorded", "CDI: no device in no folder"),
    ("HST-29", {"container_engine/proxies": {"HttpProxy": "http://p"}}, "recorded", "proxies: HttpProxy http://p"),
    ("HST-30", {"hardware/flags": [], "hardware/numa_nodes": {}}, "recorded", "(none of those looked for)\nNUMA unknown"),
    ("IMG-02", {"base_image/image/os": "aix"}, "failed", "aix/amd64"),
    ("IMG-02", {"base_image/image/architecture": "386"}, "failed", "linux/386"),
    ("IMG-03", {"dockerfile/sha256": LOW}, "failed", LOW),
    ("IMG-03", {"dockerfile/sha256": HIGH}, "failed", HIGH),
    ("IMG-04", {"wheel_in_index/sha256": LOW}, "failed", LOW),
    ("IMG-04", {"wheel_in_index/sha256": HIGH}, "failed", HIGH),
    ("IMG-05", {"derived_image/status": None}, "passed", "found as built before, 1 layers added"),
    ("IMG-05", {"derived_image/status": -9}, "failed", "the build exits -9"),
    ("IMG-05", {"derived_image/image/layers": ["sha256:0", "sha256:1", "sha256:2", "sha256:3"]}, "failed", "do not come first"),
    ("IMG-05", {"derived_image/image/layers": ["sha256:f", "sha256:f", "sha256:f", "sha256:f"]}, "failed", "do not come first"),
    ("IMG-05", {"base_image/image/layers": ["sha256:1"], "derived_image/image/layers": ["sha256:1"]}, "failed", "0 layers added"),
    ("IMG-05", {"base_image/image/layers": [], "derived_image/image/layers": ["sha256:1", "sha256:2"]}, "passed", "2 layers added"),
    ("IMG-06", {"derived_image/pip_check": ["a requires b"]}, "failed", "a requires b"),
    ("IMG-11", {"diagnostics/gpus": 5}, "failed", "5 GPUs"),
    ("IMG-11", {"diagnostics/gpus": 3}, "failed", "3 GPUs"),
    ("IMG-12", {"diagnostics/image_id": "sha256:0"}, "failed", "the tag now points to sha256:0"),
    ("IMG-12", {"diagnostics/image_id": "sha256:ff"}, "failed", "the tag now points to sha256:ff"),
    ("WTS-01", {f"{SHARD}/file/bytes": 4367}, "failed", "4,367 bytes"),
    ("WTS-01", {f"{SHARD}/file/bytes": 4369}, "failed", "4,369 bytes"),
    ("WTS-01", {f"{SHARD}/file/sha256": LOW}, "failed", LOW),
    ("WTS-01", {f"{SHARD}/file/sha256": HIGH}, "failed", HIGH),
    ("WTS-01", {f"{SHARD}/file/link": "../blob"}, "passed", "; a link to ../blob"),
    ("WTS-02", {f"{SHARD}/file/bytes": 4369}, "failed", "8,697 bytes"),
    ("WTS-02", {f"{SHARD}/file/bytes": 4367}, "failed", "8,695 bytes"),
    ("WTS-04", {"tensors/shards_in_index": ["a.safetensors"]}, "failed", "in 1 shards"),
    ("WTS-04", {"tensors/shards_in_index": ["z.safetensors"]}, "failed", "in 1 shards"),
    ("WTS-04", {"tensors/header_bytes": 407}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 409}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 8288, "tensors/bytes_of": {"BF16": 408}}, "passed", ""),
    ("WTS-04", {"tensors/header_bytes": 8696, "tensors/bytes_of": {"BF16": 8696}}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 0, "tensors/bytes_of": {"BF16": 8000, "F32": 696}}, "passed", "F32 696 bytes"),
    ("WTS-04", {"tensors/header_bytes": 0, "tensors/bytes_of": {"BF16": 7000, "F32": 1696}}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 46, "tensors/bytes_of": {"BF16": 7785, "F32": 865}}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 46, "tensors/bytes_of": {"BF16": 7786, "F32": 864}}, "passed", ""),
    ("WTS-04", {"tensors/header_bytes": 8696, "tensors/bytes_of": {}}, "failed", ""),
    ("WTS-04", {"tensors/header_bytes": 8695, "tensors/bytes_of": {"F32": 1}}, "failed", ""),
    ("WTS-04", {"tensors/tensors": 0}, "failed", "0 tensors"),
    ("WTS-04", {"tensors/tensors": -1}, "failed", ""),
    ("WTS-04", {"tensors/tensors": 1}, "passed", "1 tensors"),
    ("WTS-04", {"tensors/problems": list("abcdef")}, "failed", "a; b; c; d; e; 4 tensors"),
    ("WTS-06", {f"{SHARD}/file/sha256": LOW}, "failed", "15 of 16"),
    ("WTS-07", {"model_config/numbers": {"heads": 20, "kv": 4}}, "passed", ""),
    ("WTS-07", {"model_config/numbers": {"heads": 0}}, "failed", "heads 0"),
    ("WTS-07", {"model_config/numbers": {"heads": -4}}, "failed", "heads -4"),
    ("WTS-07", {"model_config/numbers": {}}, "failed", "no number"),
    ("WTS-08", {"generation_config/settings/temperature": 0.1}, "failed", "temperature 0.1"),
    ("WTS-08", {"generation_config/settings/temperature": 0.3}, "failed", "temperature 0.3"),
    ("WTS-08", {"generation_config/settings": {"temperature": 0.2, "top_p": 0.7}}, "failed", "top_p 0.7"),
    ("WTS-08", {"generation_config/settings": {"top_p": 0.8}}, "failed", "top_p 0.8"),
    ("WTS-08", {"generation_config/settings": {}}, "failed", "no sampling setting"),
    ("WTS-09", {"weights/seconds": 2.0, f"{SHARD}/read": 6_000_000, f"{SHARD}/received": 8_000_000}, "recorded", ": 7 MB/s with"),
    ("WTS-09", {"weights/seconds": 0.0, f"{SHARD}/read": 6_000_000, f"{SHARD}/received": 8_000_000}, "recorded", ": 14,006 MB/s with"),
    ("CFG-01", {"key_file/characters": 63}, "failed", "63 characters"),
    ("CFG-01", {"key_file/characters": 65}, "failed", "65 characters"),
    ("CFG-01", {"key_file/mode": 0o400}, "failed", "mode 0400"),
    ("CFG-01", {"key_file/mode": 0o601}, "failed", "mode 0601"),
    ("CFG-02", {"key_file/existed": True}, "passed", "existed, unchanged"),
    ("CFG-03", {"env_file/mode": 0o400}, "failed", "mode 0400"),
    ("CFG-03", {"env_file/mode": 0o644}, "failed", "mode 0644"),
    ("CFG-03", {"env_file/variables": [], "env_file/exact": False}, "failed", "no variable"),
    ("CFG-04", {"chat_template/sha256": LOW}, "failed", LOW),
    ("CFG-04", {"chat_template/sha256": HIGH}, "failed", HIGH),
    ("CFG-04", {"chat_template/source_sha256": LOW}, "failed", LOW),
    ("CFG-04", {"chat_template/source_sha256": HIGH}, "failed", HIGH),
    ("CFG-05", {"rendered_prompt/tail": "x" * 80}, "failed", f"in '{'x' * 60}'"),
    ("SRV-01", {"container/arguments": ["/model"]}, "failed", "missing ['--served-model-name'"),
    ("SRV-01", {"container/arguments": ["/zzz"]}, "failed", "more ['/zzz']"),
    ("SRV-02", {"container/image_id": "sha256:0"}, "failed", "sha256:0"),
    ("SRV-02", {"container/image_id": "sha256:ff"}, "failed", "sha256:ff"),
    ("SRV-02", {"container/image_id": ""}, "failed", "image unknown"),
    ("SRV-03", {"listening/listeners": []}, "failed", "listens on nothing"),
    ("SRV-03", {"listening/listeners/0/address": "::1"}, "failed", "listens on ::1"),
    ("SRV-03", {"container/published": []}, "failed", "published as ;"),
    ("SRV-03", {"container/published": ["9.9.9.9:1"]}, "failed", "9.9.9.9:1"),
    ("SRV-03", {"container/published": ["0.0.0.0:1"]}, "failed", "0.0.0.0:1"),
    ("SRV-03", {"listening/answers": {}}, "failed", "0 other addresses"),
    ("SRV-03", {"listening/answers": {"10.0.0.1": "timed out"}}, "failed", "10.0.0.1 timed out"),
    ("SRV-05", {"container/mounts": []}, "failed", "no mount"),
    ("SRV-06", {"container/shm_bytes": (16 << 30) - 1}, "failed", "17,179,869,183"),
    ("SRV-06", {"container/shm_bytes": (16 << 30) + 1}, "failed", "17,179,869,185"),
    ("SRV-06", {"container/shm_bytes": None}, "failed", "no container"),
    ("SRV-07", {"container/arguments": [], "container/entrypoint": []}, "failed", "0 arguments"),
    ("SRV-07", {"container/arguments": ["--api-key=x"]}, "failed", "--api-key=x"),
    ("SRV-08", {"readiness/ready": False, "readiness/exit_code": 0}, "failed", "exit code 0"),
    ("SRV-09", {"workers/processes": []}, "failed", "0 workers"),
    ("SRV-10", {"server_log/lines": 0}, "failed", ""),
    ("SRV-10", {"server_log/lines": 1}, "passed", "none in 1 lines"),
    ("SRV-11", {"served/models": {}}, "failed", "no model"),
    ("SRV-11", {"served/models": {"ernie-vl": None}}, "failed", "None tokens"),
    ("SRV-11", {"served/models": {"ernie-vl": 4095}}, "failed", "4095"),
    ("SRV-11", {"served/models": {"ernie-vl": 4096, "other": 1}}, "failed", "other"),
    ("SRV-12", {"container/shared_namespaces": ["network"]}, "failed", "shares network"),
    ("VFY-01", {"health/status": 199}, "failed", "HTTP 199"),
    ("VFY-01", {"health/status": 204}, "failed", "HTTP 204"),
    ("VFY-02", {"fixture_picture/bytes": 26_500}, "failed", "26,500 bytes"),
    ("VFY-02", {"fixture_picture/bytes": 26_502}, "failed", "26,502 bytes"),
    ("VFY-02", {"fixture_picture/sha256": LOW}, "failed", LOW),
    ("VFY-02", {"fixture_picture/sha256": HIGH}, "failed", HIGH),
    ("VFY-02", {"fixture_picture/looks_like": "an HTML page", "fixture_picture/bytes": 1}, "failed", "; it looks like an HTML page"),
    ("VFY-03", {"visual_grid/rows": 16, "visual_grid/columns": 16}, "passed", "16 × 16 = 256 tokens"),
    ("VFY-03", {"visual_grid/rows": 257, "visual_grid/columns": 1}, "failed", "257 tokens"),
    ("VFY-03", {"visual_grid/rows": 0}, "failed", "0 × 14 = 0 tokens"),
    ("VFY-03", {"visual_grid/rows": 1, "visual_grid/columns": 1}, "passed", "1 tokens"),
    ("VFY-04", {"reply/content": ""}, "failed", "the content is empty"),
    ("VFY-04", {"reply/content": " \n"}, "failed", "HTTP 200"),
    ("VFY-04", {"reply/problem": "status 200"}, "failed", "(status 200)"),
    ("VFY-05", {"reply/finish_reason": "rst"}, "failed", "'rst'"),
    ("VFY-05", {"reply/finish_reason": "tool_calls"}, "failed", "'tool_calls'"),
    ("VFY-06", {"reply/prompt_tokens": 3840, "reply/completion_tokens": 256}, "passed", "completion 256"),
    ("VFY-06", {"reply/prompt_tokens": 3841, "reply/completion_tokens": 256}, "failed", "prompt 3841"),
    ("VFY-06", {"reply/prompt_tokens": 1, "reply/completion_tokens": 1}, "passed", "prompt 1, completion 1"),
    ("VFY-06", {"reply/prompt_tokens": 0}, "failed", "prompt 0"),
    ("VFY-06", {"reply/prompt_tokens": -1}, "failed", "prompt -1"),
    ("VFY-06", {"reply/completion_tokens": 0}, "failed", "completion 0"),
    ("VFY-06", {"reply/completion_tokens": 257}, "failed", "completion 257"),
    ("VFY-06", {"reply/completion_tokens": None}, "failed", "completion None"),
    ("VFY-07", {"reply/content": None}, "failed", "None"),
    ("VFY-08", {"reply/content": None}, "failed", "None"),
    ("VFY-09", {"reply/content": None}, "failed", "None"),
    ("VFY-09", {"reply/reasoning": "because"}, "failed", "reasoning 'because'"),
    ("VFY-10", {"without_key/answers": {}}, "failed", "nothing was tried"),
    ("VFY-10", {"without_key/answers/no key/status": 400}, "failed", "HTTP 400"),
    ("VFY-10", {"without_key/answers/no key/status": 403}, "failed", "HTTP 403"),
    ("VFY-10", {"without_key/answers/no key/excerpt": "{}"}, "failed", "HTTP 401 {}"),
    ("VFY-10", {"without_key/answers/no key/excerpt": '{"error":"Unauthorized"}\n'}, "failed", "HTTP 401"),
    ("VFY-12", {"refused_media/answers/a video/status": 399}, "failed", "a video: HTTP 399"),
    ("VFY-12", {"refused_media/answers/a video/status": 500}, "failed", "a video: HTTP 500"),
    ("VFY-13", {"refused_length/answers": {}}, "failed", "nothing was tried"),
    ("VFY-15", {"without_text/content": ""}, "failed", "HTTP 200"),
    ("VFY-16", {"two_sizes/large/prompt_tokens": 296}, "failed", "49 and 296"),
    ("VFY-16", {"two_sizes/large/prompt_tokens": 294}, "failed", "49 and 294"),
    ("VFY-16", {"two_sizes/small/prompt_tokens": None}, "failed", "None and 295"),
    ("VFY-16", {"two_sizes/large/prompt_tokens": None}, "failed", "49 and None"),
    ("VFY-17", {"after_refusals/content": None}, "failed", "HTTP 200"),
    ("VFY-17", {"after_refusals/problem": "status 500"}, "failed", "(status 500)"),
    ("VFY-18", {"exposed/not_asked": 3}, "recorded", "3 more were not asked"),
    ("VFY-21", {"bounds/raised/prompt_tokens": 295, "bounds/lowered/prompt_tokens": 295}, "recorded", "cannot raise the server's bound, and cannot lower it"),
    ("STP-01", {"ending/stopped/exit_code": None}, "failed", "exit code None"),
    ("STP-01", {"ending/stopped/exit_code": 143}, "passed", "exit code 143"),
    ("STP-02", {"kept/images/rehearsal-image:local": False}, "failed", "missing: ['rehearsal-image:local']"),
    ("STP-03", {f"{AFTER}/memory/used": NOISE_BYTES}, "passed", "given back on 4 GPUs"),
    ("STP-03", {f"{AFTER}/memory/used": NOISE_BYTES + 1}, "failed", "GPU 0 holds 67,108,865 bytes"),
    ("STP-03", DEVICES, "failed", ""),
    ("STP-03", {"gpus_after_stop/devices": []}, "failed", ""),
    ("STP-04", {f"{AFTER}/ecc/volatile_uncorrected": 1}, "failed", "GPU 0: 1 new uncorrectable"),
    ("STP-04", {f"{AFTER}/ecc/volatile_uncorrected": 2, f"{GPU}/ecc/volatile_uncorrected": 1}, "failed", "1 new uncorrectable"),
    ("STP-04", {f"{AFTER}/ecc/volatile_uncorrected": 1, f"{GPU}/ecc/volatile_uncorrected": 1}, "passed", "4 GPUs answer as before"),
    ("STP-04", {f"{GPU}/ecc/volatile_uncorrected": 1}, "passed", "4 GPUs answer as before"),
    ("STP-04", {"gpus/devices": []}, "failed", ""),
    ("STP-04", {"gpus_after_stop/devices": []}, "failed", ""),
    ("STP-04", DEVICES, "failed", ""),
    ("STP-04", {f"{AFTER}/uuid": "GPU-other"}, "failed", ""),
    ("STP-05", {"memory_record/problem": "it broke off"}, "recorded", "not sampled to the end: it broke off"),
    ("STP-05", {"memory_record/gpus": [], "memory_record/problem": "none"}, "recorded", "no GPU sampled: none"),
    ("STP-05", {"memory_record/shm_peak": None}, "recorded", "could not be looked at"),
    ("RMV-01", {"removed/beside": ["thesis"], "removed/folder_left": ""}, "failed", "gone; also gone: thesis"),
    ("RMV-01", {"removed/beside": [], "removed/folder_left": ""}, "passed", "gone"),
    ("RMV-02", {"removed/images_left": {}}, "passed", "both gone"),
    ("HST-06", {"kernel/log/xids": list("abc")}, "failed", "= a; b; c"),
    ("HST-06", {"kernel/log/xids": list("abcdefg")}, "failed", "= a; b; c; 4 more Xid lines"),
    ("HST-07", {f"{GPU}/processes/+": {"type": "GpuProcess", "pid": 9, "kind": "compute", "name": "p", "bytes": 5}}, "failed", "p (pid 9, compute) holds 5 bytes"),
    ("HST-07", {f"{GPU}/processes/+": {"type": "GpuProcess", "pid": 9, "kind": "MPS", "name": "p", "bytes": UNREADABLE}}, "failed", "holds an unknown amount"),
    ("HST-18", {f"{GPU}/link/width": 32}, "failed", "GPU 0: 32 of 16"),
    ("IMG-06", {"deployment/image/pip_check_accepts": ["a requires b"]}, "passed", "no broken requirements"),
    ("IMG-06", {"deployment/image/pip_check_accepts": ["a requires b"], "derived_image/pip_check": ["a requires b"]}, "passed", "a requires b"),
    ("WTS-04", {"tensors/header_bytes": 0, "tensors/bytes_of": {"BF16": 8600, "U8": 96}}, "failed", "U8 96 bytes"),
    ("SRV-03", {"listening/listeners/+": {"type": "Listener", "address": "0.0.0.0", "port": 1, "process": ""}}, "failed", "127.0.0.1, 0.0.0.0"),
    ("SRV-05", {"container/mounts/+": {"source": "/etc", "target": "/etc", "read_only": True}}, "failed", "/etc at /etc"),
    ("SRV-09", {"workers/processes": WORKERS, "workers/gpus_of": {"0": ["a"], "1": ["b"], "2": ["c"], "3": ["d"], "4": ["a"]}}, "failed", "5 workers on 4 of 4 GPUs"),
    ("SRV-09", {"workers/processes": WORKERS[:4], "workers/gpus_of": {"0": ["a", "b"], "1": ["b"], "2": ["c"], "3": ["d"]}}, "failed", "on a, b"),
    ("SRV-10", {"server_log/lines": -1}, "failed", ""),
    ("SRV-14", {"gpus/devices": [], "gpus_when_ready/devices": []}, "recorded", "= no GPU"),
    ("SRV-14", {"gpus_when_ready/devices": []}, "recorded", "GPU 3: 0 bytes before, memory could not be read: the GPU is gone ready"),
    ("SRV-14", {"gpus/devices/0/index": 7}, "recorded", "GPU 7: 0 bytes before, memory could not be read: the GPU is gone ready"),
    ("SRV-14", {"gpus_when_ready/devices/2/memory/used": 41_339_060_224 - 5}, "recorded", "between the least and the most: 5 bytes"),
    ("SRV-14", {"gpus_when_ready/devices/2/memory": UNREADABLE}, "recorded", "between the least and the most: 0 bytes"),
    ("SRV-14", {f"gpus_when_ready/devices/{index}/memory": UNREADABLE for index in (2, 3)}, "recorded", "between the least and the most: 0 bytes"),
    ("SRV-14", {"gpus/devices": [], **{f"gpus_when_ready/devices/{index}/memory": UNREADABLE for index in (1, 2, 3)}}, "recorded", "= no GPU"),
    ("SRV-16", {"container/gpus": "3"}, "failed", "= --gpus 3 names 3 of 4 GPUs"),
    ("SRV-16", {"container/gpus": "4"}, "passed", "= --gpus 4 names 4 of 4 GPUs"),
    ("SRV-16", {"container/gpus": "5"}, "passed", "= --gpus 5 names 4 of 4 GPUs"),
    ("SRV-16", {"container/gpus": "device=0,1,2"}, "failed", "--gpus device=0,1,2 names 3 of 4 GPUs"),
    ("SRV-16", {"container/gpus": "device=nvidia.com/gpu=all"}, "passed", "names 4 of 4 GPUs"),
    ("SRV-16", {"container/gpus": ""}, "passed", "= no variable that hides one of 4 GPUs is set"),
    ("SRV-16", {"container/gpus": "", "container/environment": {"NVIDIA_VISIBLE_DEVICES": "all"}}, "passed", "'all' names 4 of 4 GPUs"),
    ("SRV-16", {"container/environment": {"CUDA_VISIBLE_DEVICES": ""}}, "failed", "CUDA_VISIBLE_DEVICES='' names 0 of 4 GPUs"),
    ("SRV-16", {"gpus/devices": []}, "failed", "names 0 of 0 GPUs"),
    ("VFY-22", {"workers/processes": [], "survivors/processes": []}, "failed", "= 0 of 0 workers live"),
    ("VFY-22", {"survivors/died": [3]}, "failed", "4 of 4 workers live; the first to die was VLLM::Worker_3"),
    ("VFY-22", {"survivors/died": [9]}, "failed", "= 4 of 4 workers live; worker 9 died, by the log"),
    ("VFY-22", {"workers/processes": WORKERS_BACKWARDS, "survivors/processes": WORKERS_BACKWARDS, "survivors/died": [1]}, "failed", "= 2 of 2 workers live; the first to die was VLLM::Worker_TP1 (pid 1), by the log"),
    ("VFY-22", {"survivors/died": [1, 0]}, "failed", "the first to die was VLLM::Worker_1"),
    ("VFY-22", {"survivors/processes": [], "survivors/ended": "exit code 0, bye"}, "failed", "0 of 4 workers live; the server has ended: exit code 0, bye; VLLM::Worker_0"),
    ("VFY-22", {"workers/processes": WORKERS[:1], "survivors/processes": WORKERS[1:], "survivors/died": [0]}, "failed", "= 0 of 1 worker live; the first to die was VLLM::Worker (pid 0), by the log"),
    ("VFY-22", {"workers/processes": WORKERS[:4], "survivors/processes": WORKERS[1:]}, "failed", "= 3 of 4 workers live; VLLM::Worker (pid 0) is gone"),
    ("VFY-22", {"workers/processes": WORKERS[:2], "survivors/processes": WORKERS[1:], "workers/gpus_of": {"0": ["GPU 2 (a)"]}}, "failed", "= 1 of 2 workers live; VLLM::Worker (pid 0) of GPU 2 (a) is gone"),
    ("SRV-14", {"gpus_when_ready": UNREADABLE}, "recorded", "ready: x could not be read: y"),
    ("VFY-03", {"visual_grid/rows": -1}, "failed", "-14 tokens"),
    ("VFY-11", {"with_wrong_keys/answers/basic scheme/status": 200}, "failed", 'basic scheme: HTTP 200 {"error":"Unauthorized"}\nwrong key'),
    ("VFY-11", {"with_wrong_keys/answers/basic scheme/status": 402}, "failed", 'basic scheme: HTTP 402 {"error":"Unauthorized"}\nwrong key'),
    ("VFY-12", {"refused_media/answers/a video/status": 500, "refused_media/answers/a video/excerpt": "x"}, "failed", "a video: HTTP 500 x\na second image"),
    ("VFY-12", {"refused_media/answers/a video/status": 200, "refused_media/answers/a video/excerpt": "x"}, "failed", "a video: HTTP 200 x\na second image"),
    ("VFY-16", grids(2, 2, (50, 50)), "failed", "50 and 50"),
    ("VFY-16", grids(2, 1, (50, 49)), "failed", "50 and 49"),
    ("VFY-16", grids(1, 2, (49, 50)), "passed", "49 and 50"),
    ("VFY-18", {"exposed/routes/0/status": {"type": "Absent", "what": "answer", "detail": "refused"}}, "recorded", "POST /tokenize (200)"),
    ("VFY-21", {"bounds/raised/prompt_tokens": 200}, "recorded", "cannot raise the server's bound, and can lower it"),
    ("VFY-21", {"bounds/lowered/prompt_tokens": 400}, "recorded", "can raise the server's bound, and cannot lower it"),
    ("VFY-21", {"bounds/lowered/prompt_tokens": None}, "recorded", "upper bound 100,352 pixels: HTTP 200"),
    ("WTS-09", {"weights/seconds": 3.0, f"{SHARD}/read": 0, f"{SHARD}/received": 8_000_000}, "recorded", ": 3 MB/s with"),
    ("STP-03", {"gpus_after_stop/devices/+": SAME}, "failed", ""),
    ("STP-03", {f"{AFTER}/memory/used": NOISE_BYTES + 1, "gpus_after_stop/devices/1/processes/+": {"type": "GpuProcess", "pid": 9, "kind": "compute", "name": "p", "bytes": 5}}, "failed", "= GPU 0 holds 67,108,865 bytes (64.00 MiB) more"),
    ("STP-03", {f"{AFTER}/memory/used": NOISE_BYTES + 1, f"{AFTER}/processes/+": {"type": "GpuProcess", "pid": 9, "kind": "compute", "name": "p", "bytes": 5}}, "failed", "= GPU 0 holds 67,108,865 bytes (64.00 MiB) more; GPU 0: p (pid 9)"),
    ("STP-04", {f"{AFTER}/ecc/volatile_uncorrected": 3, f"{GPU}/ecc/volatile_uncorrected": 1}, "failed", "GPU 0: 2 new uncorrectable"),
    ("STP-04", {"kernel/log/xids": ["x"], "kernel_log_after_stop/xids": ["x"]}, "passed", "4 GPUs answer as before"),
    ("STP-04", {"kernel/log/xids": ["x"], "kernel_log_after_stop/xids": ["x", "x"]}, "failed", "= x"),
    ("STP-04", {"kernel/log": UNREADABLE}, "passed", "4 GPUs answer as before"),
    ("STP-04", {"kernel_log_after_stop": UNREADABLE}, "passed", "(x could not be read: y)"),
    ("STP-04", {f"{GPU}/uuid": "GPU-00000000-0000-4000-8000-000000000001"}, "failed", "= GPU 0: GPU-00000000-0000-4000-8000-000000000000 was not there before"),
    ("STP-04", {f"{AFTER}/uuid": "GPU-00000000-0000-4000-8000-000000000001"}, "failed", "= GPU-00000000-0000-4000-8000-000000000000 is gone"),
]  # fmt: skip


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    return judgements.load(Path(GIVEN))


def base(cases: list[Case]) -> Case:
    """Return the plain run's case; of what only an option makes applicable, the first one."""
    return next((case for case in cases if case.run == judgements.PLAIN), cases[0])


def changed(case: Case, changes: dict[str, Any]) -> tuple[Case, Deployment]:
    """Return a case and the deployment with other values in them. Raises KeyError or IndexError for a place that is not there."""
    facts: dict[str, Any] = {name: msgspec.json.decode(raw) for name, raw in case.facts.items()}
    facts["deployment"] = msgspec.to_builtins(judgements.ground()[0])
    for path, value in changes.items():
        *parents, last = path.split("/")
        place: Any = facts
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place[name]
        if last == "+":
            place.append(place[-1] if value == SAME else value)
        else:
            place[last]  # it must be there, or the change would change nothing
            place[last] = value
    deployment = msgspec.convert(facts.pop("deployment"), Deployment)
    made = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in facts.items()}
    return msgspec.structs.replace(case, facts=made), deployment


@pytest.mark.parametrize(
    ("identity", "changes", "outcome", "says"), CHANGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_edge_of_a_rule(
    cases: dict[str, list[Case]], identity: str, changes: dict[str, Any], outcome: str, says: str
) -> None:
    case, deployment = changed(base(cases[identity]), changes)
    came, judgement = judgements.judge(msgspec.structs.replace(case, outcome=outcome), deployment)

    assert (came, bool(judgement.found)) == (outcome, True), judgement.found
    assert says.removeprefix("= ") in judgement.found
    assert not says.startswith("= ") or judgement.found == says.removeprefix("= ")
