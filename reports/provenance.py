"""Where everything comes from that was served: digests of image, wheel, model files and template, as they were read."""

from __future__ import annotations

from typing import Any

import msgspec

from recipe.measurements import Measurement, measure
from recipe.routes import sort
from reports.facts import Facts

MIB = float(1 << 20)


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the model as it was read: ``read`` and ``received`` in bytes, ``seconds`` for both together."""

    name: str
    bytes: int
    sha256: str
    read: int
    received: int
    seconds: float

    @property
    def rate(self) -> float:
        """MB/s through the hash, from disk or network."""
        return round((self.read + self.received) / max(self.seconds, 0.001) / 1e6, 4)


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Digests of all that was served. A value that was not read is empty."""

    base_image: tuple[str, ...] = ()
    base_layers: tuple[str, ...] = ()
    image_layers: tuple[str, ...] = ()
    dockerfile_sha256: str = ""
    wheel: str = ""
    wheel_sha256: str = ""
    repository: str = ""
    revision: str = ""
    source: str = ""
    files: tuple[ModelFile, ...] = ()
    template_sha256: str = ""
    picture_sha256: str = ""
    served_version: str = ""


class AnsweringRoute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route of the server, asked without a key: what it is for, and its status, None where it did not answer."""

    path: str
    asked: str
    status: int | None
    kind: str
    announced: bool


def provenance(facts: Facts, repository: str, revision: str) -> Provenance:
    """Return the provenance that recorded facts give, of a model snapshot that the deployment names."""
    return Provenance(
        base_image=tuple(facts.listed("base_image", "image", "digests")),
        base_layers=tuple(facts.listed("base_image", "image", "layers")),
        image_layers=tuple(facts.listed("derived_image", "image", "layers")),
        dockerfile_sha256=facts.text("dockerfile", "sha256"),
        wheel=facts.text("wheel_in_index", "filename"),
        wheel_sha256=facts.text("wheel_in_index", "sha256"),
        repository=repository,
        revision=revision,
        source=facts.text("weights", "source"),
        files=tuple(_model_file(name, entry) for name, entry in facts.model_files().items()),
        template_sha256=facts.text("chat_template", "sha256"),
        picture_sha256=facts.text("fixture_picture", "sha256"),
        served_version=facts.text("served_version", "version"),
    )


def _model_file(name: str, entry: dict[str, Any]) -> ModelFile:
    moved = {field: entry[field] for field in ("read", "received", "seconds")}
    return ModelFile(name=name, bytes=entry["file"]["bytes"], sha256=entry["file"].get("sha256") or "", **moved)


def answering_routes(facts: Facts) -> tuple[AnsweringRoute, ...]:
    """Return the exposure map: every route that was asked without a key."""
    return tuple(
        AnsweringRoute(
            path=route["path"],
            asked=route["asked"],
            status=route["status"] if isinstance(route["status"], int) else None,
            kind=sort(route["path"], route["status"]) if isinstance(route["status"], int) else "no answer",
            announced=route["announced"],
        )
        for route in facts.listed("exposed", "routes")
    )


def measurements(facts: Facts, origin: Provenance) -> tuple[Measurement, ...]:
    """Return what was measured in the run, as compared and followed over time: speed, start, memory, transfer."""
    found = [msgspec.convert(entry, Measurement) for entry in facts.listed("timed", "measurements")]
    ready = [facts.get("readiness", "seconds")] if facts.get("readiness", "ready") else []
    peaks = [gpu["peak"] / MIB for gpu in facts.listed("memory_record", "gpus")]
    moved = sum(file.read + file.received for file in origin.files)
    seconds = facts.get("weights", "seconds")
    rate = [moved / seconds / 1e6] if moved and seconds else []
    clock = "this suite's monotonic clock"
    more = (
        measure("time to ready", "s", ready, clock, "from the start to the first real completion"),
        measure("highest GPU memory", "MiB", peaks, "NVML", "used without the driver's reserve, over all GPUs"),
        measure("model files hashed", "MB/s", rate, clock, "bytes read and received over wall time"),
    )
    return (*found, *(entry for entry in more if entry))
