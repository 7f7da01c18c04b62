"""Legal worlds: what may differ from host to host and from run to run, and must raise no alarm."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fixtures.probes.gpu import NOISE_BYTES
from recipe import snapshot as snapshots

HEADLINE = "MEN WALK ON MOON"
VERSIONS = ["575.57.08", "575.64.03", "580.65.06", "580.82", "580.126.09", "590.44.01", "590.44", "600.10.2"]
KERNEL_LINES = [
    "[   12.1] nvidia-uvm: Loaded the UVM driver, major device number 511.",
    "[   12.3] NVRM: GPU 0000:10:00.0: RmInitAdapter succeeded",
    "[   77.0] RPC: reply with an unknown xid 79 from server nfs1",
    "[   80.2] docker0: port 1(veth4000e66) entered forwarding state",
    "[  412.9] EXT4-fs error count since last fsck: 0",
    "[  500.4] pcieport 0000:00:03.1: AER: Corrected error message received from 0000:41:00.0",
]
LOG_LINES = [
    "WARNING [vllm.py] Enforce eager set, disabling torch.compile and CUDA graphs",
    "INFO [parallel_state.py:1325] rank 3 in world size 4 is assigned as DP rank 0, PP rank 0, TP rank 3, EP rank 3",
    "INFO [pynccl.py:103] vLLM is using nccl==2.27.5",
    "NCCL INFO Bootstrap: Using eth0:10.0.0.7<0>",
    "WARNING [symm_mem.py:58] SymmMemCommunicator: Device capability 8.9 not supported, communicator is not available.",
    "UserWarning: Using a slow image processor as `use_fast` is unset",
    "WARNING [fused_moe.py] Using default MoE config. Performance might be sub-optimal! Config file not found",
    "INFO 0 errors, 0 out of 26 files changed",
    "[Gloo] Rank 0 is connected to 3 peer ranks. Expected number of connected peer ranks is : 3",
    "\x1b[33mWARNING\x1b[0m Keyword argument `size` is ignored by this processor",
    "INFO: 127.0.0.1 \u2013 t\u00eate-\u00e0-t\u00eate \u65e5\u672c\u8a9e",
]
ENVIRONMENTS: list[dict[str, str]] = [
    {"VLLM_API_KEY": "somebody-elses-key"},  # of the operator's own shell; the service has a file of its own
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""},
    {"TZ": "Asia/Kolkata", "COLUMNS": "40"},
    {"PYTHONWARNINGS": "default", "PYTHONHASHSEED": "7"},
    {"HF_HUB_OFFLINE": "1", "HF_TOKEN": "hf_" + "x" * 34},
]


class LegalWorld(msgspec.Struct, frozen=True):
    """One world: the changes by what they vary, and variables of the environment in which the suite itself runs."""

    name: str
    variations: dict[str, dict[str, Any]]
    environment: dict[str, str]

    @property
    def set(self) -> dict[str, Any]:
        """All changes, by their paths in the simulated world."""
        return {path: value for change in self.variations.values() for path, value in change.items()}


def _sometimes(strategy: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(st.just({}), strategy)


def _set(path: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return values.map(lambda value: {path: value})


def _sample(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@st.composite
def _drivers(draw: st.DrawFn) -> dict[str, Any]:
    version = draw(st.sampled_from(VERSIONS))
    return {f"host.{part}_version": version for part in ("driver", "library", "module")}


def _gpu() -> st.SearchStrategy[dict[str, Any]]:
    """One GPU: with or without the vendor's name, as text or bytes, and somewhat different in what may differ."""
    fields = {
        "name": _sample("NVIDIA L40S", "L40S"),
        "name_as_bytes": st.booleans(),
        "memory_total": st.just(40_000_000_000) | st.integers(40_000_000_000, 51_539_607_552),
        "memory_reserved": st.integers(0, 900_000_000),
        "mig": _sample(None, False),
        "virtualization": _sample(0, 1),
        "throttle_reasons": _sample(0, 1, 2, 4, 0x10, 0x100, 0x105),
        "memory_unseen": st.integers(0, NOISE_BYTES) | st.just(NOISE_BYTES),
    }
    return st.fixed_dictionaries(fields)


def _typography() -> st.SearchStrategy[str]:
    """The headline as a model may write it: case, quotes, dashes, spaces, line breaks, widths, marks."""
    cases = _sample(str.upper, str.lower, str.title, str.capitalize, str.swapcase)
    gaps = _sample(" ", "  ", "\n", "\u00a0", "\u2009", " \u2013 ", "\u2014", " / ", "-", ", ", "\u200b ", ": ", "")
    around = _sample(
        '"{}"', "\u201c{}\u201d", "\u00ab{}\u00bb", "**{}**", "*{}*", "# {}", "{}!", "{}.", "`{}`", "\u2018{}\u2019."
    )
    widths = _sample(
        lambda text: text, lambda text: text.replace("M", "\uff2d"), lambda text: text.replace("o", "o\u00ad")
    )
    parts = st.tuples(cases, gaps, around, widths)
    return parts.map(lambda p: p[3](p[2].format(p[1].join(p[0](HEADLINE).split()))))


def _variations() -> dict[str, st.SearchStrategy[dict[str, Any]]]:
    lines = st.lists(st.sampled_from(KERNEL_LINES), max_size=4).map(
        lambda found: "".join(f"{line}\n" for line in found)
    )
    log = st.lists(st.sampled_from(LOG_LINES), max_size=6)
    gpus = st.lists(_gpu(), min_size=4, max_size=4)
    free = st.integers(2_000_000, 1 << 44)
    return {
        "driver version": _drivers(),
        "names, memory and clocks of the GPUs": _set("host.gpus", gpus),
        "kernel log": _set("host.kernel_messages", lines),
        "words of the release": _set("host.os_release", _sample(
            'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n', "VERSION_ID=24.04\nID=ubuntu\n",
        )),
        "packages": _set("host.packages", _sample(
            {"docker-ce": "5:29.0.1-1~ubuntu.24.04~noble", "nvidia-container-toolkit": "1.17.8-1"},
            {"docker.io": "27.5.1-0ubuntu3~24.04.2", "nvidia-container-toolkit": "1.18.1-1", "libnvidia-container1": "1.18.1-1"},
        )),
        "variables that name every GPU": _set("host.environment", _sample(
            {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, {"NVIDIA_VISIBLE_DEVICES": "all"},
            {"CUDA_VISIBLE_DEVICES": "3,2,1,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
            {"http_proxy": "http://proxy.example:3128", "no_proxy": "127.0.0.1,.example"},
            {"https_proxy": "http://proxy.example:3128"},
        )),
        # As much as is wanted, to the byte, is enough; of memory it takes more.
        "memory and disks": st.tuples(
            st.just((16 << 30) + 1) | st.integers(64 << 30, 4 << 40),
            st.just(snapshots.load("rehearsal").total_bytes) | free,
            st.just(1_000_000) | free,
            st.just(1_000) | st.integers(1_000, 1 << 31),
        ).map(
            lambda sizes: dict(zip((
                "host.memory_bytes", "host.free_bytes", "host.data_root_free_bytes", "host.data_root_free_inodes",
            ), sizes, strict=True))
        ),
        "Docker": _sample(
            {"docker.cgroup_driver": "cgroupfs", "docker.cdi_devices": []},
            {"docker.runtimes": ["nvidia", "runc"], "docker.data_root": "/srv/docker"},
            {"docker.cdi_devices": ["nvidia.com/gpu=all"], "docker.security_options": ["name=seccomp,profile=builtin"]},
        ),
        "versions in the image": _sample(
            {"image.versions.transformers": "4.57.6"}, {"image.versions.transformers": "4.57.0+cu"},
            {"image.versions.transformers": "4.56.2", "image.versions.torch": "2.9.1+cu128", "image.versions.cuda": "12.8"},
        ),
        "hub": _sample(
            {"hub.ranges": False}, {"hub.lengths": False}, {"hub.busy": {"model-00001-of-00002.safetensors": 2, "config.json": 1}},
        ),
        "server log": _set("server.log_lines", log),
        "time to load": _set("server.load_s", _sample(0.2, 0.5, 1.0)),
        "usage": _set("server.completion_tokens", st.integers(1, 256)),
        "typography of the headline": _set("server.misreads", _typography().map(lambda said: {HEADLINE: said})),
        "words around the headline": _sample(
            {"server.document": "news-paper"}, {"server.document": "NEWSPAPER (front page)"},
            {"server.prefix": "Looking at the image:"}, {"server.document": "newspapers' front page"},
        ),
    }  # fmt: skip


def legal_worlds(number: int, chance: int) -> list[LegalWorld]:
    """Return so many different worlds, the same ones for the same ``chance`` and release of Hypothesis."""
    found: dict[bytes, LegalWorld] = {}
    parts = {name: _sometimes(strategy) for name, strategy in _variations().items()}

    @seed(chance)
    @settings(
        max_examples=4 * number + 1, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.fixed_dictionaries(parts), st.one_of(st.just({}), st.sampled_from(ENVIRONMENTS)))
    def collect(variations: dict[str, dict[str, Any]], environment: dict[str, str]) -> None:
        world = LegalWorld(f"legal-world-{len(found) + 1:02d}", variations, environment)
        if len(found) < number and (world.set or environment):
            found.setdefault(msgspec.json.encode((variations, environment), order="sorted"), world)

    collect()
    return list(found.values())
