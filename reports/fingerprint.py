"""What a qualification stands on: host, image, arguments, files. If one of it changes, it holds no more."""

from __future__ import annotations

import msgspec

from reports.facts import Facts


class Fingerprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host and what it serves. A value that was not read is empty. ``files`` are bytes by name.

    ``gpus`` are name and UUID of each device; ``image`` is the id of the derived image.
    """

    system: str = ""
    kernel: str = ""
    driver: str = ""
    gpus: tuple[str, ...] = ()
    engine: str = ""
    toolkit: str = ""
    program: str = ""
    image: str = ""
    arguments: tuple[str, ...] = ()
    model_folder: str = ""
    files: dict[str, int] = {}
    host_packages: dict[str, str] = {}
    image_packages: dict[str, str] = {}


def fingerprint(facts: Facts) -> Fingerprint:
    """Return the fingerprint that recorded facts give."""
    names = ("os_id", "os_version", "architecture")
    engine = (facts.text("container_engine", "product"), facts.text("container_engine", "version"))
    program = (facts.text("program", "command"), facts.text("program", "version"))
    return Fingerprint(
        system=" ".join(filter(None, (facts.text("operating_system", name) for name in names))),
        kernel=facts.text("operating_system", "kernel"),
        driver=facts.text("gpus", "driver_version"),
        gpus=tuple(_device(gpu) for gpu in facts.listed("gpus", "devices")),
        engine=" ".join(filter(None, engine)),
        toolkit=facts.text("toolkit", "version"),
        program=" ".join(filter(None, program)),
        image=facts.text("derived_image", "image", "id"),
        arguments=tuple(facts.listed("container", "arguments")),
        model_folder=facts.text("weights", "folder"),
        files={name: entry["file"]["bytes"] for name, entry in facts.model_files().items()},
        host_packages=facts.mapped("packages", "versions"),
        image_packages=facts.mapped("diagnostics", "versions"),
    )


def _device(gpu: dict[str, object]) -> str:
    told = (gpu.get("name"), gpu.get("uuid"))
    return " ".join(value if isinstance(value, str) else "unreadable" for value in told)
