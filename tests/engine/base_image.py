"""A base image made of this machine's own Python: what the suite reads of a vLLM image, without the internet.

It holds this interpreter with its standard library, pip, the stand-in server under the name of vllm, and packages that state
the documented versions. torch counts the GPU device nodes that the engine's hook put into the container.
"""

from __future__ import annotations

import importlib.metadata
import io
import re
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import msgspec
import PIL

ROOT = Path(__file__).resolve().parents[2]
SITE = "usr/lib/python3/dist-packages"  # on the path of every interpreter here, by a .pth file beside its own packages
PROGRAMS = ("/bin/sh", "/bin/cat", "/bin/sleep", "/bin/mkdir", "/bin/ls", "/bin/rm")
LEFT_OUT = (
    "test",
    "idlelib",
    "tkinter",
    "lib2to3",
    "turtledemo",
    "ensurepip",
    "__pycache__",
    "site-packages",
    "EXTERNALLY-MANAGED",
    "dist-packages",
)
LIBRARY = re.compile(r"(/\S+\.so[^\s]*)")
PACKAGES = {
    "vllm": '__version__ = "0.11.2"\n',
    "transformers": '__version__ = "4.57.1"\n',
    "sentencepiece": '__version__ = "0.2.1"\n',
    "requests": '__version__ = "2.32.5"\n',
    "numpy": '__version__ = "2.2.6"\n',
    "torch": """\
import glob
from types import SimpleNamespace
__version__ = "2.9.0+cu129"
version = SimpleNamespace(cuda="12.9")
cuda = SimpleNamespace(device_count=lambda: len(glob.glob("/dev/nvidia[0-9]*")))
""",
}
VLLM = """\
#!/bin/sh
shift
test -e /root/.cache/instead.py && exec python3 -u /root/.cache/instead.py
cd /opt/stand-in
exec python3 -m fixtures.rehearsal.standin /root/.cache/standin.json "$@"
"""
CHANGES = [
    'ENTRYPOINT ["vllm","serve"]',
    "ENV PATH=/usr/bin:/bin",
    "ENV PIP_DISABLE_PIP_VERSION_CHECK=1",
    "ENV PIP_ROOT_USER_ACTION=ignore",
]


class Rootfs:
    """Collects files into an archive, each path once."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._seen: set[str] = set()

    def text(self, name: str, content: str, mode: int = 0o644) -> None:
        data = content.encode()
        entry = tarfile.TarInfo(name.lstrip("/"))
        entry.size, entry.mode = len(data), mode
        self._add(entry, data)

    def link(self, name: str, target: str) -> None:
        entry = tarfile.TarInfo(name.lstrip("/"))
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self._add(entry, None)

    def folder(self, name: str, mode: int = 0o755) -> None:
        entry = tarfile.TarInfo(name.lstrip("/"))
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self._add(entry, None)

    def file(self, source: Path, name: str = "") -> None:
        """Add a file under its own path or another; a link is followed."""
        entry = tarfile.TarInfo((name or str(source)).lstrip("/"))
        data = source.read_bytes()
        entry.size, entry.mode = len(data), 0o755 if source.stat().st_mode & 0o111 else 0o644
        self._add(entry, data)

    def tree(self, source: Path, name: str = "", *, but: tuple[str, ...] = LEFT_OUT) -> None:
        for path in sorted(source.rglob("*")):
            inner = path.relative_to(source)
            if (
                path.is_file()
                and not set(inner.parts) & set(but)
                and not any(part.startswith("config-3") for part in inner.parts)
            ):
                self.file(path, f"{name or source}/{inner}")

    def _add(self, entry: tarfile.TarInfo, data: bytes | None) -> None:
        if entry.name not in self._seen:
            self._seen.add(entry.name)
            self._tar.addfile(entry, io.BytesIO(data) if data is not None else None)


def write_rootfs(target: Path) -> None:
    """Write the image's root file system as a tar archive (some 70 MB)."""
    with tarfile.open(target, "w") as tar:
        _fill(Rootfs(tar))


def _fill(root: Rootfs) -> None:
    for name in ("bin", "lib", "lib64", "sbin"):
        root.link(name, f"usr/{name}")
    for name in ("proc", "sys", "dev", "root"):
        root.folder(name)
    root.folder("tmp", 0o1777)
    root.text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    root.text("etc/group", "root:x:0:\n")
    _interpreter(root)
    for name, text in PACKAGES.items():
        root.text(f"{SITE}/{name}/__init__.py", text)
    root.tree(Path(msgspec.__file__).parent, f"{SITE}/msgspec")
    root.tree(Path(PIL.__file__).parent, f"{SITE}/PIL")
    bundled = Path(PIL.__file__).parents[1] / "pillow.libs"
    root.tree(bundled, f"{SITE}/pillow.libs")
    for package in ("fixtures", "recipe"):
        root.tree(ROOT / package, f"opt/stand-in/{package}", but=("assets", "__pycache__", "snapshots"))
    root.text("usr/bin/vllm", VLLM, 0o755)


def _interpreter(root: Rootfs) -> None:
    """Put this interpreter under its own path, with everything that it loads."""
    program = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    programs = [program, *map(Path, PROGRAMS)]
    for path in programs[1:]:
        root.file(path.resolve(), f"usr/bin/{path.name}")
    root.file(program, _merged(program))
    for name in ("python", "python3"):
        root.link(f"usr/bin/{name}", str(program))
    root.tree(library, _merged(library))
    pure = Path(sysconfig.get_path("purelib", vars={"base": sys.base_prefix}))
    root.text(f"{_merged(pure)}/stand-in.pth", f"/{SITE}\n")
    pip = importlib.metadata.distribution("pip")
    for file in pip.files or ():
        path = Path(str(file.locate()))
        if path.is_file() and not {"..", "__pycache__"} & set(file.parts):
            root.file(path, f"{SITE}/{file}")
    modules = [
        *library.rglob("*.so"),
        *Path(msgspec.__file__).parent.rglob("*.so"),
        *Path(PIL.__file__).parent.rglob("*.so"),
    ]
    for name in _libraries([*programs, *modules]):
        root.file(Path(name).resolve(), _merged(Path(name)))


def _libraries(files: list[Path]) -> list[str]:
    """Return the system libraries that these programs and modules load, as ldd tells them; not those of a wheel."""
    done = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=False)
    found = {match[1].rstrip(":") for match in LIBRARY.finditer(done.stdout) if not match[1].endswith(":")}
    return sorted(name for name in found if Path(name).is_file() and ".." not in Path(name).parts)


def _merged(path: Path) -> str:
    """Return a path as it lies under /usr: the image's /bin and /lib are links into it, as Debian's are."""
    text = str(path)
    return f"/usr{text}" if text.startswith(("/bin/", "/lib/", "/lib64/", "/sbin/")) else text
