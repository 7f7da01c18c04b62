"""Stage HST: the host, before anything is changed on it."""

from __future__ import annotations

import re

import pytest

from fixtures.engines.interface import EngineInfo
from fixtures.host import Toolkit
from fixtures.machine import FileSystem
from fixtures.probes.gpu import NOISE_BYTES, SLOWDOWNS, Gpu, GpuInventory, GpuProcess
from fixtures.probes.kernel import Kernel, KernelLog, pci_address
from fixtures.probes.network import Port
from fixtures.probes.storage import Storage
from fixtures.probes.system import CudaToolkits, Packages, System
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, count_bytes, driver_meets, driver_numbers, driver_suffix

pytestmark = pytest.mark.qualify
Gpus = GpuInventory | Absent | Unreadable
SHOWN = 3
VGPU_PROFILE = re.compile(r"-\d+[ABCQ]$")


def _named(devices: tuple[Gpu, ...]) -> str:
    """Return ``4 × NVIDIA L40S and 1 × NVIDIA T400``, or that there is none."""
    names = [str(gpu.name) for gpu in devices]
    counted = [f"{names.count(name)} × {name}" for name in dict.fromkeys(names)]
    return " and ".join(counted) or "no NVIDIA GPU"


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


def test_hst_02_driver_is_loaded_and_consistent(requirement: Judgement, gpus: Gpus, kernel: Kernel) -> None:
    requirement.wants("NVIDIA driver loaded, kernel module and library of one version")
    inventory = requirement.needs(gpus)
    module, library = requirement.needs(kernel.module_version), requirement.needs(inventory.library_version)
    driver = requirement.needs(inventory.driver_version)
    requirement.finds(f"driver {driver}, library {library}, kernel module {module}")
    assert driver_numbers(driver) == driver_numbers(library) == driver_numbers(module) is not None


def test_hst_03_gpu_count_is_exact(requirement: Judgement, deployment: Deployment, gpus: Gpus, kernel: Kernel) -> None:
    wanted, product = stated(deployment.host).gpu_count, stated(deployment.host).gpu_product
    requirement.wants(f"exactly {wanted} × NVIDIA {product}, none lost, and no other NVIDIA GPU")
    inventory = requirement.needs(gpus)
    driven = {pci_address(requirement.needs(gpu.bus_id)) for gpu in inventory.devices}
    others = [address for address in requirement.needs(kernel.pci_gpus) if address not in driven]
    failed = kernel.log.failed_starts[:SHOWN] if isinstance(kernel.log, KernelLog) else ()
    told = [f"{address} on the PCI bus is not among the driver's devices" for address in others]
    requirement.finds("; ".join([_named(inventory.devices), *inventory.lost, *told, *failed]))
    assert len(inventory.devices) == wanted
    assert not inventory.lost
    assert not others


def test_hst_04_gpus_are_whole_documented_products(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    product = stated(deployment.host).gpu_product
    requirement.wants(f"each GPU is a physical {product}: exact name, no vGPU profile, no MIG")
    inventory = requirement.needs(gpus)
    told = []
    wrong = 0
    for gpu in inventory.devices:
        name = requirement.needs(gpu.name).removeprefix("NVIDIA ")
        virtual = requirement.needs(gpu.virtualization) not in ("none", "passthrough")
        mig = requirement.needs(gpu.mig) == "on"
        wrong += name != product or virtual or mig
        profile = virtual or VGPU_PROFILE.search(name)
        told.append(f"GPU {gpu.index}: {gpu.name}{' (vGPU)' if profile else ''}{' (MIG on)' if mig else ''}")
    requirement.finds("; ".join(told) or "no NVIDIA GPU")
    assert inventory.devices
    assert wrong == 0


def test_hst_05_driver_meets_minimum(requirement: Judgement, deployment: Deployment, gpus: Gpus) -> None:
    minimum = stated(stated(deployment.host).driver_min)
    requirement.wants(f"driver {minimum} or newer, compared as numbers")
    version = requirement.needs(requirement.needs(gpus).driver_version)
    suffix = driver_suffix(version)
    requirement.finds(f"driver {version}{f' (the suffix {suffix} marks a vGPU driver)' if suffix else ''}")
    assert driver_meets(version, minimum)


def test_hst_06_gpus_are_healthy(requirement: Judgement, gpus: Gpus, kernel: Kernel) -> None:
    requirement.wants(
        "no uncorrectable ECC error, no pending or failed row remap, no Xid in the log, no slow-down by heat or power"
    )
    inventory = requirement.needs(gpus)
    xids = kernel.log.xids if isinstance(kernel.log, KernelLog) else ()
    sick = [*xids[:SHOWN], *([f"{len(xids) - SHOWN} more Xid lines"] if len(xids) > SHOWN else [])]
    for gpu in inventory.devices:
        sick += [f"GPU {gpu.index}: {problem}" for problem in _problems(requirement, gpu)]
    requirement.finds(("; ".join(sick) or f"no fault on {inventory.counted}") + _log_note(kernel))
    assert inventory.devices
    assert not sick


def _log_note(kernel: Kernel) -> str:
    """Return what is to be said of the kernel log where it does not tell all since the boot; HST-17 judges that."""
    if isinstance(kernel.log, Unreadable):
        return f" ({kernel.log})"
    return "" if kernel.log.since_boot else " (the kernel log begins later than the boot)"


def _problems(requirement: Judgement, gpu: Gpu) -> list[str]:
    """Return what is wrong with a device; what of it cannot be read blocks the requirement."""
    if gpu.ecc_mode == "off":
        requirement.needs(Unreadable(f"GPU {gpu.index} ECC counters", "ECC is off (turn it on with 'nvidia-smi -e 1')"))
    ecc, remaps = requirement.needs(gpu.ecc), requirement.needs(gpu.remaps)
    slowed = [reason for reason in requirement.needs(gpu.throttle_reasons) if reason in SLOWDOWNS]
    found = [f"{ecc.volatile_uncorrected} uncorrectable ECC errors"] if ecc.volatile_uncorrected else []
    found += ["row remap pending"] if remaps.pending else []
    found += ["row remap failed"] if remaps.failed else []
    return found + ([f"slowed down: {', '.join(slowed)}"] if slowed else [])


def test_hst_07_no_foreign_process_holds_gpu_memory(requirement: Judgement, gpus: Gpus) -> None:
    requirement.wants("no process holds memory on a GPU")
    inventory = requirement.needs(gpus)
    held = []
    for gpu in inventory.devices:
        processes, used = requirement.needs(gpu.processes), requirement.needs(gpu.memory).used
        held += [f"GPU {gpu.index}: {_told(process)}" for process in processes]
        if used > NOISE_BYTES and not processes:
            held.append(f"GPU {gpu.index}: {count_bytes(used)} are held by no process that can be seen from here")
    requirement.finds("; ".join(held) or f"none on {inventory.counted}")
    assert inventory.devices
    assert not held


def _told(process: GpuProcess) -> str:
    size = count_bytes(process.bytes) if isinstance(process.bytes, int) else "an unknown amount"
    return f"{process.name} (pid {process.pid}, {process.kind}) holds {size}"


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
    host = stated(deployment.host)
    bytes_wanted, inodes_wanted = host.image_free_bytes or 0, host.image_free_inodes or 0
    image = f", {count_bytes(bytes_wanted)} and {inodes_wanted:,} inodes for the image" if disks.image_disk else ""
    requirement.wants(f"{count_bytes(disks.weights_missing)} free for {disks.model_folder}{image}")
    model = requirement.needs(disks.model_disk)
    found = f"{count_bytes(model.free_bytes)} free for the model"
    if disks.image_disk is None:
        requirement.finds(found)
    else:
        root = requirement.needs(disks.image_disk)
        guess = " (Docker's default, since it does not tell)" if disks.data_root_is_default else ""
        requirement.finds(f"{found}, {_free(root)} in {disks.data_root}{guess}")
        assert root.free_bytes >= bytes_wanted
        assert root.free_inodes is None or root.free_inodes >= inodes_wanted
    assert model.free_bytes >= disks.weights_missing


def _free(disk: FileSystem) -> str:
    inodes = "any number of" if disk.free_inodes is None else f"{disk.free_inodes:,}"
    return f"{count_bytes(disk.free_bytes)} and {inodes} inodes"


def test_hst_11_port_is_free(requirement: Judgement, loopback_port: Port) -> None:
    requirement.wants(f"{loopback_port.address}:{loopback_port.port} is free")
    requirement.finds("free" if loopback_port.free else f"taken: {loopback_port.holders or 'holder not visible'}")
    assert loopback_port.free


def test_hst_12_no_second_cuda_toolkit(requirement: Judgement, cuda_toolkits: CudaToolkits | Unreadable) -> None:
    requirement.wants("no CUDA toolkit on the host itself")
    traces = requirement.needs(cuda_toolkits).traces
    requirement.finds(", ".join(traces) or "none in /usr/local, among the packages or on the path")
    assert not traces


def test_hst_13_package_versions_are_recorded(requirement: Judgement, packages: Packages | Absent | Unreadable) -> None:
    if isinstance(packages, Packages):
        listed = ", ".join(f"{name} {version}" for name, version in packages.versions.items())
        requirement.finds(listed or "none of them is installed")
    else:
        requirement.finds(packages)


def test_hst_14_gpu_inventory_is_recorded(requirement: Judgement, gpus: Gpus) -> None:
    if isinstance(gpus, GpuInventory):
        head = f"driver {gpus.driver_version}, CUDA {gpus.cuda_version}, read by {gpus.binding}"
        requirement.finds("\n".join([head, *map(_row, gpus.devices), *gpus.lost]))
    else:
        requirement.finds(gpus)


def _row(gpu: Gpu) -> str:
    """Return what people ask of a device first; the facts hold the rest."""
    memory = gpu.memory if isinstance(gpu.memory, Unreadable) else f"{gpu.memory.total:,} bytes"
    return f"GPU {gpu.index}: {gpu.name}, {memory}, {gpu.uuid}, ECC {gpu.ecc_mode}, MIG {gpu.mig}, {gpu.virtualization}"


def test_hst_15_pci_links_are_recorded(requirement: Judgement, gpus: Gpus) -> None:
    if isinstance(gpus, GpuInventory):
        requirement.finds("\n".join(f"GPU {g.index}: {g.bus_id}, {_link(g)}" for g in gpus.devices) or "no NVIDIA GPU")
    else:
        requirement.finds(gpus)


def _link(gpu: Gpu) -> str:
    link = gpu.link
    if isinstance(link, Unreadable):
        return str(link)
    return f"generation {link.generation} of {link.generation_max}, {link.width} lanes of {link.width_max}"


def test_hst_16_memory_and_disks_are_recorded(
    requirement: Judgement, operating_system: System | Absent | Unreadable, disks: Storage
) -> None:
    memory = count_bytes(operating_system.memory_bytes) if isinstance(operating_system, System) else operating_system
    places = {disks.model_folder: disks.model_disk, disks.data_root: disks.image_disk}
    rows = [
        f"{place}: {_free(disk)} free, {disk.kind} mounted at {disk.mount}"
        if isinstance(disk, FileSystem)
        else str(disk)
        for place, disk in places.items()
        if disk
    ]
    requirement.finds("\n".join([f"memory {memory}", *rows]))
