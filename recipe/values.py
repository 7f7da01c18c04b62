"""Small value types that the recipe, the probes and the reports share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, NoReturn

import msgspec
from packaging.version import InvalidVersion, Version

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
ImageDigest = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}$")]
Revision = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}$")]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
ByteCount = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Days = Annotated[int, msgspec.Meta(ge=1, le=3660)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """Base of everything that a probe or provisioner hands to a test: frozen and JSON-able.

    The JSON form carries the class name under ``type``, so that recorded facts decode to the same types.
    """


class Absent(Fact, frozen=True):
    """The thing was looked for and is not there. That is an answer, and a requirement that needs it fails."""

    what: str
    detail: str

    def __str__(self) -> str:
        return f"no {self.what}: {self.detail}"


class Unreadable(Fact, frozen=True):
    """The thing could not be read. Neither there nor absent: a requirement that needs it is blocked."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what} could not be read: {self.reason}"


class Secret:
    """A text that cannot print itself: ``repr``, ``str``, formatting and pickling all hide or refuse it."""

    __slots__ = ("_name", "_text")

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text

    def reveal(self) -> str:
        """Return the text. Call it only where the text leaves for its one legitimate receiver."""
        return self._text

    def __repr__(self) -> str:
        return f"<secret {self._name}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} is not to be serialised")


_CREDENTIALS = re.compile(r"^(\w+://)?.*@")


def without_credentials(address: str) -> str:
    """Return an address without the user and password that it may hold.

    All before the last ``@`` goes, since a password that nobody has encoded may hold an ``@`` or a slash itself.
    """
    return _CREDENTIALS.sub(r"\1", address)


_DRIVER = re.compile(r"^(\d+(?:\.\d+){1,3})(.*)$")


def driver_numbers(text: str) -> tuple[int, ...] | None:
    """Return the numeric parts of an NVIDIA driver version, or None where it does not start with any.

    ``575.57.08`` and ``575.57.8`` are equal; a suffix (``550.90.07-grid``) is left out here and told
    by `driver_suffix`. Shape: two to four non-negative integers.
    """
    match = _DRIVER.match(text.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else None


def driver_suffix(text: str) -> str:
    """Return what follows the numbers of a driver version: ``-grid`` means a vGPU driver."""
    match = _DRIVER.match(text.strip())
    return match[2] if match else ""


def driver_meets(text: str, minimum: str) -> bool:
    """Tell whether driver ``text`` is ``minimum`` or newer. A missing part counts as 0; no number is no."""
    found, wanted = driver_numbers(text), driver_numbers(minimum)
    if found is None or wanted is None:
        return False
    width = max(len(found), len(wanted))
    return _padded(found, width) >= _padded(wanted, width)


def _padded(numbers: tuple[int, ...], width: int) -> tuple[int, ...]:
    return numbers + (0,) * (width - len(numbers))


def count_named(value: str, uuids: Sequence[str]) -> int:
    """Return how many GPUs a list of visible devices names, by their index or by the start of their UUID.

    An entry that names none ends the list, as it does for CUDA; so does an empty value.
    """
    named: set[str] = set()
    for entry in value.split(","):
        word = entry.strip()
        found = (
            uuids[int(word) : int(word) + 1] if word.isdigit() else [u for u in uuids if word and u.startswith(word)]
        )
        if len(found) != 1:
            break
        named.update(found)
    return len(named)


def package_version(text: str) -> Version | None:
    """Return a PEP 440 version, or None where ``text`` is not one."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def package_at_most(text: str, maximum: str) -> bool:
    """Tell whether a Python package version is ``maximum`` or older; a local build tag is ignored."""
    found, wanted = package_version(text), package_version(maximum)
    return found is not None and wanted is not None and Version(found.public) <= wanted


def package_at_least(text: str, minimum: str) -> bool:
    """Tell whether a Python package version is ``minimum`` or newer; a local build tag is ignored."""
    found, wanted = package_version(text), package_version(minimum)
    return found is not None and wanted is not None and Version(found.public) >= wanted


def package_is(text: str, wanted: str) -> bool:
    """Tell whether a Python package version is exactly ``wanted``, local build tag included."""
    found = package_version(text)
    return found is not None and found == package_version(wanted)


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one: ``4 GPUs``."""
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def count_bytes(number: int) -> str:
    """Write a byte count for people, exact and rounded: ``58,817,660,680 bytes (54.78 GiB)``."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return f"{number:,} bytes ({number / size:.2f} {unit})"
    return f"{number:,} bytes"
