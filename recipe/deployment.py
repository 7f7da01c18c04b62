"""A deployment: one file that states what is deployed, where, and what its answer must be.

Every section but the first may be left out. A requirement whose value is not stated is not applicable.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from recipe import snapshot as snapshots
from recipe.amendments import Amended, Amendment, amend
from recipe.errors import RecipeError
from recipe.loading import read
from recipe.sections import (
    Expected,
    Host,
    Image,
    Picture,
    Program,
    Request,
    Section,
    Service,
    Settings,
    Unpinned,
)
from recipe.values import Days, Text, count_of, driver_numbers, package_version

T = TypeVar("T")
FOLDER = Path(__file__).with_name("deployments")
DEFAULT = "ernie-4.5-vl-28b.l40s-tp4"


class Deployment(Section, frozen=True):
    """One deployment. ``engine`` says what runs the server; an empty ``workdir`` is a new temporary folder.

    ``rehearsal`` puts a simulated host and a loopback hub around the engine, so that the verdict certifies nothing.
    ``index`` is a package index in PyPI's place. ``amends`` names the deployment that ``amendments`` change.
    ``validity_days`` is how long a qualification holds where nothing changes.
    ``unpinned`` lists what the source leaves open; such a deployment qualifies with remarks at best.
    """

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    name: Text
    title: Text
    engine: Literal["docker", "process", "rehearsal"]
    workdir: str
    rehearsal: bool = False
    validity_days: Days = 90
    snapshot: str | None = None
    hub: str | None = None
    index: str | None = None
    amends: str | None = None
    amendments: tuple[Amendment, ...] = ()
    unpinned: tuple[Unpinned, ...] = ()
    host: Host | None = None
    image: Image | None = None
    program: Program | None = None
    settings: Settings | None = None
    service: Service | None = None
    picture: Picture | None = None
    request: Request | None = None
    expected: Expected | None = None

    def states(self, path: str) -> bool:
        """Tell whether the value at a dotted path (``host.driver_min``) is stated."""
        value: object = self
        for name in path.split("."):
            value = getattr(value, name, None)
            if value is None:
                return False
        return True

    def missing(self, paths: tuple[str, ...]) -> str | None:
        """Return the first of the dotted paths that is not stated, or None."""
        return next((path for path in paths if not self.states(path)), None)


def stated(section: T | None) -> T:
    """Return a section that is stated. Raises LookupError where it is not: its requirements are not applicable then."""
    if section is None:
        raise LookupError("the deployment does not state the section that this needs")
    return section


def load(name: str) -> Deployment:
    """Read a deployment by name (of recipe/deployments) or by file. Raises `RecipeError`."""
    path = _path(name)
    deployment = _amended(path) if "amends" in read(path, dict[str, Any]) else read(path, Deployment)
    _check(path.name, deployment)
    return deployment


def _path(name: str) -> Path:
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise RecipeError(str(name), "", "no such deployment", f"name one of {known}, or a .toml file")
    return path


def _amended(path: Path) -> Deployment:
    """Read a deployment that is another one with amendments: all that differs stands in those."""
    header = read(path, Amended)
    original = _original(header.amends)
    named = {"name": header.name, "title": header.title, "amends": header.amends, "amendments": header.amendments}
    plain = {**amend(path.name, msgspec.to_builtins(original), header.amendments), **msgspec.to_builtins(named)}
    try:
        return msgspec.convert(plain, Deployment, strict=True)
    except msgspec.ValidationError as error:
        raise RecipeError(path.name, "amendments", str(error)) from error


def _original(name: str) -> Deployment:
    """Read the deployment that another one amends; amendments are not amended again."""
    if "amends" in read(_path(name), dict[str, Any]):
        raise RecipeError(name, "amends", "it amends another deployment, or itself", "amend one that amends none")
    return load(name)


def _is_finite(value: object) -> bool:
    """Tell whether no number in plain values is infinite or none: requests and bundles are JSON."""
    if isinstance(value, dict | list | tuple):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _check(source: str, deployment: Deployment) -> None:
    """Refuse what the types alone cannot: versions without numbers, a missing snapshot, a cap beyond the grid."""
    host, image, picture, service = deployment.host, deployment.image, deployment.picture, deployment.service
    if not _is_finite(msgspec.to_builtins(deployment)):
        raise RecipeError(source, "", "nan and inf are no numbers that JSON could hold")
    if deployment.engine == "rehearsal" and not deployment.rehearsal:
        raise RecipeError(source, "rehearsal", "must be true: the rehearsal's engine is a stand-in")
    if host and host.driver_min and driver_numbers(host.driver_min) is None:
        raise RecipeError(source, "host.driver_min", f"{host.driver_min!r} is not a driver version")
    if image:
        for field in ("vllm", "decord", "transformers_max"):
            if package_version(getattr(image.checks, field)) is None:
                raise RecipeError(source, f"image.checks.{field}", "not a PEP 440 version")
    if deployment.program and package_version(deployment.program.version_min) is None:
        raise RecipeError(source, "program.version_min", "not a PEP 440 version")
    if deployment.snapshot is not None and not (snapshots.FOLDER / f"{deployment.snapshot}.json").is_file():
        raise RecipeError(source, "snapshot", f"no recipe/snapshots/{deployment.snapshot}.json")
    if picture and picture.max_pixels // (picture.patch * picture.merge) ** 2 > picture.grid_tokens_max:
        raise RecipeError(source, "picture.max_pixels", f"allows more than {picture.grid_tokens_max} grid tokens")
    if service:
        _check_workers(source, service, host)
    if service and any(word.partition("=")[0] == "--api-key" for word in service.arguments):
        raise RecipeError(source, "service.arguments", "--api-key would put the key into the process list")


def _check_workers(source: str, service: Service, host: Host | None) -> None:
    """Refuse workers that the arguments do not ask for, and more of them than there are GPUs."""
    try:
        asked = service.workers_asked_for
    except ValueError:
        raise RecipeError(source, "service.arguments", "a parallel size is no number") from None
    if asked != service.workers:
        told = f"{service.workers}, while the arguments ask for {count_of(asked, 'worker')}"
        raise RecipeError(source, "service.workers", told, "make it agree with --tensor-parallel-size")
    if host and service.workers > host.gpu_count:
        told = f"{service.workers}, while host.gpu_count is {host.gpu_count}"
        raise RecipeError(source, "service.workers", told, "give each worker a GPU of its own")
