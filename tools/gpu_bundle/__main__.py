"""Makes the archive: ``python -m tools.gpu_bundle FOLDER`` writes FOLDER/gpu-bundle.tar.xz, some 60 MB, in minutes.

It holds vLLM 0.20.2 and this suite's own packages, for x86-64 with Python 3.12 and PyTorch 2.11 (CUDA 13) in place, and
GPU code for Hopper alone. Bring it and a checkout to the machine, and run there

    tools/gpu_bundle/run.sh gpu-bundle.tar.xz tiny-ernie-vl.h200-tp1 BUNDLE
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tools.gpu_bundle import gpu_code

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
PARTS = {"vllm": "vllm-gpu.txt", "suite": "qualify.txt"}
GLIBC = (35, 34, 31, 28, 27, 26, 24, 17, 12, 5)
TARGET = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--implementation", "cp"]
TARGET += [f"--platform=manylinux_2_{minor}_x86_64" for minor in GLIBC]
TARGET += ["--platform=manylinux2014_x86_64", "--platform=manylinux1_x86_64"]
HOPPER = 90
# What serving this model on Hopper does not load.
LEFT_OUT = ("vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so", "vllm/third_party/deep_gemm", "xgrammar/lib", "bin",
            "mistral_common/data", "pycountry/locales")  # fmt: skip


def main() -> int:
    """Download, install beside each other, make small, pack."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.gpu_bundle FOLDER")
    folder = Path(sys.argv[1]).resolve()
    packed = folder / "pack"
    shutil.rmtree(packed, ignore_errors=True)
    try:
        for name, lock in PARTS.items():
            _install(REQUIREMENTS / lock, folder / f"wheels-{name}", packed / name)
    except subprocess.CalledProcessError as error:
        sys.exit(f"pip ended with status {error.returncode}; its message stands above")
    blanked = _shrink(packed / "vllm")
    archive = folder / "gpu-bundle.tar.xz"
    names = ["--sort=name", "--owner=0", "--group=0", "--mtime=@0", "--exclude=__pycache__"]
    subprocess.run(["tar", "-C", str(packed), "-I", "xz -T0 -6", "-cf", str(archive), *names, *PARTS], check=True)
    sys.stdout.write(f"{archive}: {archive.stat().st_size:,} bytes; {blanked:,} bytes of other chips' code blanked\n")
    return 0


def _install(lock: Path, wheels: Path, target: Path) -> None:
    """Fetch the locked wheels for the machine and unpack them into a folder. Raises subprocess.CalledProcessError."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Of one version of each package, for the other machine: markers of this one's Python do not matter.
    subprocess.run([*pip, "download", "--require-hashes", *TARGET, "-d", str(wheels), "-r", str(lock)], check=True)
    found = sorted(str(path) for path in wheels.glob("*.whl"))
    subprocess.run(
        [*pip, "install", "--no-index", "--no-compile", *TARGET, "--target", str(target), *found], check=True
    )


def _shrink(folder: Path) -> int:
    """Take out what is not needed on the machine; return the bytes of GPU code blanked."""
    for name in LEFT_OUT:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in folder.rglob("*.jpg"):
        path.unlink()
    libraries = [*folder.glob("vllm/*.so"), *folder.glob("vllm/vllm_flash_attn/*.so")]
    subprocess.run(["strip", *map(str, folder.glob("xgrammar/*.so"))], check=True)
    return sum(gpu_code.keep(path, HOPPER) for path in libraries)


if __name__ == "__main__":
    sys.exit(main())
