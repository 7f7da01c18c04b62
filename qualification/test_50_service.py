"""Stage SRV: the server as it runs, judged from what is seen of it and not from what was asked for."""

from __future__ import annotations

import pytest

from fixtures.engines.interface import HIDDEN, ContainerInfo, MountInfo
from fixtures.probes.environment import asked_for, named
from fixtures.probes.gpu import GpuInventory, GpuMemory
from fixtures.probes.log import Log
from fixtures.probes.network import Exposure, OtherPorts
from fixtures.provisioners.image import Built
from fixtures.provisioners.server import Readiness, Served, Started
from fixtures.service import Workers
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, count_bytes, count_of

pytestmark = pytest.mark.qualify
Container = ContainerInfo | Absent | Unreadable


def test_srv_01_arguments_are_documented(requirement: Judgement, deployment: Deployment, container: Container) -> None:
    wanted = stated(deployment.service).arguments
    requirement.wants(" ".join(wanted))
    found = requirement.needs(container).arguments
    missing = [word for word in wanted if word not in found]
    more = [word for word in found if word not in wanted]
    told = f" (missing {missing}, more {more})" if missing or more else ""
    requirement.finds(" ".join(found) + told)
    assert found == wanted


def test_srv_02_container_runs_the_qualified_image(
    requirement: Judgement, container: Container, derived_image: Built | Unreadable
) -> None:
    built = requirement.needs(derived_image).image
    requirement.wants(f"image {built.id if built else 'of the build'}")
    found = requirement.needs(container).image_id
    requirement.finds(f"image {found or 'unknown'}")
    assert built is not None
    assert found == built.id


def test_srv_03_port_is_loopback_only(
    requirement: Judgement, deployment: Deployment, listening: Exposure | Unreadable, container: Container
) -> None:
    address = stated(deployment.service).address
    requirement.wants(f"listening on {address} only; every other address refuses")
    seen = requirement.needs(listening)
    listeners = [entry.address for entry in requirement.needs(seen.listeners)]
    answering = [f"{other} {answer}" for other, answer in seen.answers.items() if answer]
    published = requirement.needs(container).published
    others = "; ".join(answering) or f"{len(seen.answers)} other addresses refuse"
    where = f"port {seen.port} listens on {', '.join(listeners) or 'nothing'}"
    requirement.finds(f"{where}, published as {', '.join(published)}; {others}")
    assert listeners
    assert set(listeners) == {address}
    assert published == (f"{address}:{seen.port}",)
    assert seen.answers
    assert not answering


def test_srv_04_environment_is_offline(requirement: Judgement, deployment: Deployment, container: Container) -> None:
    wanted = {**stated(deployment.service).environment, stated(deployment.settings).key_variable: HIDDEN}
    requirement.wants(", ".join(f"{name}={value}" for name, value in wanted.items()))
    found = requirement.needs(container).environment
    requirement.finds(", ".join(f"{name}={found.get(name, 'not set')}" for name in wanted))
    assert all(found.get(name) == value for name, value in wanted.items())


def test_srv_05_mounts_are_documented(requirement: Judgement, container: Container, started: Started) -> None:
    requirement.wants(_told(started.mounts))
    found = requirement.needs(container).mounts
    requirement.finds(_told(found))
    assert set(found) == set(started.mounts)


def _told(mounts: tuple[MountInfo, ...]) -> str:
    modes = {True: "read-only", False: "writable"}
    rows = [f"{mount.source} at {mount.target} ({modes[mount.read_only]})" for mount in mounts]
    return "\n".join(sorted(rows)) or "no mount"


def test_srv_06_shared_memory_is_documented(
    requirement: Judgement, deployment: Deployment, container: Container
) -> None:
    wanted = stated(stated(deployment.service).shm_bytes)
    requirement.wants(count_bytes(wanted))
    found = requirement.needs(container).shm_bytes
    requirement.finds("no container" if found is None else count_bytes(found))
    assert found == wanted


def test_srv_07_key_is_in_no_argument(requirement: Judgement, container: Container) -> None:
    requirement.wants("the key in no argument, and no --api-key")
    found = requirement.needs(container)
    words = [*found.entrypoint, *found.arguments]
    showing = [word for word in words if HIDDEN in word or word.startswith("--api-key")]
    requirement.finds(f"{len(words)} arguments, {', '.join(showing) if showing else 'none with the key'}")
    assert found.arguments
    assert not showing


def test_srv_08_server_becomes_ready(requirement: Judgement, deployment: Deployment, readiness: Readiness) -> None:
    deadline_s = stated(deployment.service).ready_deadline_s
    requirement.wants(f"healthy, listing its model and completing within {deadline_s} s")
    ended = f", exit code {readiness.exit_code}" if readiness.exit_code is not None else ""
    problem = f": {readiness.problem}" if readiness.problem else ""
    requirement.finds(f"{readiness.phase} after {readiness.seconds:.1f} s{ended}{problem}")
    assert readiness.ready


def test_srv_09_each_worker_has_its_gpu(
    requirement: Judgement, deployment: Deployment, workers: Workers | Absent | Unreadable
) -> None:
    wanted, has_gpus = stated(deployment.service).workers, deployment.host is not None
    requirement.wants(
        f"{count_of(wanted, 'worker')}{', each on one GPU of its own' if has_gpus else ', by their processes'}"
    )
    found = requirement.needs(workers)
    held = [gpu for gpus in found.gpus_of.values() for gpu in gpus]
    rows = [f"pid {process.pid} ({process.name})" for process in found.processes]
    counted = count_of(len(found.processes), "worker")
    if has_gpus:
        rows = [
            f"{row} on {', '.join(found.gpus_of[str(process.pid)]) or 'no GPU'}"
            for row, process in zip(rows, found.processes, strict=True)
        ]
        counted += f" on {len(set(held))} of {count_of(found.gpus_seen, 'GPU')}"
    requirement.finds("\n".join([counted, *rows]))
    assert len(found.processes) == wanted
    if has_gpus:
        assert all(len(gpus) == 1 for gpus in found.gpus_of.values())
        assert len(set(held)) == wanted


def test_srv_10_log_is_free_of_errors(requirement: Judgement, server_log: Log | Absent | Unreadable) -> None:
    requirement.wants("no out-of-memory, NCCL, import, tensor-parallel or CUDA error in the log")
    log = requirement.needs(server_log)
    requirement.finds("\n".join(f"{kind}: {line}" for kind, line in log.errors) or f"none in {log.lines:,} lines")
    assert log.lines > 0
    assert not log.errors


def test_srv_11_model_and_context_are_served(
    requirement: Judgement, deployment: Deployment, served: Served | Absent | Unreadable
) -> None:
    service = stated(deployment.service)
    requirement.wants(f"{service.model_name} with {service.context_tokens:,} tokens")
    found = requirement.needs(served).models
    requirement.finds(", ".join(f"{name} with {context} tokens" for name, context in found.items()) or "no model")
    assert found == {service.model_name: service.context_tokens}


def test_srv_12_container_is_confined(requirement: Judgement, container: Container) -> None:
    requirement.wants("not privileged, no namespace shared with the host")
    found = requirement.needs(container)
    shared = ", ".join(found.shared_namespaces)
    requirement.finds(
        f"{'privileged' if found.privileged else 'not privileged'}, {f'shares {shared}' if shared else 'shares none'}"
    )
    assert not found.privileged
    assert not found.shared_namespaces


def test_srv_13_start_is_recorded(
    requirement: Judgement, readiness: Readiness, server_log: Log | Absent | Unreadable
) -> None:
    measures = server_log.measures if isinstance(server_log, Log) else {"log": str(server_log)}
    method = "once, by this suite's monotonic clock, from the start to the first real completion"
    rows = [f"{name}: {value}" for name, value in measures.items()]
    requirement.finds("\n".join([f"{readiness.phase} after {readiness.seconds:.1f} s; {method}", "by the log:", *rows]))


def test_srv_14_gpu_memory_is_recorded(
    requirement: Judgement,
    gpus: GpuInventory | Absent | Unreadable,
    gpus_when_ready: GpuInventory | Absent | Unreadable,
) -> None:
    if isinstance(gpus, GpuInventory) and isinstance(gpus_when_ready, GpuInventory):
        ready = {gpu.index: gpu.memory for gpu in gpus_when_ready.devices}
        gone = Unreadable(what="memory", reason="the GPU is gone")
        rows = [
            f"GPU {gpu.index}: {_size(gpu.memory)} before, {_size(ready.get(gpu.index, gone))} ready"
            for gpu in gpus.devices
        ]
        sizes = [memory.used for memory in ready.values() if isinstance(memory, GpuMemory)]
        rows += [f"between the least and the most: {count_bytes(max(sizes) - min(sizes))}"] if len(sizes) > 1 else []
        requirement.finds("\n".join(rows) or "no GPU")
    else:
        requirement.finds(f"before: {gpus}; ready: {gpus_when_ready}")


def _size(memory: GpuMemory | Unreadable) -> str:
    return count_bytes(memory.used) if isinstance(memory, GpuMemory) else str(memory)


def test_srv_15_other_ports_are_recorded(requirement: Judgement, other_ports: OtherPorts | Unreadable) -> None:
    if isinstance(other_ports, Unreadable):
        requirement.finds(other_ports)
        return
    requirement.finds("\n".join(map(str, other_ports.listeners)) or "none on this host beyond loopback")


def test_srv_16_server_is_given_every_gpu(
    requirement: Judgement, container: Container, gpus: GpuInventory | Absent | Unreadable
) -> None:
    requirement.wants("every GPU: by what the container asks for, and by the variables that could hide one")
    uuids = [requirement.needs(gpu.uuid) for gpu in requirement.needs(gpus).devices]
    found = requirement.needs(container)
    counts = {f"--gpus {found.gpus}": asked_for(found.gpus, uuids)} if found.gpus else {}
    counts |= named(found.environment, uuids)
    every = count_of(len(uuids), "GPU")
    told = ", ".join(f"{word} names {count} of {every}" for word, count in counts.items())
    requirement.finds(told or f"no variable that hides one of {every} is set")
    assert uuids
    assert set(counts.values()) <= {len(uuids)}
