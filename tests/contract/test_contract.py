"""The contract: the stand-in and real vLLM give the same answers, in status, headers and form, and die alike."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from fixtures.probes.http import CHAT, Answer, Client
from fixtures.rehearsal.routes import ROUTES, methods_of
from tests.contract.conftest import KEY, Served
from tests.contract.table import BEARER, CASES, SSE, Case, documented, hello

DEADLINE_S = 120.0


def send(client: Client, case: Case) -> requests.Response:
    """Send a case as it stands, without anything that a client library would add or follow."""
    headers = {name: value.format(key=KEY.reveal()) for name, value in case.headers.items()}
    data = case.body if isinstance(case.body, bytes | None) else json.dumps(case.body).encode()
    if data is not None:
        headers.setdefault("Content-Type", "application/json")
    url = client.base + case.path.format(key=KEY.reveal())
    with requests.Session() as session:
        session.trust_env = False
        return session.request(case.method, url, data=data, headers=headers, timeout=DEADLINE_S, allow_redirects=False)


def shape_of(value: Any) -> Any:
    """Return the form of a JSON value: its keys, and the types in them; of a list, that of its first entry."""
    if isinstance(value, dict):
        return {name: shape_of(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [shape_of(entry) for entry in value[:1]]
    return None if value is None else type(value).__name__


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_is_as_the_contract_says(served: Served, case: Case) -> None:
    answer = send(served.client, case)

    assert answer.status_code == case.status, answer.text
    assert answer.headers["server"] == "uvicorn"
    assert answer.headers.get("content-type", "") == case.media
    assert answer.headers.get("allow", "") == case.allow
    assert "www-authenticate" not in answer.headers
    assert case.exactly is None or answer.text == case.exactly
    assert not [part for part in case.says if part not in answer.text], answer.text[:600]
    assert case.shape is None or shape_of(answer.json()) == case.shape
    assert KEY.reveal() not in answer.text


CHUNK = {"id": "str", "object": "str", "created": "int", "model": "str"}


def events(client: Client, request: dict[str, Any]) -> Iterator[str]:
    """Send a streaming request and yield the data of each event."""
    answer = send(client, Case(name="", headers={"Authorization": BEARER}, body=request, status=200))
    assert (answer.status_code, answer.headers["content-type"]) == (200, SSE)
    assert answer.headers["transfer-encoding"] == "chunked"
    for event in answer.text.split("\n\n")[:-1]:
        assert event.startswith("data: "), event
        yield event.removeprefix("data: ")


def test_a_stream_is_as_the_contract_says(served: Served) -> None:
    *told, done = events(served.client, documented(stream=True, stream_options={"include_usage": True}))
    first, *middle, last, usage = map(json.loads, told)
    delta = {"content": "str", "reasoning_content": None}
    choice = {"index": "int", "delta": delta, "logprobs": None, "finish_reason": None}

    assert done == "[DONE]"
    assert shape_of(first) == {
        **CHUNK,
        "choices": [{**choice, "delta": {"role": "str", **delta}}],
        "prompt_token_ids": None,
    }
    assert all(shape_of(chunk) == {**CHUNK, "choices": [{**choice, "token_ids": None}]} for chunk in middle)
    final = {**choice, "finish_reason": "str", "stop_reason": None, "token_ids": None}
    assert shape_of(last) == {**CHUNK, "choices": [final]}
    counts = {"prompt_tokens": "int", "total_tokens": "int", "completion_tokens": "int"}
    assert shape_of(usage) == {**CHUNK, "choices": [], "usage": counts}
    said = "".join(chunk["choices"][0]["delta"]["content"] for chunk in (first, *middle, last))
    assert said == " This is a newspaper front page. Its headline: MEN WALK ON MOON"
    assert middle[0]["choices"][0]["delta"]["content"] == "", "the stop string holds the first text back"
    assert last["choices"][0]["finish_reason"] == "stop"
    assert usage["usage"]["total_tokens"] == usage["usage"]["prompt_tokens"] + usage["usage"]["completion_tokens"]


def test_a_stream_without_usage_ends_with_its_text(served: Served) -> None:
    *told, done = events(served.client, hello(stream=True, max_tokens=2))

    assert done == "[DONE]"
    assert json.loads(told[-1])["choices"][0]["finish_reason"] == "length"
    assert all("usage" not in json.loads(chunk) for chunk in told)


def test_equal_requests_get_equal_texts_and_the_request_id_is_kept(served: Served) -> None:
    texts = {
        json.dumps(send(served.client, case).json()["choices"])
        for case in CASES
        if case.name == "unknown field"
        for _ in range(3)
    }

    assert len(texts) == 1


def test_the_routes_are_announced_in_the_log(served: Served) -> None:
    log = served.engine.log("")

    told: dict[str, set[str]] = {}
    for path, methods in re.findall(r"Route: (\S+), Methods: ([A-Z, ]+)\n", log):
        told.setdefault(path, set()).update(methods.split(", "))  # their order is another one in each run

    assert told == {path: set(methods_of(path)) for path, _ in ROUTES}
    assert KEY.reveal() not in log.replace(f"?api_key={KEY.reveal()}", ""), (
        "the access log prints an address as it is asked"
    )


def test_nothing_is_answered_while_it_loads(served: Served) -> None:
    assert served.refused_while_loading


def test_it_works_with_the_processes_that_are_known(served: Served) -> None:
    assert len(served.processes("VLLM::Engine")) == 1
    assert len(served.processes("VLLM::Worker")) == 1


def test_when_its_engine_dies_it_says_so_and_ends_with_0(served: Served) -> None:
    """The last test of this file: nothing can be asked any more afterwards."""
    (engine,) = served.processes("VLLM::Engine")
    os.kill(engine.pid, signal.SIGKILL)
    health: list[int] = []
    until = time.monotonic() + 30
    while served.engine.ended("") is None:
        assert time.monotonic() < until, served.engine.log("")[-2000:]
        answer = served.client.ask("GET", "/health", authorization=None, deadline_s=5)
        health += [answer.status] if isinstance(answer, Answer) else []
        if health[-1:] == [503]:
            told = served.client.ask("POST", CHAT, body=hello(), deadline_s=5)
            assert not isinstance(told, Answer) or "EngineCore encountered an issue" in told.excerpt
        time.sleep(0.05)
    end = served.engine.ended("")

    assert end is not None
    assert end.code == 0, "a crash that looks like a healthy end"
    assert 503 in health
    assert 200 not in health[health.index(503) :]
    until = time.monotonic() + 30
    while served.engine.processes("") != () and time.monotonic() < until:
        time.sleep(0.05)  # workers take a moment longer than the server
    assert served.engine.processes("") == ()
