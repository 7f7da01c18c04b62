"""A bundle as it was recorded: its verdict, what was to be met, and every fact that its tests judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from recipe.deployment import Deployment
from recipe.snapshot import Snapshot
from reports import document
from reports.bundle import DEPLOYMENT_FILE, SNAPSHOT_FILE
from reports.files import BundleError

T = TypeVar("T")


class Recording:
    """One bundle, read for judging it again. Raises `BundleError` for what is no whole bundle of this version."""

    def __init__(self, bundle: Path) -> None:
        self.bundle = bundle
        self.document = document.load(bundle)
        self.deployment = _read(bundle / DEPLOYMENT_FILE, Deployment)
        has_snapshot = self.deployment.snapshot is not None
        self.snapshot = _read(bundle / SNAPSHOT_FILE, Snapshot) if has_snapshot else None

    def has(self, fixture: str) -> bool:
        """Tell whether a fact of that fixture was recorded."""
        return self._path(fixture).is_file()

    def fact(self, fixture: str, kind: Any) -> Any:
        """Return the recorded fact of a fixture, as a value of its type. Raises `BundleError`."""
        return _read(self._path(fixture), kind)

    def _path(self, fixture: str) -> Path:
        return self.bundle / "facts" / f"{fixture}.json"


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind, strict=True)
    except OSError as error:
        raise BundleError(f"{path}: {error.strerror}; the bundle is not whole") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BundleError(f"{path}: {error}; it was altered, or written by another version of the suite") from error
