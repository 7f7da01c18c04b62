"""The key appears nowhere: not in files, logs, reports, the terminal, process lists or exceptions, in no form."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import psutil
import pytest

from recipe.values import Secret
from reports.__main__ import main
from reports.evidence import WITHHELD
from reports.redaction import Redactor
from tests.reports.made import new_key
from tests.running import Qualify
from tests.runs.test_incomplete import copy_of_the_suite

KEY = "5ec2e7c0ffee" * 5 + "0bad"
ECHOING = "server.echoes_key"


def plant_key(qualify: Qualify) -> Path:
    """Put a known key into a work folder, as an earlier set-up by hand would have."""
    workdir = qualify.folder / "hosting"
    workdir.mkdir()
    (workdir / ".api-key").write_text(f"{KEY}\n", encoding="utf-8")
    (workdir / ".api-key").chmod(0o600)
    return workdir


def leaks(data: bytes) -> bool:
    redactor = Redactor()
    redactor.add(Secret("planted", KEY))
    return redactor.leaks(data)


def test_the_scan_sees_the_planted_key_in_all_forms() -> None:
    for data in (
        KEY.encode(),
        KEY.upper().encode(),
        KEY.encode().hex().encode(),
        base64.b64encode(f"Bearer {KEY}".encode()),
        base64.encodebytes(f"Authorization: Bearer {KEY}".encode()),
        "\n".join(KEY[at : at + 8] for at in range(0, 64, 8)).encode(),
        f"{KEY[:30]}' + '{KEY[30:]}".encode(),
        f"key {KEY[:16]}…".encode(),
        f"…{KEY[-16:]}".encode(),
    ):
        assert leaks(data)
    assert not leaks(b"nothing to see")


@pytest.mark.parametrize("options", [(), ("-s",), ("-l",), ("-vv",), ("-s", "-l", "-vv", "--tb=long", "-rA")], ids=str)
def test_a_clean_run_shows_no_key(qualify: Qualify, options: tuple[str, ...]) -> None:
    workdir = plant_key(qualify)

    ended = qualify(f"--workdir={workdir}", *options)

    assert ended.verdict == "QUALIFIED", ended.output
    assert not leaks(ended.everything())
    assert "unchanged" in ended.row("CFG-02")["found"]


@pytest.mark.parametrize("options", [(), ("-s", "-l", "-vv", "--tb=long", "-rA")], ids=str)
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # a crash in the client, with the key in its local variables
        ("fixtures/probes/http.py", "        began = time.monotonic()\n        try:", "        raise ValueError(headers)\n        try:"),
        # a crash in a provisioner that holds the key's line
        ("fixtures/provisioners/settings.py", '        if not path.exists() and write:\n            if not key', '        if 1 / 0:\n            if not key'),
        # a fixture that prints the key, and a test that shows it in its failure
        ("fixtures/settings.py", "    return key\n", "    print(key.secret.reveal())\n    return key\n"),
        ("fixtures/provisioners/settings.py", "    return EnvFile(exact=text == line", "    variables = (text,)\n    return EnvFile(exact=False"),
    ],
    ids=["client", "provisioner", "print", "fact"],
)  # fmt: skip
def test_a_crash_shows_no_key(qualify: Qualify, options: tuple[str, ...], file: str, old: str, new: str) -> None:
    workdir, suite = plant_key(qualify), copy_of_the_suite(qualify.folder)
    text = (suite / file).read_text(encoding="utf-8")
    assert old in text
    (suite / file).write_text(text.replace(old, new), encoding="utf-8")

    ended = qualify(f"--workdir={workdir}", *options, cwd=suite)

    assert not leaks(ended.everything()), ended.output


def test_a_crash_of_the_run_itself_shows_no_key(qualify: Qualify) -> None:
    workdir = plant_key(qualify)
    text = f"def pytest_runtest_logstart(nodeid):\n    key = '{KEY}'\n    if 'vfy_01' in nodeid:\n        raise RuntimeError(key)\n"
    (qualify.folder / "crasher.py").write_text(text, encoding="utf-8")
    env = {"PYTHONPATH": str(qualify.folder)}

    ended = qualify(f"--workdir={workdir}", plugins=("no:cacheprovider", "crasher"), env=env)

    assert ended.verdict == "INCOMPLETE"
    assert "RuntimeError" in ended.output
    assert not leaks(ended.everything()), ended.output


def test_a_server_that_logs_the_key_is_redacted(qualify: Qualify) -> None:
    workdir, suite = plant_key(qualify), copy_of_the_suite(qualify.folder)
    path = suite / "fixtures" / "rehearsal" / "world.py"
    path.write_text(path.read_text(encoding="utf-8").replace("echoes_key: bool = False", "echoes_key: bool = True"))

    ended = qualify(f"--workdir={workdir}", cwd=suite)
    log = (ended.bundle / "artefacts" / "server.log.txt").read_text(encoding="utf-8")

    assert "DEBUG Authorization: Bearer <redacted>" in log
    assert not leaks(ended.everything())


def test_a_leak_past_the_door_fails_its_requirement(qualify: Qualify) -> None:
    workdir = plant_key(qualify)
    text = f"import pathlib\ndef pytest_runtest_logfinish(nodeid):\n    if 'stp_01' in nodeid:\n        pathlib.Path(PLACE).write_text('{KEY}')\n"
    started = "import os\nPLACE = os.environ['PLACE']\n" + text
    (qualify.folder / "leaker.py").write_text(started, encoding="utf-8")
    bundle = qualify.folder / "bundle1"
    env = {"PYTHONPATH": str(qualify.folder), "PLACE": str(bundle / "artefacts" / "leak.txt")}

    ended = qualify(f"--workdir={workdir}", plugins=("no:cacheprovider", "leaker"), env=env)

    assert ended.verdict == "NOT QUALIFIED"
    assert ended.ids("failed") == {"CFG-06"}
    assert ended.row("CFG-06")["found"] == "a secret stood in artefacts/leak.txt; withheld from the bundle"
    assert ended.told["leaks"] == ["artefacts/leak.txt"]
    assert (bundle / "artefacts" / "leak.txt").read_bytes() == WITHHELD
    assert not leaks(ended.everything())
    assert qualify.replay(bundle).status == 0


def test_a_leak_fails_the_run_whatever_stage_was_asked_for(qualify: Qualify) -> None:
    text = "def pytest_runtest_logfinish(nodeid):\n    if 'hst_01' in nodeid:\n        PLACE.write_text('hf_' + KEY)\n"
    start = "import os, pathlib\nPLACE, KEY = pathlib.Path(os.environ['PLACE']), os.environ['HF_TOKEN'][3:]\n"
    (qualify.folder / "leaker.py").write_text(start + text, encoding="utf-8")
    place = qualify.folder / "bundle1" / "artefacts" / "leak.txt"
    env = {"PYTHONPATH": str(qualify.folder), "PLACE": str(place), "HF_TOKEN": f"hf_{KEY}"}

    ended = qualify("--stage=hst", plugins=("no:cacheprovider", "leaker"), env=env)

    assert ended.verdict == "NOT QUALIFIED", ended.output
    assert ended.ids("failed") == {"CFG-06"}
    assert not leaks(ended.everything())


def test_a_signed_run_shows_no_signing_key(qualify: Qualify) -> None:
    private = new_key(qualify.folder, "own")
    text = private.read_text(encoding="utf-8").splitlines()[1]
    leaker = f"def pytest_runtest_logfinish(nodeid):\n    open('{qualify.folder}/bundle1/artefacts/x', 'w').write('{text}')\n"
    (qualify.folder / "leaker.py").write_text(leaker, encoding="utf-8")
    env = {"PYTHONPATH": str(qualify.folder)}

    ended = qualify(f"--sign-key={private}", plugins=("no:cacheprovider", "leaker"), env=env)

    assert ended.ids("failed") == {"CFG-06"}
    assert text.encode() not in ended.everything()
    assert main(["verify", str(ended.bundle), "--key", str(private.with_suffix(".pub"))]) == 0


def test_the_key_is_in_no_process_list_while_it_runs(qualify: Qualify) -> None:
    workdir = plant_key(qualify)
    started = qualify.start(f"--workdir={workdir}", "--fault", "server-never-completes")
    started.until("starting rehearsal-image")
    seen: list[str] = []
    until = time.monotonic() + 10
    while not any("standin" in words and str(qualify.scratch) in words for words in seen) and time.monotonic() < until:
        seen += [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    started.process.terminate()
    started.wait()

    assert any("standin" in words and str(qualify.scratch) in words for words in seen)
    assert not any(leaks(words.encode()) for words in seen)


def test_a_token_in_the_environment_is_redacted_too(qualify: Qualify) -> None:
    ended = qualify("-k", "hst_09", "--fault", "toolkit-checks-disabled", env={"HF_TOKEN": "NVIDIA_DISABLE_REQUIRES=1"})

    assert "NVIDIA_DISABLE_REQUIRES=1" not in ended.output
    assert "<redacted>" in ended.row("HST-09")["found"]
