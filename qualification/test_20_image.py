"""Stage IMG: base image, Dockerfile, derived image, and what is inside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from fixtures.image import Program
from fixtures.probes.environment import HIDING, Environment
from fixtures.provisioners.dockerfile import Dockerfile, IndexedWheel
from fixtures.provisioners.image import Built, Diagnostics, Interpreter, Pulled
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, package_at_least, package_at_most, package_is

pytestmark = pytest.mark.qualify
FINDING = " | "
Base = Pulled | Absent | Unreadable
Inside = Diagnostics | Absent | Unreadable


def test_img_01_base_image_is_present_by_digest(
    requirement: Judgement, deployment: Deployment, base_image: Base
) -> None:
    wanted = stated(deployment.image).reference
    requirement.wants(f"{wanted} is local")
    base = requirement.needs(base_image)
    requirement.finds(f"{', '.join(base.image.digests)} ({'pulled now' if base.fetched else 'was local'})")
    assert wanted in base.image.digests


def test_img_02_base_image_is_for_the_platform(
    requirement: Judgement, deployment: Deployment, base_image: Base
) -> None:
    wanted = stated(deployment.image)
    requirement.wants(f"{wanted.os}/{wanted.architecture}")
    base = requirement.needs(base_image).image
    requirement.finds(f"{base.os}/{base.architecture}")
    assert (base.os, base.architecture) == (wanted.os, wanted.architecture)


def test_img_03_dockerfile_has_documented_bytes(
    requirement: Judgement, deployment: Deployment, dockerfile: Dockerfile | Absent | Unreadable
) -> None:
    wanted = stated(deployment.image).dockerfile_sha256
    requirement.wants(f"Dockerfile with SHA256 {wanted}")
    found = requirement.needs(dockerfile)
    requirement.finds(f"SHA256 {found.sha256}, {found.bytes} bytes, {found.origin}")
    assert found.sha256 == wanted


def test_img_04_wheel_in_the_index_is_documented(
    requirement: Judgement, deployment: Deployment, wheel_in_index: IndexedWheel | Absent | Unreadable
) -> None:
    wanted = stated(deployment.image).wheel
    requirement.wants(f"{wanted.filename} with SHA256 {wanted.sha256}, not yanked")
    found = requirement.needs(wheel_in_index)
    requirement.finds(f"SHA256 {found.sha256}, {f'yanked: {found.yanked}' if found.is_yanked else 'not yanked'}")
    assert found.sha256 == wanted.sha256
    assert not found.is_yanked


def test_img_05_derived_image_only_adds_layers(
    requirement: Judgement,
    base_image: Base,
    base_python: Interpreter | Absent | Unreadable,
    derived_image: Built | Unreadable,
) -> None:
    requirement.wants("the build exits 0, and the base's layers come first in the derived image")
    built, base = requirement.needs(derived_image), requirement.needs(base_image).image
    requirement.needs(base_python)
    if built.status and built.pip_check:
        requirement.needs(Unreadable(what="derived image", reason="its build ends at 'pip check', which IMG-06 judges"))
    if built.unreachable:
        requirement.needs(Unreadable(what="derived image", reason=f"its build reached no network: {built.unreachable}"))
    requirement.finds(f"the build exits {built.status}: {' | '.join(built.last_lines)}")
    assert built.status in (0, None)
    assert built.image is not None
    added = len(built.image.layers) - len(base.layers)
    kept = built.image.layers[: len(base.layers)] == base.layers
    requirement.finds(
        f"{'built' if built.status == 0 else 'found as built before'}, {added} layers added; "
        f"the base's {len(base.layers)} layers {'come first' if kept else 'do not come first'}"
    )
    assert kept
    assert added > 0


def test_img_06_pip_check_is_clean(
    requirement: Judgement, deployment: Deployment, derived_image: Built | Unreadable
) -> None:
    accepted = stated(deployment.image).pip_check_accepts
    requirement.wants(f"'pip check' finds nothing{f' but: {FINDING.join(accepted)}' if accepted else ''}")
    built = requirement.needs(derived_image)
    if built.pip_check is None:
        requirement.needs(Unreadable(what="'pip check'", reason=f"the build exits {built.status} before it"))
    found = built.pip_check or ()
    requirement.finds(FINDING.join(found) or "no broken requirements")
    assert built.pip_check is not None
    assert set(found) <= set(accepted)


def _judge_version(requirement: Judgement, diagnostics: Inside, package: str, meets: Callable[[str], bool]) -> None:
    """State the version of a package inside the image, and assert that it meets the documented one."""
    found = requirement.needs(diagnostics).versions.get(package, "")
    requirement.finds(f"{package} {found or 'states no version'}")
    assert meets(found)


def test_img_07_vllm_version_is_documented(requirement: Judgement, deployment: Deployment, diagnostics: Inside) -> None:
    wanted = stated(deployment.image).checks.vllm
    requirement.wants(f"vllm {wanted}")
    _judge_version(requirement, diagnostics, "vllm", partial(package_is, wanted=wanted))


def test_img_08_decord_version_is_documented(
    requirement: Judgement, deployment: Deployment, diagnostics: Inside
) -> None:
    wanted = stated(deployment.image).checks.decord
    requirement.wants(f"decord {wanted}")
    _judge_version(requirement, diagnostics, "decord", partial(package_is, wanted=wanted))


def test_img_09_transformers_is_within_bound(
    requirement: Judgement, deployment: Deployment, diagnostics: Inside
) -> None:
    wanted = stated(deployment.image).checks.transformers_max
    requirement.wants(f"transformers {wanted} or older")
    _judge_version(requirement, diagnostics, "transformers", partial(package_at_most, maximum=wanted))


def test_img_10_documented_packages_import(requirement: Judgement, deployment: Deployment, diagnostics: Inside) -> None:
    wanted = stated(deployment.image).checks.imports
    requirement.wants(f"{len(wanted)} packages import: {', '.join(wanted)}")
    tried = requirement.needs(diagnostics).imports
    failing = [f"{name}: {tried.get(name, 'not tried')}" for name in wanted if tried.get(name, "not tried")]
    requirement.finds("; ".join(failing) or f"all {len(tried)} import")
    assert not failing


def test_img_11_container_sees_the_gpus(
    requirement: Judgement, deployment: Deployment, diagnostics: Inside, environment: Environment
) -> None:
    requirement.wants(f"PyTorch in the container counts {stated(deployment.host).gpu_count} GPUs")
    found = requirement.needs(diagnostics)
    hiding = [f"{name}={environment.variables[name]!r}" for name in HIDING if name in environment.variables]
    causes = [*([found.gpus_refused] if found.gpus_refused else []), *hiding]
    requirement.finds(f"{found.gpus} GPUs{f': {FINDING.join(causes)}' if causes else ''}")
    assert not found.gpus_refused
    assert found.gpus == stated(deployment.host).gpu_count


def test_img_12_derived_image_id_is_recorded(
    requirement: Judgement, derived_image: Built | Unreadable, diagnostics: Inside
) -> None:
    requirement.wants("one image id, from the build to the end of the diagnostics")
    built = requirement.needs(derived_image).image
    tagged = requirement.needs(diagnostics).image_id
    assert built is not None, "IMG-05 judges the build"
    requirement.finds(built.id if built.id == tagged else f"built {built.id}, the tag now points to {tagged}")
    assert built.id == tagged


def test_img_13_package_versions_are_recorded(requirement: Judgement, diagnostics: Inside) -> None:
    if isinstance(diagnostics, Diagnostics):
        requirement.finds(
            ", ".join(f"{k} {v}" for k, v in {"python": diagnostics.python, **diagnostics.versions}.items())
        )
    else:
        requirement.finds(diagnostics)


def test_img_14_program_is_installed(
    requirement: Judgement, deployment: Deployment, program: Program | Absent | Unreadable
) -> None:
    minimum = stated(deployment.program).version_min
    requirement.wants(f"{stated(deployment.program).command} on the path, {minimum} or newer (unpinned)")
    found = requirement.needs(program)
    requirement.finds(f"{found.command} {found.version}")
    assert package_at_least(found.version, minimum)
