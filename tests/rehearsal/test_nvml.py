"""The stand-in for NVML against the real binding: types, structures and refusals as they were seen on a real device."""

from __future__ import annotations

import inspect
from typing import Any

import pynvml
import pytest

from fixtures.rehearsal.nvml import SimulatedNvml, State
from fixtures.rehearsal.world import Host, SimulatedGpu

# What each function gave on an NVIDIA H200 (driver 580.159.04, nvidia-ml-py 13.615.71, Linux), by the type's name.
SEEN: dict[str, tuple[tuple[Any, ...], str]] = {
    "nvmlSystemGetDriverVersion": ((), "str"),
    "nvmlSystemGetNVMLVersion": ((), "str"),
    "nvmlSystemGetCudaDriverVersion": ((), "int"),
    "nvmlDeviceGetUUID": ((0,), "str"),
    "nvmlDeviceGetPciInfo": ((0,), "nvmlPciInfo_t"),
    "nvmlDeviceGetName": ((0,), "str"),
    "nvmlDeviceGetMemoryInfo": ((0, pynvml.nvmlMemory_v2), "c_nvmlMemory_v2_t"),
    "nvmlDeviceGetCudaComputeCapability": ((0,), "tuple"),
    "nvmlDeviceGetMigMode": ((0,), "list"),
    "nvmlDeviceGetVirtualizationMode": ((0,), "int"),
    "nvmlDeviceGetEccMode": ((0,), "list"),
    "nvmlDeviceGetTotalEccErrors": ((0, 1, 0), "int"),
    "nvmlDeviceGetRemappedRows": ((0,), "tuple"),
    "nvmlDeviceGetPersistenceMode": ((0,), "int"),
    "nvmlDeviceGetCurrPcieLinkGeneration": ((0,), "int"),
    "nvmlDeviceGetMaxPcieLinkGeneration": ((0,), "int"),
    "nvmlDeviceGetCurrPcieLinkWidth": ((0,), "int"),
    "nvmlDeviceGetMaxPcieLinkWidth": ((0,), "int"),
    "nvmlDeviceGetEnforcedPowerLimit": ((0,), "int"),
    "nvmlDeviceGetTemperature": ((0, pynvml.NVML_TEMPERATURE_GPU), "int"),
    "nvmlDeviceGetClockInfo": ((0, pynvml.NVML_CLOCK_SM), "int"),
    "nvmlDeviceGetMaxClockInfo": ((0, pynvml.NVML_CLOCK_MEM), "int"),
    "nvmlDeviceGetCurrentClocksThrottleReasons": ((0,), "int"),
    "nvmlDeviceGetComputeRunningProcesses": ((0,), "list"),
    "nvmlDeviceGetGraphicsRunningProcesses": ((0,), "list"),
}


def stand_in(gpu: SimulatedGpu = SimulatedGpu(mig=False)) -> Any:  # noqa: B008 - it is frozen
    """Return the stand-in as its callers see it: a module with the binding's functions."""
    return SimulatedNvml(State(host=Host(gpus=(gpu,)), workers={0: [11]}))


@pytest.mark.parametrize(("function", "arguments", "kind"), [(name, *seen) for name, seen in SEEN.items()])
def test_an_answer_is_of_the_type_that_was_seen(function: str, arguments: tuple[Any, ...], kind: str) -> None:
    assert type(getattr(stand_in(), function)(*arguments)).__name__ == kind


def test_every_simulated_function_is_one_of_the_binding_and_was_seen() -> None:
    simulated = {name for name, _ in inspect.getmembers(SimulatedNvml, inspect.isfunction) if name.startswith("nvml")}
    others = {
        "nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlSystemGetProcessName",
        "nvmlDeviceGetMPSComputeRunningProcesses",
    }  # fmt: skip

    assert simulated == SEEN.keys() | others
    assert all(callable(getattr(pynvml, name)) for name in simulated)


def test_structures_have_the_fields_that_are_read() -> None:
    nvml = stand_in()
    process = nvml.nvmlDeviceGetComputeRunningProcesses(0)[0]

    assert nvml.nvmlDeviceGetPciInfo(0).busId == "00000000:10:00.0"
    assert nvml.nvmlDeviceGetMemoryInfo(0, pynvml.nvmlMemory_v2).reserved == SimulatedGpu().memory_reserved
    assert (process.pid, process.usedGpuMemory) == (11, SimulatedGpu().memory_loaded)


@pytest.mark.parametrize(
    ("gpu", "function", "arguments", "error"),
    [
        (SimulatedGpu(lost=True), "nvmlDeviceGetHandleByIndex", (0,), pynvml.NVMLError_GpuIsLost),
        (SimulatedGpu(), "nvmlDeviceGetMigMode", (0,), pynvml.NVMLError_NotSupported),
        (SimulatedGpu(ecc=False), "nvmlDeviceGetTotalEccErrors", (0, 1, 0), pynvml.NVMLError_NotSupported),
        (SimulatedGpu(), "nvmlDeviceGetMemoryInfo", (0, 1), pynvml.NVMLError_ArgumentVersionMismatch),
        (SimulatedGpu(refuses={"nvmlDeviceGetName": 999}), "nvmlDeviceGetName", (0,), pynvml.NVMLError_Unknown),
    ],
)
def test_refusals_are_the_bindings_own_errors(
    gpu: SimulatedGpu, function: str, arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        getattr(stand_in(gpu), function)(*arguments)
