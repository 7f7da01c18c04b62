"""Faults that only real GPUs show: ``python3 -m tools.gpu_bundle.faults ARCHIVE DEPLOYMENT FOLDER [FAULT...]``.

Run it on the GPU machine, from a checkout. Each fault is brought about in turn, the deployment is qualified under it,
and the bundle in FOLDER must tell it with its GPU. The exit status is the number of those that were not told.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

RUN = Path(__file__).with_name("run.sh")
DEPLOYMENTS = RUN.parents[2] / "recipe" / "deployments"
WORK = "/tmp/vllm-qualify-gpu"  # noqa: S108 - as in run.sh
WORKER = "VLLM::Worker"
HOLD = (
    "import sys, torch; kept = torch.ones(1 << 28, device=f'cuda:{sys.argv[1]}'); print(kept.sum().item(), flush=True);"
    "sys.stdin.read()"
)
Told = tuple[str, ...]  # the requirement that must fail, and the words that it must say


class Ground:
    """What every fault works on: the archive, the deployment, and where bundles go."""

    def __init__(self, archive: str, deployment: str, folder: Path) -> None:
        self.archive, self.deployment, self.folder = archive, deployment, folder
        self.gpus = int(values(deployment)["host.gpu_count"])
        self.requests = Path(os.environ.get("WORK", WORK)) / "hosting" / "image-request.json"

    def qualify(self, name: str, *options: str, deployment: str = "", **variables: str) -> None:
        """Qualify into FOLDER/NAME; what is printed goes beside it. Not the exit status but the bundle tells."""
        command = [str(RUN), self.archive, deployment or self.deployment, str(self.folder / name), *options]
        with (self.folder / f"{name}.txt").open("w", encoding="utf-8") as output:
            subprocess.run(command, env={**os.environ, **variables}, stdout=output, stderr=output, check=False)

    def amended(self, name: str, **changes: Any) -> str:
        """Write the deployment with other values as FOLDER/NAME.toml; return its path. A key's ``__`` is a dot."""
        told = tomllib.loads((DEPLOYMENTS / f"{self.deployment}.toml").read_text(encoding="utf-8"))
        original = told.get("amends", self.deployment)
        changed = {**(told["amendments"][0]["set"] if "amends" in told else {}), **_dotted(changes)}
        words = dict.fromkeys(("guide", "here", "why"), f"The fault {name}.")
        header = {
            "schema": 1,
            "name": f"{self.deployment}-{name}",
            "title": f"{self.deployment}: {name}",
            "amends": original,
        }
        path = self.folder / f"{name}.toml"
        rows = {**header, "amendments": [{"id": "A1", **words, "set": changed}]}
        path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in rows.items()), encoding="utf-8")
        return str(path)


def values(deployment: str) -> dict[str, Any]:
    """Return the values of a deployment that faults change, by their dotted paths."""
    told = tomllib.loads((DEPLOYMENTS / f"{deployment}.toml").read_text(encoding="utf-8"))
    if "amends" in told:
        return {**values(told["amends"]), **told["amendments"][0]["set"]}
    return {f"{name}.{key}": value for name in ("host", "service") for key, value in told[name].items()}


def foreign(ground: Ground) -> Told:
    """Another process holds 1 GiB of the last GPU."""
    last = ground.gpus - 1
    by_bus = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(last)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=by_bus
    ) as holder:
        if holder.stdout and holder.stdout.readline():
            ground.qualify("foreign", "--stage=hst")
        holder.kill()
    return "HST-07", f"GPU {last}: ", f"(pid {holder.pid}, compute) holds"


def hidden(ground: Ground) -> Told:
    """The last GPU is hidden in the environment of whoever qualifies."""
    ground.qualify("hidden", "--stage=hst", CUDA_VISIBLE_DEVICES=_all_but_one(ground))
    return "HST-21", f"names {ground.gpus - 1} of {ground.gpus} GPU"


def withheld(ground: Ground) -> Told:
    """The last GPU is hidden from the server: it must say so, and how the server ends."""
    variables = {**values(ground.deployment)["service.environment"], "CUDA_VISIBLE_DEVICES": _all_but_one(ground)}
    ground.qualify("withheld", deployment=ground.amended("withheld", service__environment=variables))
    return "SRV-16", f"names {ground.gpus - 1} of {ground.gpus} GPU"


def _all_but_one(ground: Ground) -> str:
    return ",".join(map(str, range(ground.gpus - 1)))


def indivisible(ground: Ground) -> Told:
    """Three workers, by which the model's heads do not divide; with fewer GPUs HST-03 fails beside it."""
    arguments = list(values(ground.deployment)["service.arguments"])
    arguments[arguments.index("--tensor-parallel-size") + 1] = "3"
    changes = {"service__arguments": arguments, "service__workers": 3, "host__gpu_count": max(3, ground.gpus)}
    ground.qualify("indivisible", deployment=ground.amended("indivisible", **changes))
    return "WTS-07", "num_attention_heads 8"


def killed(ground: Ground) -> Told:
    """The last worker is killed as the documented request is sent."""
    seen: dict[str, str] = {}
    over, began = Event(), time.time()
    watch = Thread(target=_kill_last_worker, args=(ground.requests, began, over, seen))
    watch.start()
    ground.qualify("killed")
    over.set()
    watch.join()
    return "VFY-22", f"{seen.get('title', 'no worker was killed')} (pid {seen.get('pid')}) of GPU "


def _kill_last_worker(request: Path, began: float, over: Event, seen: dict[str, str]) -> None:
    """Wait for the documented request to be written, then kill the worker whose title comes last."""
    while not over.wait(0.002):
        with contextlib.suppress(OSError):
            if request.stat().st_mtime < began:
                continue
            pid, title = max(_workers(), key=lambda worker: worker[1], default=(0, ""))
            if pid:
                os.kill(pid, signal.SIGKILL)
                seen.update(pid=str(pid), title=title)
            return


def _workers() -> Iterator[tuple[int, str]]:
    """Yield pid and title of every process that carries the title of a worker."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            title = path.read_bytes().partition(b"\0")[0].decode("utf-8", "replace").strip()
            if title.startswith(WORKER):
                yield int(path.parent.name), title


def _dotted(changes: dict[str, Any]) -> dict[str, Any]:
    return {key.replace("__", "."): value for key, value in changes.items()}


def _toml(value: Any) -> str:
    """Write a value in one line of TOML, whose texts and numbers are JSON's."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def is_told(bundle: Path, told: Told) -> str:
    """Return what a bundle says of a fault, in one line that begins with whether it is told as it must be."""
    requirement, *words = told
    try:
        verdict = json.loads((bundle / "verdict.json").read_text(encoding="utf-8"))
    except OSError as error:
        return f"NOT TOLD {requirement}: no verdict ({error.strerror})"
    row = next(row for row in verdict["requirements"] if row["id"] == requirement)
    line = f"{requirement} {row['outcome']}: {row['found']}; {verdict['verdict']}"
    if row["outcome"] == "failed" and all(word in row["found"] for word in words):
        return f"told {line}"
    return f"NOT TOLD {line}; it should have failed with {words}"


FAULTS: dict[str, Callable[[Ground], Told]] = {
    fault.__name__: fault for fault in (foreign, hidden, withheld, killed, indivisible)
}


def main() -> int:
    """Bring about the faults that are named, or all; print what is told of each."""
    if len(sys.argv) < 4 or not set(sys.argv[4:]) <= set(FAULTS):
        sys.exit(f"usage: python3 -m tools.gpu_bundle.faults ARCHIVE DEPLOYMENT FOLDER [{'|'.join(FAULTS)}...]")
    ground = Ground(sys.argv[1], sys.argv[2], Path(sys.argv[3]).resolve())
    ground.folder.mkdir(parents=True, exist_ok=True)
    untold = 0
    for name in sys.argv[4:] or FAULTS:
        began = time.monotonic()
        line = is_told(ground.folder / name, FAULTS[name](ground))
        sys.stdout.write(f"{name:<12} {line} ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
        untold += line.startswith("NOT")
    return untold


if __name__ == "__main__":
    sys.exit(main())
