"""The host alone: --stage hst judges it in seconds, --plan adds what a run would do; neither changes anything on it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from recipe.deployment import FOLDER
from tests.running import Qualify

H200 = "ernie-4.5-vl-28b.h200-tp1"


@pytest.fixture
def rehearsed_h200(tmp_path: Path) -> Path:
    """The H200 deployment in a simulated world, with the rehearsal's model, picture and deadlines."""
    own = (FOLDER / "rehearsal.toml").read_text(encoding="utf-8")
    text = (FOLDER / f"{H200}.toml").read_text(encoding="utf-8")
    text = text[: text.index("[picture]")] + own[own.index("[picture]") :]
    for old, new in (
        ('engine = "process"', 'engine = "rehearsal"\nrehearsal = true'),
        ('workdir = "~/ernie-vl-hosting-h200"', 'workdir = ""'),
        ('snapshot = "ernie-4.5-vl-28b-a3b-pt"', 'snapshot = "rehearsal"'),
        ("port = 8000\n", "port = 0\n"),
        ("ready_deadline_s = 1800\nstop_grace_s = 60", "ready_deadline_s = 20\nstop_grace_s = 3"),
    ):
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / "h200.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_healthy_host_passes_its_stage_and_is_not_qualified_by_it(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    ended = qualify("--stage", "hst", f"--workdir={workdir}")

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE")
    assert "REHEARSAL: INCOMPLETE: only stage HST was judged, which certifies nothing" in ended.output
    assert "Stage HST passed: only a whole run can qualify this host." in ended.output
    judged = ended.ids("passed") | ended.ids("recorded")
    assert {identity[:3] for identity in judged} == {"HST"}
    assert {identity[:3] for identity in ended.ids("not run")} == {"IMG", "WTS", "CFG", "SRV", "VFY", "STP"}
    assert ended.row("SRV-08")["found"] == "not asked for: only stage HST is judged"
    for identity in judged:
        assert f" {identity}  " in ended.output, "the table has a line for each requirement"
    assert "\n                   GPU 3: NVIDIA L40S, 50,000,000,000 bytes, GPU-00000000-" in ended.output, (
        "a record is told whole"
    )
    assert not workdir.exists()
    assert qualify.leftovers() == []


def test_a_failing_host_is_not_called_passed(qualify: Qualify) -> None:
    ended = qualify("--stage", "hst", "--fault", "gpu-mig")

    assert (ended.status, ended.verdict) == (1, "NOT QUALIFIED")
    assert ended.ids("failed") == {"HST-04"}
    assert "Stage HST passed" not in ended.output


def test_a_remark_is_said_and_does_not_stand_in_the_way(qualify: Qualify) -> None:
    ended = qualify("--stage", "hst", "--fault", "clock-adrift")

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE")
    assert "Stage HST passed with remarks: only a whole run can qualify this host." in ended.output


def test_a_host_that_could_not_be_judged_is_not_called_passed(qualify: Qualify) -> None:
    ended = qualify("--stage", "hst", "--fault", "docker-forbidden")

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE")
    assert "Stage HST passed" not in ended.output


def test_the_stage_can_be_asked_of_a_host_that_another_run_uses(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    running = qualify.start(f"--workdir={workdir}")
    running.until("starting rehearsal-image")
    ended = qualify("--stage", "hst", f"--workdir={workdir}")

    assert ended.verdict == "INCOMPLETE", ended.output
    assert running.wait().verdict == "QUALIFIED"


def test_the_plan_says_what_a_run_would_do_and_does_none_of_it(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    ended = qualify("--plan", f"--workdir={workdir}")
    plan = (ended.bundle / "artefacts" / "plan.txt").read_text(encoding="utf-8")

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE")
    assert plan.strip() in ended.output
    acts = plan.partition("A run would:\n")[2]
    assert "needs none of the guide's steps" in plan
    for said in (
        "1. pull rehearsal/vllm-openai@sha256:",
        "2. ask the package index for decord-0.6.0-py3-none-any.whl, and write Dockerfile",
        f"3. build rehearsal-image:local, as by: docker build --pull=false --tag rehearsal-image:local --file Dockerfile {workdir}",
        "4. fetch 16 files, ",
        "5. write .api-key",
        "6. write .service.env",
        "7. write native-chat.jinja",
        "8. start rehearsal-image, and stop it after the verification:",
        f"docker run --rm --name rehearsal-image --platform linux/amd64 --gpus all --shm-size=16g -p 127.0.0.1:0:8000 "
        f"--env-file {workdir}/.service.env ",
        "9. fetch fixture.png, 26,501 bytes",
    ):
        assert said in acts, acts
    assert not workdir.exists()
    assert qualify.leftovers() == []


def test_the_plan_of_a_host_that_is_set_up_keeps_what_is_there(qualify: Qualify) -> None:
    workdir = qualify.folder / "hosting"
    assert qualify(f"--workdir={workdir}").verdict == "QUALIFIED"
    (workdir / "model" / "config.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in workdir.rglob("*")}
    ended = qualify("--plan", f"--workdir={workdir}")

    for said in (
        "verify the Dockerfile that is there",
        "read and hash 15 files, ",
        "fetch 1 files, 394 bytes to come, from http://127.0.0.1:",
        "keep .api-key",
        "keep .service.env",
        "keep native-chat.jinja",
    ):
        assert said in ended.output
    assert "fetch fixture.png" not in ended.output
    assert {path: path.stat().st_mtime_ns for path in workdir.rglob("*")} == before


def test_the_plan_of_a_bare_host_names_the_guides_steps_in_order(qualify: Qualify) -> None:
    ended = qualify("--plan", "--fault", "driver-absent", "--fault", "docker-down", "--fault", "toolkit-missing")

    titles = [
        "Install the GPU driver, then reboot and reconnect (Install the runtime, step 1)",
        "Install Docker from its signed apt repository (Install the runtime, step 2)",
        "Install the NVIDIA Container Toolkit from its signed apt repository, and tell Docker of it",
        "A run would then:",
    ]
    places = [ended.output.index(title) for title in titles]
    assert places == sorted(places)
    assert "sudo ubuntu-drivers install --gpgpu" in ended.output[places[0] : places[1]]
    assert "apt-get install -y docker-ce" in ended.output[places[1] : places[2]]
    assert "sudo nvidia-ctk runtime configure --runtime=docker" in ended.output[places[2] : places[3]]
    assert "pull rehearsal/vllm-openai" in ended.output[places[3] :]


def test_a_host_needs_only_the_steps_for_what_has_failed(qualify: Qualify) -> None:
    ended = qualify("--plan", "--fault", "toolkit-not-configured")

    assert "Install the NVIDIA Container Toolkit" in ended.output
    assert "Install the GPU driver" not in ended.output
    assert "Install Docker from" not in ended.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--stage", "srv"), "invalid choice: 'srv'"),
        (("--stage", "hst", "--remove"), "--remove and --stage exclude each other"),
        (("--plan", "--remove"), "--remove and --plan exclude each other"),
    ],
)
def test_what_contradicts_itself_is_refused(qualify: Qualify, options: tuple[str, ...], says: str) -> None:
    ended = qualify(*options)

    assert ended.status == 4
    assert says in ended.output


def test_the_h200_deployment_qualifies_with_remarks_at_best(qualify: Qualify, rehearsed_h200: Path) -> None:
    ended = qualify(f"--deployment={rehearsed_h200}", deployment=None)

    assert (ended.status, ended.verdict) == (0, "QUALIFIED WITH REMARKS"), ended.output
    words = "QUALIFIED WITH REMARKS (unpinned: vLLM, PyTorch and CUDA, NVIDIA driver)"
    report = (ended.bundle / "report.html").read_text(encoding="utf-8")
    assert words in ended.output
    assert words in report
    assert "unpinned; the source says" in report
    assert {"HST-28", "IMG-14", "WTS-01", "SRV-01", "SRV-09", "VFY-07", "VFY-10", "STP-04"} <= ended.ids("passed")
    assert {"HST-01", "HST-05", "HST-08", "IMG-01", "CFG-04", "SRV-06", "VFY-12"} <= ended.ids("not applicable")
    assert ended.ids("failed") | ended.ids("blocked") == set()
    assert [value["value"] for value in ended.told["conditions"]["unpinned"]] == [
        "vLLM",
        "PyTorch and CUDA",
        "NVIDIA driver",
    ]


def test_a_small_gpu_does_not_hold_the_h200_deployment(qualify: Qualify, rehearsed_h200: Path) -> None:
    ended = qualify(f"--deployment={rehearsed_h200}", "--fault", "gpu-memory-small", deployment=None)

    assert ended.ids("failed") == {"HST-28"}
    assert ended.verdict == "NOT QUALIFIED"


def test_this_machine_is_judged_as_it_is(qualify: Qualify) -> None:
    """The real probes, on whatever machine this is: facts and outcomes, and no fault of the suite."""
    ended = qualify("--stage", "hst", deployment=None)

    assert ended.ids("error") == set(), ended.output
    assert ended.verdict in ("NOT QUALIFIED", "INCOMPLETE")
    facts = {path.stem for path in (ended.bundle / "facts").iterdir()}
    assert {"operating_system", "kernel", "container_engine", "packages", "toolkit", "disks", "hardware"} <= facts
    assert {"gpus", "environment"} <= facts


def test_a_driver_that_hangs_is_told_at_its_deadline(qualify: Qualify) -> None:
    """The real deadline, on a binding whose first call does not return."""
    (qualify.folder / "pynvml.py").write_text("import time\ndef nvmlInit():\n    time.sleep(600)\n", encoding="utf-8")
    began = time.monotonic()
    ended = qualify("--stage", "hst", deployment=None, env={"PYTHONPATH": str(qualify.folder)})
    took = time.monotonic() - began

    assert "NVML gave no answer in 10 s, at initialisation" in ended.row("HST-02")["found"]
    assert {"HST-02", "HST-03", "HST-04", "HST-05", "HST-06", "HST-07"} <= ended.ids("blocked")
    assert 10 < took < 30
    assert qualify.leftovers() == []
