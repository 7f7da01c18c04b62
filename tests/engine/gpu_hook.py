#!/usr/bin/env python3
"""Stands in for NVIDIA's OCI prestart hook: puts made-up GPUs (null device nodes) into the container that starts.

dockerd calls it for ``--gpus`` when it finds it on its path as ``nvidia-container-runtime-hook``. How many GPUs there are
stands in the file ``gpus`` beside it. It uses the standard library only.
"""

import json
import subprocess
import sys
from pathlib import Path

state = json.load(sys.stdin)
config = json.loads((Path(state["bundle"]) / "config.json").read_text())
root = Path(state["bundle"]) / config["root"]["path"]
environment = dict(entry.split("=", 1) for entry in config["process"]["env"])
count = int((Path(sys.argv[0]).parent / "gpus").read_text())
wanted = environment.get("NVIDIA_VISIBLE_DEVICES", "")
for index in range(count) if wanted == "all" else [int(number) for number in wanted.split(",") if number]:
    if index >= count:
        sys.exit(f"nvidia-container-cli: device error: {index}: unknown device")
    inside = ["nsenter", "-t", str(state["pid"]), "-m", "--"]
    subprocess.run([*inside, "mknod", "-m", "666", f"{root}/dev/nvidia{index}", "c", "1", "3"], check=True)
