"""The sections of a deployment file: host, image, program, settings, service, picture, request, expectations."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, Literal

import msgspec

from recipe.values import ByteCount, FileName, ImageDigest, Positive, Sha256, Text

PARALLEL = (
    ("--tensor-parallel-size", "-tp"),
    ("--pipeline-parallel-size", "-pp"),
    ("--data-parallel-size", "-dp"),
)


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the sections: frozen, unknown keys refused."""


class Host(Section, frozen=True):
    """What the host must be (guide: Exact model and requirements; Install the runtime, steps 1 and 2).

    What the source of a deployment does not state is left out, and its requirements are not applicable then.
    """

    gpu_product: Text
    gpu_count: Positive
    gpu_memory_min_bytes: ByteCount | None = None
    driver_min: Text | None = None
    os_id: Text | None = None
    os_version: Text | None = None
    architecture: Text | None = None
    docker: Literal[True] | None = None
    image_free_bytes: ByteCount | None = None
    image_free_inodes: ByteCount | None = None


class Wheel(Section, frozen=True):
    """The one Python wheel that the derived image adds (guide: Install the runtime, step 3)."""

    project: Text
    filename: Text
    sha256: Sha256


class ImageChecks(Section, frozen=True):
    """What the diagnostics inside the derived image must find. Versions are PEP 440."""

    vllm: Text
    decord: Text
    transformers_max: Text
    imports: tuple[Text, ...]


class Image(Section, frozen=True):
    """The pinned base image and the layer built on it (guide: Install the runtime, step 3).

    ``python`` is the interpreter that the Dockerfile, named ``dockerfile``, calls. Where ``pip check`` is not its last
    step, it is run in the image afterwards; ``pip_check_accepts`` lists the lines that it may then say.
    """

    repository: Text
    digest: ImageDigest
    os: Text
    architecture: Text
    tag: Text
    dockerfile_sha256: Sha256
    wheel: Wheel
    checks: ImageChecks
    dockerfile: FileName = "Dockerfile"
    python: Text = "python"
    pip_check_in_build: bool = True
    pip_check_accepts: tuple[Text, ...] = ()

    @property
    def reference(self) -> str:
        """``repository@sha256:…``, the form that is pulled and stands in the Dockerfile."""
        return f"{self.repository}@{self.digest}"


class Program(Section, frozen=True):
    """The program that serves, where no image brings it: its name on the path, and the oldest version that will do."""

    command: Text
    version_min: Text


class Unpinned(Section, frozen=True):
    """A value that the source of a deployment leaves open: what, and what the source says in its place."""

    value: Text
    source_says: Text


class Settings(Section, frozen=True):
    """The private key and the chat template (guide: Configure, step 1). ``key_length`` is in hex digits."""

    key_length: Positive
    key_variable: Text
    template_sha256: Sha256 | None = None


class Mount(Section, frozen=True):
    """One bind mount: a name in the work folder, its place in the container, and whether it is read-only."""

    source: Text
    target: Text
    read_only: bool = False


class Service(Section, frozen=True):
    """The documented ``docker run`` (guide: Start the model, step 1). Deadlines in seconds; port 0 means any free."""

    name: Text
    model_name: Text
    context_tokens: Positive
    workers: Positive
    address: Text
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    container_port: Positive
    ready_deadline_s: Positive
    stop_grace_s: Positive
    environment: dict[str, str]
    mounts: tuple[Mount, ...]
    arguments: tuple[str, ...]
    shm_bytes: ByteCount | None = None

    @property
    def media_limit(self) -> str | None:
        """How many pictures and videos a prompt may hold, as the server's argument says it; None where it says none."""
        return self._argument("--limit-mm-per-prompt")

    @property
    def workers_asked_for(self) -> int:
        """How many workers the arguments ask for: the product of their parallel sizes, each 1 where it is not said."""
        return math.prod(int(self._argument(*names) or 1) for names in PARALLEL)

    def _argument(self, *names: str) -> str | None:
        """Return the value of the argument of these names, as a word of its own or after ``=``, or None."""
        words = (*self.arguments, "")
        for word, following in itertools.pairwise(words):
            name, is_joined, value = word.partition("=")
            if name in names:
                return value if is_joined else following
        return None


class Picture(Section, frozen=True):
    """The fixture picture (guide: Verify the setup, step 1); patch and merge give the visual grid.

    Without ``url`` it is one of this suite's own, in fixtures/pictures.
    """

    filename: FileName
    bytes: ByteCount
    sha256: Sha256
    media_type: Literal["image/jpeg", "image/png"]
    patch: Positive
    merge: Positive
    min_pixels: Positive
    max_pixels: Positive
    grid_tokens_max: Positive
    url: Text | None = None


class Request(Section, frozen=True):
    """The documented request: the question, and the body's other parameters in the guide's order."""

    question: Text
    deadline_s: Positive
    parameters: dict[str, Any]


class Expected(Section, frozen=True):
    """What the answer must say and how long it may be (guide: Verify the setup, step 1)."""

    headline: Text
    document: Text
    usage_max: Positive
    completion_max: Positive
