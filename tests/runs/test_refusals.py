"""What is refused before anything runs: one clear line, exit status 4, nothing touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.workdir import LOCK, WorkdirLock
from recipe.deployment import FOLDER
from tests.running import ROOT, Qualify

PLAIN = ("no:cacheprovider",)


@pytest.mark.parametrize(
    ("options", "plugins", "says"),
    [
        (("-n", "2"), PLAIN, "-n runs tests in parallel"),
        (("--dist=load", "--tx=2*popen"), PLAIN, "-n runs tests in parallel"),
        (("--reruns", "1"), PLAIN, "--reruns hides failures"),
        ((), (*PLAIN, "random_order"), "pytest-random-order changes the order"),
        ((), ("no:cacheprovider", "randomly"), "pytest-randomly changes the order"),
        ((), (*PLAIN, "no:pytest_order"), "pytest-order is not installed or switched off"),
        (("--fault", "none"), PLAIN, "--fault none: no such fault; 'pytest --faults' lists them"),
        (("--deployment", "none"), PLAIN, "recipe: none: no such deployment; name one of ernie-4.5-vl-28b.h200-tp1"),
    ],
)
def test_a_run_that_could_lie_is_refused(
    qualify: Qualify, options: tuple[str, ...], plugins: tuple[str, ...], says: str
) -> None:
    for name in ("random_order", "randomly"):
        (qualify.folder / f"{name}.py").write_text("", encoding="utf-8")

    ended = qualify(*options, plugins=plugins, env={"PYTHONPATH": str(qualify.folder)})

    assert ended.status == 4, ended.output
    assert says in ended.output
    assert "Traceback" not in ended.output
    assert not (ended.bundle / "verdict.json").exists()


def test_a_fault_needs_the_rehearsal(qualify: Qualify) -> None:
    ended = qualify("--fault", "gpu-mig", deployment=None)

    assert ended.status == 4
    assert "--fault gpu-mig belongs to the rehearsal" in ended.output


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "world.json: No such file or directory"),
        ("{", "world.json: not valid JSON"),
        ('["host"]', "world.json: top level: Expected `object`"),
        ('{"host.colour": "red"}', "unknown field `colour` - at `$.host`"),
        ('{"ghost.colour": "red"}', "ghost.colour: the simulated world has no such place"),
        ('{"host.gpus.7.name": "NVIDIA L40S"}', "host.gpus.7.name: the simulated world has no such place"),
        ('{"host.memory_bytes": "much"}', "Expected `int`, got `str` - at `$.host.memory_bytes`"),
    ],
)
def test_a_world_that_cannot_be_is_one_clear_line(qualify: Qualify, content: str | None, says: str) -> None:
    path = qualify.folder / "world.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    ended = qualify(f"--world={path}")

    assert ended.status == 4
    assert "ERROR: --world " in ended.output
    assert says in ended.output
    assert "Traceback" not in ended.output


def test_another_world_is_rehearsed(qualify: Qualify) -> None:
    path = qualify.folder / "world.json"
    path.write_text('{"host.gpus.3.name": "NVIDIA L4"}', encoding="utf-8")
    ended = qualify(f"--world={path}")

    assert ended.ids("failed") == {"HST-04"}
    assert "GPU 3: NVIDIA L4" in ended.row("HST-04")["found"]


def test_a_broken_deployment_is_one_clear_line(qualify: Qualify) -> None:
    path = qualify.folder / "mine.toml"
    path.write_text((FOLDER / "rehearsal.toml").read_text(encoding="utf-8").replace("gpu_count = 4", "gpus = 4"))

    ended = qualify(f"--deployment={path}", deployment=None)

    assert ended.status == 4
    assert "ERROR: recipe: mine.toml: host: Object " in ended.output
    assert "Traceback" not in ended.output


def test_a_bundle_that_cannot_be_written_is_one_clear_line(qualify: Qualify) -> None:
    (qualify.folder / "file").write_text("", encoding="utf-8")
    folder = qualify.folder / "file" / "bundle"
    ended = qualify("--stage", "hst", f"--bundle={folder}")

    assert ended.status == 4
    assert f"cannot write the bundle in {folder}: Not a directory; name another --bundle" in ended.output
    assert "Traceback" not in ended.output


def test_a_bundle_is_never_overwritten(qualify: Qualify) -> None:
    first = qualify("-k", "hst_01")

    again = qualify("-k", "hst_01", f"--bundle={first.bundle}")

    assert again.status == 4
    assert "is not an empty folder" in again.output


def test_a_second_run_in_the_same_folder_is_kept_out(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    lock = WorkdirLock(workdir)
    lock.take()
    try:
        ended = qualify(f"--workdir={workdir}")
    finally:
        lock.release()

    assert ended.status == 4
    assert f"another qualification runs in {workdir} (pid " in ended.output
    assert not (workdir / LOCK).exists()
    assert not ended.bundle.exists()


def test_a_work_folder_that_cannot_be_is_named(qualify: Qualify) -> None:
    blocker = qualify.folder / "file"
    blocker.touch()

    ended = qualify(f"--workdir={blocker}/hosting")

    assert ended.status == 4
    assert f"the work folder {blocker}/hosting cannot be used" in ended.output


def pytest_alone(*options: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "option", ["--deployment=rehearsal", "--fault=gpu-mig", "--remove", "--bundle=x", "--stage=hst", "--plan"]
)
def test_an_option_of_a_qualification_needs_it(option: str) -> None:
    done = pytest_alone(option)

    assert done.returncode == 4
    assert "say 'pytest -m qualify --" in done.stderr


def test_a_requirement_is_not_judged_outside_a_qualification() -> None:
    done = pytest_alone("qualification/test_10_host.py")

    assert done.returncode == 4
    assert "run only as 'pytest -m qualify'" in done.stderr


def test_pytest_alone_collects_no_requirement() -> None:
    done = pytest_alone("--collect-only", "-q")

    assert done.returncode == 0
    assert not [line for line in done.stdout.splitlines() if line.startswith("qualification/")]
    assert "tests/test_layers.py" in done.stdout


def test_the_faults_are_listed() -> None:
    done = pytest_alone("--faults")

    assert done.returncode == 0
    assert "gpu-vgpu-profile" in done.stdout
    assert not Path("x").exists()
