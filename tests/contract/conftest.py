"""The server that the contract is asked of: the stand-in, or real vLLM from the environment that CONTRACT_VLLM names."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fixtures.engines.interface import ProcessInfo
from fixtures.engines.process import ProcessEngine
from fixtures.host import free_port
from fixtures.probes.http import Answer, Client
from fixtures.provisioners.server import plan
from fixtures.rehearsal.engine import RehearsalEngine
from fixtures.rehearsal.world import World
from recipe.values import Secret
from tests.contract.table import DEPLOYMENT
from tools.tiny_model import __main__ as tiny

KEY = Secret("service key", "0a1b" * 16)
REAL = os.environ.get("CONTRACT_VLLM", "")
READY_S = 300.0


class Served(msgspec.Struct):
    """A server under the contract, ready: how to ask it, and its engine."""

    client: Client
    engine: ProcessEngine
    refused_while_loading: bool = False

    def processes(self, title: str) -> list[ProcessInfo]:
        found = self.engine.processes("")
        return [process for process in found if process.name.startswith(title)] if isinstance(found, tuple) else []


def start(folder: Path) -> Served:
    """Start the server with the deployment's own arguments, and wait until its health is 200."""
    (folder / "model").mkdir()
    for name, data in tiny.files().items():
        (folder / "model" / name).write_bytes(data)
    (folder / "native-chat.jinja").write_text(tiny.TEMPLATE, encoding="utf-8")
    (folder / ".service.env").write_text(f"VLLM_API_KEY={KEY.reveal()}\n", encoding="utf-8")
    cache = folder.parent.parent / "contract-cache"  # compiled kernels, for the next run of these tests
    cache.mkdir(exist_ok=True)
    (folder / "cache").symlink_to(cache)
    port = free_port()
    engine = ProcessEngine(folder, (f"{REAL}/bin/vllm", "serve")) if REAL else RehearsalEngine(folder, World())
    served = Served(Client(port, KEY), engine)
    engine.start(plan(DEPLOYMENT, folder, port), KEY)
    until = time.monotonic() + READY_S
    while not isinstance(served.client.ask("GET", "/health", authorization=None), Answer):
        served.refused_while_loading = True
        assert engine.ended("") is None, engine.log("")
        assert time.monotonic() < until, engine.log("")
        time.sleep(0.05)
    return served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if REAL and not shutil.which(f"{REAL}/bin/vllm"):
        pytest.fail(
            f"CONTRACT_VLLM names {REAL}, which has no bin/vllm: make it with 'python -m tools.vllm_cpu {REAL}'"
        )
    made = start(tmp_path_factory.mktemp("contract"))
    yield made
    made.engine.close()
