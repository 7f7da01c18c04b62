"""Stage STP: the server stopped, and what must and must not be left of it."""

from __future__ import annotations

from collections import Counter

import pytest

from fixtures.probes.gpu import Gpu, GpuInventory
from fixtures.probes.kernel import Kernel, KernelLog
from fixtures.sampling import MemoryRecord, WorkerPeak
from fixtures.stop import DiskUse, Ending, Kept, held
from recipe.judgement import Judgement
from recipe.series import Series
from recipe.values import Absent, Unreadable, count_bytes

pytestmark = pytest.mark.qualify


def test_stp_01_service_exits_and_port_closes(requirement: Judgement, ending: Ending) -> None:
    requirement.wants("exits on SIGTERM within its grace, without being killed; the port refuses")
    if ending.started_problem:
        requirement.needs(Unreadable(what="stop", reason=f"the server was never started: {ending.started_problem}"))
    end = ending.stopped
    told = ending.problem or ("had to be killed" if end.killed else f"exit code {end.exit_code}")
    told = f"it had ended of itself: {ending.died}" if ending.died else told
    requirement.finds(
        f"{told} after {end.seconds:.1f} s; the port {'still accepts' if ending.port_open else 'refuses'}"
    )
    assert not ending.died
    assert end.exit_code is not None
    assert not end.killed
    assert not ending.port_open


def test_stp_02_container_gone_files_kept(requirement: Judgement, kept: Kept) -> None:
    requirement.wants("no container; images and all model files are there")
    gone = [*kept.missing, *(reference for reference, there in kept.images.items() if not there)]
    there = f"missing: {gone}" if gone else "images and model files are there"
    requirement.finds(f"container: {kept.container or 'none of this run'}; {there}")
    assert not kept.container
    assert not gone


def test_stp_03_gpu_memory_is_given_back(
    requirement: Judgement,
    gpus: GpuInventory | Absent | Unreadable,
    gpus_after_stop: GpuInventory | Absent | Unreadable,
) -> None:
    requirement.wants("memory of each GPU as before the start, within 64 MiB")
    before, after = requirement.needs(gpus), requirement.needs(gpus_after_stop)
    rise = held(before, after)
    holders = [
        f"GPU {gpu.index}: {process.name} (pid {process.pid})"
        for gpu in after.devices
        if isinstance(gpu.processes, tuple) and gpu.index in rise
        for process in gpu.processes
    ]
    rows = [f"GPU {index} holds {count_bytes(size)} more" for index, size in rise.items()]
    requirement.finds("; ".join([*rows, *holders]) or f"given back on {after.counted}")
    measured = [requirement.needs(gpu.memory) for gpu in (*before.devices, *after.devices)]
    assert len(measured) == 2 * len(before.devices) > 0
    assert not rise


def test_stp_04_gpus_answer_as_before(
    requirement: Judgement,
    gpus: GpuInventory | Absent | Unreadable,
    gpus_after_stop: GpuInventory | Absent | Unreadable,
    kernel: Kernel,
    kernel_log_after_stop: KernelLog | Unreadable,
) -> None:
    requirement.wants("every GPU answers, with no new uncorrectable ECC error and no new Xid")
    before, after = requirement.needs(gpus), requirement.needs(gpus_after_stop)
    errors = {gpu.uuid: _uncorrectable(requirement, gpu) for gpu in before.devices}
    there = {gpu.uuid for gpu in after.devices}
    told = [*after.lost, *(f"{uuid} is gone" for uuid in errors if uuid not in there)]
    told += _new_xids(kernel.log, kernel_log_after_stop)
    for gpu in after.devices:
        more = _uncorrectable(requirement, gpu) - errors[gpu.uuid] if gpu.uuid in errors else 0
        told += [f"GPU {gpu.index}: {more} new uncorrectable ECC errors"] if more > 0 else []
        told += [] if gpu.uuid in errors else [f"GPU {gpu.index}: {gpu.uuid} was not there before"]
    log = f" ({kernel_log_after_stop})" if isinstance(kernel_log_after_stop, Unreadable) else ""
    requirement.finds(("; ".join(told) or f"{after.counted} answer as before") + log)
    assert errors
    assert not told


def _uncorrectable(requirement: Judgement, gpu: Gpu) -> int:
    return requirement.needs(gpu.ecc).volatile_uncorrected


def _new_xids(before: KernelLog | Unreadable, after: KernelLog | Unreadable) -> list[str]:
    """Return the Xid lines that came during the run; an unreadable log has none to compare, and HST-17 says so."""
    if not isinstance(before, KernelLog) or not isinstance(after, KernelLog):
        return []
    return list((Counter(after.xids) - Counter(before.xids)).elements())


def test_stp_05_memory_and_disk_are_recorded(
    requirement: Judgement, memory_record: MemoryRecord, gpu_memory_series: Series, disk_use: DiskUse
) -> None:
    rows = [
        f"GPU {gpu.index}: {count_bytes(gpu.before)} before, {count_bytes(gpu.peak)} at most, "
        f"{count_bytes(gpu.after)} after the stop"
        for gpu in memory_record.gpus
    ]
    rows += [_held(worker) for worker in memory_record.workers]
    before, peak = count_bytes(memory_record.host_before), count_bytes(memory_record.host_peak)
    rows.append(f"host memory: {before} before, {peak} at most")
    shm = memory_record.shm_peak
    told = "could not be looked at" if shm is None else f"{count_bytes(shm)} at most"
    rows.append(f"shared memory of the server: {told}")
    rows += [f"disk, {name}: {count_bytes(size)}" for name, size in disk_use.bytes_of.items()]
    if memory_record.problem:
        rows.append(f"{'not sampled to the end' if memory_record.gpus else 'no GPU sampled'}: {memory_record.problem}")
    method = f"{memory_record.samples} samples, one every {memory_record.every_s} s"
    method += f"; of GPUs: {gpu_memory_series.method}" if memory_record.gpus else ""
    requirement.finds("\n".join([*rows, method]))


def _held(worker: WorkerPeak) -> str:
    gpus = "".join(f", {count_bytes(size)} of GPU {index}" for index, size in worker.gpus.items())
    return f"{worker.name} (pid {worker.pid}): {count_bytes(worker.resident)} resident{gpus} at most"
