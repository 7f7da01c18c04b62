"""Installs real vLLM 0.11.2 for CPUs: ``python -m tools.vllm_cpu FOLDER`` makes the environment; FOLDER/bin has vllm.

x86-64 with AVX2, Python 3.11, gcc and g++; 8 GB of disk. Everything is pinned by requirements/vllm-cpu.txt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.vllm_cpu import abi

HERE = Path(__file__).parent
LOCK = HERE.parents[1] / "requirements" / "vllm-cpu.txt"
PYTHON = "3.11"
NEEDED = ("gcc", "g++", "uv")
PLUGIN = "vllm_ernie_on_cpu"
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"


def main() -> int:
    """Install into the folder, unless a finished installation of this lock is there."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.vllm_cpu FOLDER")
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} not found: install gcc, g++ and uv, and run again")
    folder = Path(sys.argv[1]).resolve()
    done = folder / "installed.txt"
    if done.is_file() and done.read_bytes() == LOCK.read_bytes():
        sys.stdout.write(f"{folder}: there already\n")
        return 0
    try:
        install(folder)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd[:3])} ended with status {error.returncode}; its message stands above")
    done.write_bytes(LOCK.read_bytes())
    sys.stdout.write(f"{folder}: vLLM 0.11.2 for CPUs\n")
    return 0


def install(folder: Path) -> None:
    """Make the environment anew. Raises subprocess.CalledProcessError."""
    environment = {**os.environ, "UV_HTTP_TIMEOUT": "300", "UV_NATIVE_TLS": "1", "VIRTUAL_ENV": str(folder)}
    subprocess.run(["uv", "venv", "-q", "--clear", "--python", PYTHON, str(folder)], check=True, env=environment)
    asked = ["uv", "pip", "install", "-q", "--no-deps", "--require-hashes", "-r", str(LOCK)]
    subprocess.run(asked, check=True, env=environment)
    packages = folder / "lib" / f"python{PYTHON}" / "site-packages"
    if abi.is_missing():
        abi.weaken(packages / "vllm" / "_C.abi3.so")
        library = abi.build(folder)
        preload = f"import ctypes; ctypes.CDLL({str(library)!r}, mode=ctypes.RTLD_GLOBAL)\n"
        (packages / "vllm_abi.pth").write_text(preload, encoding="utf-8")
    _describe(packages, "vllm", "0.11.2+cpu")  # by this name vLLM knows that it is its CPU build
    _describe(packages, PLUGIN, "0.1", f"[vllm.general_plugins]\nernie = {PLUGIN}:register\n")
    shutil.copyfile(HERE / "plugin.py", packages / f"{PLUGIN}.py")
    # Without byte code each of a server's processes compiles all it imports: 175 s for a start in place of 50.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(
        [str(folder / "bin" / "python"), "-m", "compileall", "-q", "-j", "0", str(packages)],
        check=False,  # some packages ship templates that are no Python
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _describe(packages: Path, name: str, version: str, entry_points: str = "") -> None:
    """Write a distribution's metadata."""
    folder = packages / f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(METADATA.format(name, version), encoding="utf-8")
    if entry_points:
        (folder / "entry_points.txt").write_text(entry_points, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
