"""Whole runs whose model files come over HTTP: interrupted, continued, with a token, from a folder, and not at all."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.rehearsal.make_assets import ASSETS
from recipe import snapshot as snapshots
from tests.fixtures.faulty_hub import FaultyHub, honest
from tests.running import Ended, Qualify, Started

SNAPSHOT = snapshots.load("rehearsal")
FILES = {path.name: path.read_bytes() for path in (ASSETS / "snapshot").iterdir()}
SHARD = "model-00001-of-00002.safetensors"
STEP = 64


@pytest.fixture
def mirror() -> Iterator[FaultyHub]:
    """A mirror of the hub that HF_ENDPOINT names; it sends shards in small steps, so that a run can be hit in them."""
    hub = FaultyHub(FILES)
    hub.revision = SNAPSHOT.revision
    hub.scripts = {name: [honest(block=STEP, pause_s=0.01)] for name in SNAPSHOT.shards}
    yield hub
    hub.close()


class Own:
    """Runs of the process deployment against the mirror, in one work folder."""

    def __init__(self, qualify: Qualify, folder: Path, mirror: FaultyHub) -> None:
        self._qualify = qualify
        self._options = (f"--deployment={folder}/own.toml", f"--workdir={folder / 'hosting'}")
        self._env = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HF_ENDPOINT": mirror.origin}
        self.partial = folder / "hosting" / "model" / f"{SHARD}.partial"

    def start(self, *options: str, **env: str) -> Started:
        return self._qualify.start(*self._options, *options, deployment=None, env=self._env | env)

    def __call__(self, *options: str, **env: str) -> Ended:
        return self.start(*options, **env).wait()


@pytest.fixture
def own(qualify: Qualify, own_deployment: Path, mirror: FaultyHub) -> Own:
    """Start and end such runs."""
    return Own(qualify, own_deployment, mirror)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_at_any_byte_loses_nothing(own: Own, mirror: FaultyHub, number: signal.Signals) -> None:
    at = random.randrange(STEP, SNAPSHOT.shards[SHARD].bytes - STEP)
    first = own.start()
    while not own.partial.exists() or own.partial.stat().st_size < at:
        assert first.process.poll() is None, first.output
        time.sleep(0.002)
    first.process.send_signal(number)
    ended = first.wait()
    kept = own.partial.stat().st_size
    second = own()

    assert ended.status != 0, ended.output
    assert ended.verdict == "INCOMPLETE", ended.output
    assert "Traceback" not in ended.output
    assert at <= kept < SNAPSHOT.shards[SHARD].bytes
    assert (second.status, second.verdict) == (0, "QUALIFIED"), second.output
    assert f"bytes={kept}-" in mirror.ranges()
    assert not own.partial.exists()


def test_a_nightly_run_reads_each_byte_once_and_fetches_nothing(own: Own, mirror: FaultyHub) -> None:
    own()
    asked = len(mirror.asked)
    nightly = own()

    assert nightly.verdict == "QUALIFIED"
    assert nightly.row("WTS-09")["found"].startswith(f"{SNAPSHOT.total_bytes:,} bytes")
    assert "read from the disk, nothing received, in " in nightly.row("WTS-09")["found"]
    assert "(was there)" in nightly.row("WTS-01")["found"]
    assert len(mirror.asked) == asked


def test_a_token_reaches_the_hub_and_no_artefact(own: Own, mirror: FaultyHub) -> None:
    ended = own(HF_TOKEN="hf_dasGeheimeWort")
    sent = {headers.get("Authorization") for _, headers in mirror.asked}

    assert ended.verdict == "QUALIFIED"
    assert sent == {"Bearer hf_dasGeheimeWort"}
    assert b"dasGeheimeWort" not in ended.everything()


@pytest.mark.parametrize("jobs", ["1", "8"])
def test_a_local_copy_takes_the_hubs_place(own: Own, mirror: FaultyHub, jobs: str) -> None:
    ended = own(f"--snapshot-from={ASSETS / 'snapshot'}", "--jobs", jobs)

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert f"received from {ASSETS / 'snapshot'}" in ended.row("WTS-09")["found"]
    assert ended.row("WTS-09")["found"].endswith(f"with {jobs} files at a time")
    assert mirror.asked == []


def test_an_incomplete_copy_blocks_and_names_the_file(own: Own, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    ended = own(f"--snapshot-from={tmp_path / 'copy'}")

    assert ended.verdict == "INCOMPLETE"
    assert f"{tmp_path}/copy/{SHARD} cannot be read: No such file or directory" in ended.row("WTS-01")["found"]
    assert "WTS-05" in ended.ids("passed")


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"HF_ENDPOINT": "ada:geheim@mirror"}, "HF_ENDPOINT is no address of a hub: write https://HOST"),
        ({"HF_TOKEN": "geheim\u20ac"}, "HF_TOKEN holds a character that no token has"),
        ({"HF_TOKEN": "geheim\nX-Other: 1"}, "HF_TOKEN holds a character that no token has"),
    ],
)
def test_an_environment_that_cannot_be_is_refused(qualify: Qualify, env: dict[str, str], says: str) -> None:
    ended = qualify(deployment=None, env=env)

    assert ended.status == 4
    assert says in ended.output
    assert "geheim" not in ended.output
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--snapshot-from=/nowhere",), "argument --snapshot-from: /nowhere is not a folder"),
        (("--jobs=0",), "argument --jobs: 0 is not a number from 1 on"),
        (("--snapshot-from=/tmp", "--attach=x"), "--attach and --snapshot-from exclude each other"),
    ],
)
def test_options_that_cannot_be_are_refused(qualify: Qualify, options: tuple[str, ...], says: str) -> None:
    ended = qualify(*options, deployment=None)

    assert ended.status == 4
    assert says in ended.output
    assert "Traceback" not in ended.output
