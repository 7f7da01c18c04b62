"""Stage HST, continued: what bends a host without being seen, and what is recorded of it."""

from __future__ import annotations

import pytest

from fixtures.engines.interface import EngineInfo
from fixtures.host import Toolkit
from fixtures.probes.environment import HIDING, Environment, named
from fixtures.probes.gpu import GpuInventory
from fixtures.probes.hardware import Hardware
from fixtures.probes.kernel import Kernel
from fixtures.probes.system import System
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, count_bytes, count_of, driver_suffix

pytestmark = pytest.mark.qualify
Gpus = GpuInventory | Absent | Unreadable
Engine = EngineInfo | Absent | Unreadable


def test_hst_17_kernel_log_reaches_back_to_the_boot(requirement: Judgement, kernel: Kernel) -> None:
    requirement.wants("a kernel log that reaches back to the boot")
    log = requirement.needs(kernel.log)
    begin = (
        "from the boot on" if log.since_boot else "which begin later than the boot: an earlier Xid would not be seen"
    )
    requirement.finds(f"{log.lines:,} lines from {log.source}, {begin}")
    assert log.since_boot


def test_hst_18_pci_links_have_all_lanes(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("each GPU's PCI Express link has as many lanes as device and slot can have")
    inventory = requirement.needs(gpus)
    links = {gpu.index: requirement.needs(gpu.link) for gpu in inventory.devices}
    requirement.finds("; ".join(f"GPU {i}: {link.width} of {link.width_max}" for i, link in links.items()) or "no GPU")
    assert links
    assert all(link.width == link.width_max for link in links.values())


def test_hst_19_gpu_memory_has_no_history_of_errors(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("no corrected or earlier ECC error, and no row remapped")
    inventory = requirement.needs(gpus)
    told = []
    for gpu in inventory.devices:
        ecc, remaps = requirement.needs(gpu.ecc), requirement.needs(gpu.remaps)
        numbers = {
            "corrected ECC errors since the driver was loaded": ecc.volatile_corrected,
            "corrected ECC errors ever": ecc.aggregate_corrected,
            "uncorrectable ECC errors ever": ecc.aggregate_uncorrected,
            "rows remapped": remaps.corrected + remaps.uncorrected,
        }
        told += [f"GPU {gpu.index}: {number} {what}" for what, number in numbers.items() if number]
    requirement.finds("; ".join(told) or f"none on {inventory.counted}")
    assert inventory.devices
    assert not told


def test_hst_20_driver_is_for_physical_gpus(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("a driver for physical GPUs, not a vGPU one")
    version = requirement.needs(requirement.needs(gpus).driver_version)
    requirement.finds(f"driver {version}")
    assert not driver_suffix(version)


def test_hst_21_no_variable_hides_a_gpu(requirement: Judgement, environment: Environment, gpus: Gpus) -> None:
    requirement.wants(f"{' and '.join(HIDING)} are not set, or name every GPU")
    uuids = [requirement.needs(gpu.uuid) for gpu in requirement.needs(gpus).devices]
    naming = named(environment.variables, uuids)
    told = (f"{word} names {count} of {count_of(len(uuids), 'GPU')}" for word, count in naming.items())
    requirement.finds(", ".join(told) or "neither is set")
    assert uuids or not naming
    assert set(naming.values()) <= {len(uuids)}


def test_hst_22_no_proxy_stands_before_the_service(
    requirement: Judgement, deployment: Deployment, environment: Environment
) -> None:
    requirement.wants(f"a request to {stated(deployment.service).address} goes to no proxy of the environment")
    name = environment.loopback_proxy
    requirement.finds(
        f"{name}={environment.variables[name]}, and NO_PROXY does not exempt it" if name else "it goes there directly"
    )
    assert not name


def test_hst_23_engine_is_dockers_own(requirement: Judgement, container_engine: Engine) -> None:
    requirement.wants("Docker's own engine as a system package: no Podman, no snap, no Docker Desktop")
    engine = requirement.needs(container_engine)
    requirement.finds(f"{engine.product} {engine.version} on {engine.operating_system}, data in {engine.data_root}")
    assert "Podman" not in engine.product
    assert "/snap/" not in engine.data_root
    assert engine.operating_system != "Docker Desktop"


def test_hst_24_engine_runs_on_this_host_as_root(
    requirement: Judgement, container_engine: Engine, operating_system: System | Absent | Unreadable
) -> None:
    requirement.wants("an engine on this host's own socket and kernel, not rootless")
    engine, system = requirement.needs(container_engine), requirement.needs(operating_system)
    rootless = any(option.startswith("name=rootless") for option in engine.security_options)
    mode = "rootless" if rootless else "as root"
    requirement.finds(f"{engine.endpoint}, {mode}, kernel {engine.kernel} (this host: {system.kernel})")
    assert engine.endpoint.startswith("unix://")
    assert engine.kernel == system.kernel
    assert not rootless


def test_hst_25_containers_keep_gpus_over_a_reload(requirement: Judgement, container_engine: Engine) -> None:
    requirement.wants(
        "another cgroup driver than systemd, or GPUs given by CDI, so that 'systemctl daemon-reload' takes none"
    )
    engine = requirement.needs(container_engine)
    devices = [device for device in engine.cdi_devices if device.startswith("nvidia.com/gpu=")]
    requirement.finds(f"cgroup driver {engine.cgroup_driver}, CDI devices: {', '.join(devices) or 'none'}")
    assert engine.cgroup_driver != "systemd" or devices


def test_hst_26_memory_holds_the_shared_memory(
    requirement: Judgement, deployment: Deployment, operating_system: System | Absent | Unreadable
) -> None:
    wanted = stated(stated(deployment.service).shm_bytes)
    requirement.wants(f"more memory than the container's shared memory, {count_bytes(wanted)}")
    memory = requirement.needs(operating_system).memory_bytes
    requirement.finds(count_bytes(memory))
    assert memory > wanted


def test_hst_27_clock_is_synchronised(requirement: Judgement, operating_system: System | Absent | Unreadable) -> None:
    requirement.wants("a clock that follows a time source, by the kernel's own word")
    synchronised = requirement.needs(requirement.needs(operating_system).clock_synchronised)
    requirement.finds("synchronised" if synchronised else "not synchronised")
    assert synchronised


def test_hst_28_gpus_have_the_documented_memory(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    wanted = stated(stated(deployment.host).gpu_memory_min_bytes)
    requirement.wants(f"at least {count_bytes(wanted)} on each GPU")
    sizes = {gpu.index: requirement.needs(gpu.memory).total for gpu in requirement.needs(gpus).devices}
    requirement.finds("; ".join(f"GPU {index}: {count_bytes(size)}" for index, size in sizes.items()) or "no GPU")
    assert sizes
    assert min(sizes.values()) >= wanted


def test_hst_29_engine_and_toolkit_are_recorded(
    requirement: Judgement, container_engine: Engine, toolkit: Toolkit
) -> None:
    rows = [f"container toolkit: package {toolkit.version}, command {toolkit.command}"]
    if isinstance(container_engine, EngineInfo):
        engine = container_engine
        parts = ", ".join(f"{name} {version}" for name, version in engine.components.items())
        rows += [
            f"{engine.product}: {parts}",
            f"images: {engine.image_store} store, {engine.storage_driver} in {engine.data_root}",
            f"runtimes: {', '.join(engine.runtimes)}; default {engine.default_runtime}",
            f"cgroup: {engine.cgroup_driver}, version {engine.cgroup_version}",
            f"CDI: {', '.join(engine.cdi_devices) or 'no device'} in {', '.join(engine.cdi_folders) or 'no folder'}",
            f"proxies: {', '.join(f'{name} {value}' for name, value in engine.proxies.items()) or 'none'}",
        ]
    else:
        rows.append(str(container_engine))
    requirement.finds("\n".join(rows))


def test_hst_30_hardware_is_recorded(requirement: Judgement, hardware: Hardware) -> None:
    nodes = ", ".join(f"{node}: {processors}" for node, processors in hardware.numa_nodes.items())
    flags = ", ".join(hardware.flags) or "none of those looked for"
    rows = [f"{hardware.processors} × {hardware.processor} ({flags})", f"NUMA {nodes or 'unknown'}"]
    requirement.finds("\n".join([*rows, str(hardware.topology)]))


def test_hst_31_environment_is_recorded(requirement: Judgement, environment: Environment) -> None:
    listed = [f"{name}={value}" for name, value in environment.variables.items()]
    requirement.finds("\n".join(listed) or "none of the variables that matter is set")
