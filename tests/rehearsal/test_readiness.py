"""The wait for a real stand-in that loads, warms, hangs, lies or dies: the phase is named, and the log's own words."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.host import free_port
from fixtures.probes.http import Client
from fixtures.provisioners.server import Readiness, Wait, plan
from fixtures.rehearsal.engine import RehearsalEngine
from fixtures.rehearsal.world import Server, World
from recipe import deployment as deployments
from recipe.deployment import stated
from recipe.values import Secret

DEPLOYMENT = deployments.load("rehearsal")
SERVICE = msgspec.structs.replace(stated(DEPLOYMENT.service), ready_deadline_s=2)
KEY = Secret("key", "0a" * 32)
Waits = Callable[..., Readiness]


@pytest.fixture
def engines() -> Iterator[list[RehearsalEngine]]:
    made: list[RehearsalEngine] = []
    yield made
    for engine in made:
        engine.close()


@pytest.fixture
def wait(tmp_path: Path, engines: list[RehearsalEngine]) -> Waits:
    """Start a stand-in that behaves so, and wait for it with this key."""

    def act(key: Secret = KEY, meanwhile: Callable[[RehearsalEngine], None] | None = None, **server: Any) -> Readiness:
        (tmp_path / "native-chat.jinja").touch()
        (tmp_path / ".service.env").write_text(f"VLLM_API_KEY={KEY.reveal()}\n", encoding="utf-8")
        engine = RehearsalEngine(tmp_path, World(server=Server(**server)))
        engines.append(engine)
        port = free_port()
        engine.start(plan(DEPLOYMENT, tmp_path, port), KEY)
        if meanwhile:
            threading.Thread(target=meanwhile, args=(engine,), daemon=True).start()
        return Wait(engine, Client(port, key), SERVICE.name, SERVICE).until_ready()

    return act


def test_a_server_that_completes_is_ready(wait: Waits) -> None:
    found = wait()

    assert (found.ready, found.phase, found.problem) == (True, "ready", "")


@pytest.mark.parametrize(
    ("server", "phase", "says"),
    [
        ({"health_after_answer": 200, "completion_status": 500}, "answering nothing", "HTTP 500"),
        ({"completion_delay_s": 30.0}, "answering nothing", "no answer within 2.0 s"),
    ],
)
def test_a_dead_or_hung_engine_behind_a_200_is_no_readiness(
    wait: Waits, server: dict[str, Any], phase: str, says: str
) -> None:
    found = wait(log_lines=("RuntimeError: Engine core initialization failed.",), **server)

    assert (found.ready, found.phase) == (False, phase)
    assert says in found.problem
    assert "its log: (Worker_TP0 pid=" in found.problem
    assert found.problem.endswith("RuntimeError: Engine core initialization failed.")


def test_a_server_that_lists_nothing_to_this_key_is_warming(wait: Waits) -> None:
    found = wait(key=Secret("another", "1" * 64))

    assert (found.ready, found.phase) == (False, "warming")
    assert "HTTP 401" in found.problem


@pytest.mark.parametrize("request_", ["GET /health", "GET /v1/models", "POST /v1/chat/completions"])
def test_a_server_that_ends_within_the_wait_ends_it_at_once(wait: Waits, request_: str) -> None:
    found = wait(ends_after=request_, completion_status=500)

    assert (found.ready, found.exit_code) == (False, 0)
    assert found.problem.startswith("it ended: ")
    assert found.seconds < 1.5


def killing(title: str, after_s: float) -> Callable[[RehearsalEngine], None]:
    """Return what kills the first of the server's processes with such a title; the server itself is the first of all."""

    def kill(engine: RehearsalEngine) -> None:
        time.sleep(after_s)
        found = engine.processes("")
        assert isinstance(found, tuple)
        os.kill(next(process.pid for process in found if process.name.startswith(title)), signal.SIGKILL)

    return kill


def test_a_server_killed_while_it_hangs_ends_the_wait(wait: Waits) -> None:
    found = wait(completion_delay_s=30.0, meanwhile=killing("", 0.7))

    assert (found.ready, found.exit_code) == (False, -signal.SIGKILL)
    assert found.seconds < 1.8


def test_a_worker_that_dies_takes_the_server_along(wait: Waits) -> None:
    found = wait(completion_delay_s=30.0, meanwhile=killing("VLLM::Worker", 0.5))

    assert (found.ready, found.exit_code, found.phase) == (False, 0, "answering nothing")
    assert "died unexpectedly" in found.problem
