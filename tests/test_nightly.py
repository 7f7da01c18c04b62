"""What runs every night: the workflow is one by GitHub's schema, and no step can show a key."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "nightly.yml"
UNITS = sorted((ROOT / "docs" / "systemd").iterdir())


def steps() -> list[dict[str, Any]]:
    told = YAML(typ="safe").load(WORKFLOW.read_text(encoding="utf-8"))
    return list(told["jobs"]["qualify"]["steps"])


def test_the_workflow_is_one_by_the_published_schema() -> None:
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_secret_goes_into_one_file_and_on_no_command_line() -> None:
    using = [step for step in steps() if "secrets." in str(step)]

    assert len(using) == 1
    assert "secrets." not in using[0]["run"]
    assert using[0]["run"].splitlines() == ["umask 077", 'printenv SIGN_KEY > "$RUNNER_TEMP/sign.key"']
    assert not [step for step in steps() if "set -x" in step.get("run", "") or "echo" in step.get("run", "")]


def test_after_a_failure_all_is_still_told_kept_and_cleared() -> None:
    names = [step["name"] for step in steps() if step.get("if") == "always()"]

    assert names == [
        "Remove the signing key",
        "Tell the verdict and what failed",
        "Keep the history",
        "Upload the bundle",
    ]


@pytest.mark.parametrize("number", range(2, len(steps()) - 1))
def test_every_step_is_a_script_that_bash_can_read(number: int) -> None:
    subprocess.run(["bash", "-n", "-c", steps()[number]["run"]], check=True)


def test_the_steps_do_what_they_say_with_a_rehearsal(tmp_path: Path) -> None:
    """Run the scripts from the key to the history as a runner would, with the rehearsal in the deployment's place."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    for name, module in (("pytest", "-m pytest"), ("python", "")):
        program = tmp_path / "venv" / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "history").mkdir()
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key"], check=True)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "RUNNER_TEMP": str(tmp_path),
        "BUNDLE": str(tmp_path / "bundle"),
        "HISTORY": str(tmp_path / "history"),
        "DEPLOYMENT": "rehearsal",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_RUN_ID": "7",
        "SIGN_KEY": (tmp_path / "key").read_text(encoding="utf-8"),
    }
    output = ""
    for step in steps()[2:-1]:
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        output += done.stdout + done.stderr

    assert "REHEARSAL: QUALIFIED" in output
    assert environment["SIGN_KEY"].splitlines()[1] not in output
    assert not (tmp_path / "sign.key").exists()
    assert (tmp_path / "bundle" / "statement.dsse.json").is_file()
    assert "## ❌ REHEARSAL: QUALIFIED" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "history" / "index.html").is_file()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_units_are_ones_that_systemd_can_read(tmp_path: Path) -> None:
    for unit in UNITS:
        text = unit.read_text(encoding="utf-8").replace("/opt/vllm-qualify/.venv/bin/pytest", "/bin/true")
        (tmp_path / unit.name).write_text(
            text.replace("/opt/vllm-qualify/.venv/bin/python", "/bin/true"), encoding="utf-8"
        )
    argv = ["systemd-analyze", "verify", *(str(tmp_path / unit.name) for unit in UNITS)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert [unit.suffix for unit in UNITS] == [".service", ".timer"]
