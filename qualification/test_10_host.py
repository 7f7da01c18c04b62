"""Stage HST: the host, before anything is changed on it."""

from __future__ import annotations

import pytest

from fixtures.engines.interface import EngineInfo
from fixtures.host import Toolkit
from fixtures.probes.gpus import Gpu, GpuInventory
from fixtures.probes.network import Port
from fixtures.probes.storage import Storage
from fixtures.probes.system import CudaToolkits, Packages, System
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, count_bytes, driver_meets, driver_suffix

pytestmark = pytest.mark.qualify
Gpus = GpuInventory | Absent | Unreadable


def _named(devices: tuple[Gpu, ...]) -> str:
    """Return ``4 × NVIDIA L40S, 1 × NVIDIA T400``, or that there is none."""
    names = [str(gpu.name) for gpu in devices]
    return ", ".join(f"{names.count(name)} × {name}" for name in dict.fromkeys(names)) or "no NVIDIA GPU"


def test_hst_01_operating_system_is_documented(
    requirement: Judgement, deployment: Deployment, operating_system: System | Absent | Unreadable
) -> None:
    host = stated(deployment.host)
    requirement.wants(f"{host.os_id} {host.os_version} on {host.architecture}")
    found = requirement.needs(operating_system)
    requirement.finds(
        f"{found.os_id} {found.os_version} on {found.architecture} ({found.os_title}, kernel {found.kernel})"
    )
    assert (found.os_id, found.os_version, found.architecture) == (host.os_id, host.os_version, host.architecture)


def test_hst_02_driver_is_loaded_and_consistent(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("NVIDIA driver loaded, kernel module and library of one version")
    inventory = requirement.needs(gpus)
    requirement.finds(f"library {inventory.library_version}, kernel module {inventory.module_version}")
    library, module = requirement.needs(inventory.library_version), requirement.needs(inventory.module_version)
    requirement.finds(f"library {library}, kernel module {module}")
    assert library == module


def test_hst_03_gpu_count_is_exact(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    wanted = stated(deployment.host).gpu_count
    requirement.wants(f"exactly {wanted} NVIDIA GPUs, none lost and none else")
    inventory = requirement.needs(gpus)
    requirement.finds("; ".join([_named(inventory.devices), *inventory.lost]))
    assert len(inventory.devices) == wanted
    assert not inventory.lost


def test_hst_04_gpus_are_whole_documented_products(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    product = stated(deployment.host).gpu_product
    requirement.wants(f"each GPU is a physical {product}: exact name, no vGPU profile, no MIG")
    inventory = requirement.needs(gpus)
    told = []
    wrong = 0
    for gpu in inventory.devices:
        name = requirement.needs(gpu.name).removeprefix("NVIDIA ")
        virtual, mig = str(gpu.virtualization), gpu.mig == "on"
        is_virtual = "vgpu" in virtual or "vsga" in virtual
        wrong += name != product or is_virtual or mig
        told.append(f"GPU {gpu.index}: {gpu.name}{' (vGPU)' if is_virtual else ''}{' (MIG on)' if mig else ''}")
    requirement.finds("; ".join(told) or "no NVIDIA GPU")
    assert inventory.devices
    assert wrong == 0


def test_hst_05_driver_meets_minimum(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    minimum = stated(deployment.host).driver_min
    requirement.wants(f"driver {minimum} or newer, compared as numbers")
    version = requirement.needs(requirement.needs(gpus).library_version)
    suffix = driver_suffix(version)
    requirement.finds(f"driver {version}{f' (the suffix {suffix} marks a vGPU driver)' if suffix else ''}")
    assert driver_meets(version, minimum)


def test_hst_06_gpus_are_healthy(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("no uncorrectable ECC error, no pending or failed row remap, no Xid since boot")
    inventory = requirement.needs(gpus)
    sick = list(inventory.xids) if isinstance(inventory.xids, tuple) else []
    for gpu in inventory.devices:
        if requirement.needs(gpu.ecc_uncorrected):
            sick.append(f"GPU {gpu.index}: {gpu.ecc_uncorrected} uncorrectable ECC errors")
        if requirement.needs(gpu.remap_pending) or requirement.needs(gpu.remap_failed):
            sick.append(f"GPU {gpu.index}: row remap {'failed' if gpu.remap_failed is True else 'pending'}")
    log = f" (kernel log: {inventory.xids.reason})" if isinstance(inventory.xids, Unreadable) else ""
    requirement.finds(("; ".join(sick) or f"{len(inventory.devices)} GPUs without a fault") + log)
    assert inventory.devices
    assert not sick


def test_hst_07_no_foreign_process_holds_gpu_memory(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("no process holds memory on a GPU")
    inventory = requirement.needs(gpus)
    held = [
        f"GPU {gpu.index}: {process.name} (pid {process.pid}) holds {_size(process.bytes)}"
        for gpu in inventory.devices
        for process in requirement.needs(gpu.processes)
    ]
    requirement.finds("; ".join(held) or f"none on {len(inventory.devices)} GPUs")
    assert inventory.devices
    assert not held


def _size(size: int | Unreadable) -> str:
    return count_bytes(size) if isinstance(size, int) else "an unknown amount"


def test_hst_08_docker_engine_answers(
    requirement: Judgement, container_engine: EngineInfo | Absent | Unreadable
) -> None:
    requirement.wants("a Docker Engine that answers")
    engine = requirement.needs(container_engine)
    requirement.finds(
        f"version {engine.version}, API {engine.api_version}, {engine.storage_driver} in {engine.data_root}"
    )
    assert engine.version


def test_hst_09_container_toolkit_is_configured(requirement: Judgement, toolkit: Toolkit) -> None:
    requirement.wants(
        "nvidia-container-toolkit installed, runtime 'nvidia' known to Docker, NVIDIA_DISABLE_REQUIRES not set"
    )
    version = requirement.needs(toolkit.version)
    runtimes = requirement.needs(toolkit.runtimes)
    switched = f"; NVIDIA_DISABLE_REQUIRES={toolkit.disabled_checks}" if toolkit.disabled_checks else ""
    requirement.finds(f"version {version}, runtimes {', '.join(runtimes)}{switched}")
    assert "nvidia" in runtimes
    assert not toolkit.disabled_checks


def test_hst_10_disks_have_room(requirement: Judgement, deployment: Deployment, disks: Storage) -> None:
    image = stated(deployment.host).image_free_bytes
    requirement.wants(
        f"{count_bytes(disks.weights_missing)} free for {disks.model_folder}, {count_bytes(image)} for the image"
    )
    model_free, root_free = requirement.needs(disks.model_free), requirement.needs(disks.data_root_free)
    guess = " (Docker's default, since it does not tell)" if disks.data_root_is_default else ""
    requirement.finds(
        f"{count_bytes(model_free)} free for the model, {count_bytes(root_free)} in {disks.data_root}{guess}"
    )
    assert model_free >= disks.weights_missing
    assert root_free >= image


def test_hst_11_port_is_free(requirement: Judgement, loopback_port: Port) -> None:
    requirement.wants(f"{loopback_port.address}:{loopback_port.port} is free")
    requirement.finds("free" if loopback_port.free else f"taken: {loopback_port.holders or 'holder not visible'}")
    assert loopback_port.free


def test_hst_12_no_second_cuda_toolkit(requirement: Judgement, cuda_toolkits: CudaToolkits) -> None:
    requirement.wants("no CUDA toolkit on the host itself")
    requirement.finds(", ".join(cuda_toolkits.traces) or "none in /usr/local, among the packages or on the path")
    assert not cuda_toolkits.traces


def test_hst_13_package_versions_are_recorded(requirement: Judgement, packages: Packages | Absent | Unreadable) -> None:
    if isinstance(packages, Packages):
        listed = ", ".join(f"{name} {version}" for name, version in packages.versions.items())
        requirement.finds(listed or "none of them is installed")
    else:
        requirement.finds(packages)


def test_hst_14_gpu_inventory_is_recorded(requirement: Judgement, gpus: Gpus) -> None:
    if isinstance(gpus, GpuInventory):
        rows = [f"GPU {gpu.index}: {gpu.name}, {_size(gpu.memory_total)}" for gpu in gpus.devices]
        requirement.finds("\n".join([f"driver {gpus.library_version}", *rows]))
    else:
        requirement.finds(gpus)


def test_hst_15_pci_links_are_recorded(requirement: Judgement, gpus: Gpus) -> None:
    if isinstance(gpus, GpuInventory):
        rows = [
            f"GPU {g.index}: {g.bus_id}, generation {g.link_generation}, width {g.link_width}" for g in gpus.devices
        ]
        requirement.finds("\n".join(rows) or "no NVIDIA GPU")
    else:
        requirement.finds(gpus)


def test_hst_16_memory_and_disks_are_recorded(
    requirement: Judgement, operating_system: System | Absent | Unreadable, disks: Storage
) -> None:
    memory = count_bytes(operating_system.memory_bytes) if isinstance(operating_system, System) else operating_system
    free = f"free for the model {_size(disks.model_free)}\nfree in {disks.data_root} {_size(disks.data_root_free)}"
    requirement.finds(f"memory {memory}\n{free}")
