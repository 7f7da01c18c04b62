"""A bundle as it was recorded: its verdict, what was to be met, and every fact that its tests judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.deployment import Deployment
from recipe.errors import RecipeError
from recipe.snapshot import Snapshot
from reports import document
from reports.files import DEPLOYMENT_FILE, SNAPSHOT_FILE, BundleError

T = TypeVar("T")


class Recording:
    """One bundle, read for judging it again. Raises `BundleError` for what is no whole bundle of this version."""

    def __init__(self, bundle: Path) -> None:
        self.bundle = bundle
        self.document = document.load(bundle)
        self.deployment = _read(bundle / DEPLOYMENT_FILE, Deployment)
        has_snapshot = self.deployment.snapshot is not None
        self.snapshot = _read(bundle / SNAPSHOT_FILE, Snapshot) if has_snapshot else None

    @property
    def ground(self) -> str:
        """Tell whether what was to be met is what this checkout's recipe states under that name."""
        name = self.deployment.name
        try:
            here = deployments.load(name)
            same = (here, snapshots.documented(here.snapshot)) == (self.deployment, self.snapshot)
        except RecipeError:
            return f"What was to be met stands in {DEPLOYMENT_FILE} alone: this checkout has no deployment {name}"
        return f"What was to be met {'is' if same else 'is NOT'} what recipe/deployments/{name}.toml states here"

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
