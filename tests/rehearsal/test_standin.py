"""The stand-in server as a real child process: it answers as the captures of vLLM 0.11.2 do, and really reads."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from fixtures import pages
from fixtures.client import body
from fixtures.host import free_port
from fixtures.probes.http import Answer, Client, Reply, read_reply
from fixtures.provisioners.server import Served, served_models
from fixtures.rehearsal.make_assets import ASSETS
from fixtures.rehearsal.reader import read_headline
from fixtures.rehearsal.world import Server
from recipe import deployment as deployments
from recipe.deployment import stated
from recipe.values import Absent, Secret, Unreadable

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENT = deployments.load("rehearsal")
KEY = Secret("key", "0a" * 32)
UNAUTHORIZED = '{"error":"Unauthorized"}'


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a stand-in server with the documented arguments."""
    folder, port = tmp_path_factory.mktemp("standin"), free_port()
    (folder / "world.json").write_bytes(msgspec.json.encode(Server()))
    (folder / "chat.jinja").touch()
    swaps = {"/model": str(ASSETS / "snapshot"), "8000": str(port), "/native-chat.jinja": str(folder / "chat.jinja")}
    words = [swaps.get(word, word) for word in stated(DEPLOYMENT.service).arguments]
    argv = [sys.executable, "-m", "fixtures.rehearsal.standin", str(folder / "world.json"), *words]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(argv, cwd=ROOT, stdout=log, stderr=log, env={"VLLM_API_KEY": KEY.reveal()})
    made = Client(port, KEY)
    until = time.monotonic() + 20
    while isinstance(made.ask("GET", "/health"), Absent):
        assert server.poll() is None, (folder / "log").read_text(encoding="utf-8")
        assert time.monotonic() < until
        time.sleep(0.02)
    yield made
    server.terminate()
    assert server.wait(10) == 0


def documented(picture: bytes) -> dict[str, Any]:
    return body(DEPLOYMENT, picture, "image/png")


def chat(client: Client, request: dict[str, Any]) -> Reply:
    reply = client.chat(request, deadline_s=20)
    assert isinstance(reply, Reply), reply
    return reply


def test_the_documented_request_reads_the_headline(client: Client) -> None:
    reply = chat(client, documented((pages.PICTURES / "front-page.png").read_bytes()))

    assert reply.content == " This is a newspaper front page. Its headline: MEN WALK ON MOON"
    assert (reply.finish_reason, reply.reasoning, reply.problem) == ("stop", None, "")
    assert reply.prompt_tokens == 252 + 43


def test_any_page_of_the_suite_is_read(client: Client) -> None:
    for seed in range(5):
        headline = pages.make_up_headline(seed)
        assert headline in (chat(client, documented(pages.draw_page(headline))).content or "")
    assert "No headline" in (chat(client, documented(pages.draw_page(""))).content or "")


@pytest.mark.parametrize(
    ("picture", "status", "says"),
    [
        (b"this is not a picture", 400, "cannot identify image file"),
        (pages.draw_page("MEN WALK ON MOON")[:9000], 500, "truncated"),
    ],
)
def test_damaged_pictures_are_refused_as_the_captures_say(
    client: Client, picture: bytes, status: int, says: str
) -> None:
    reply = chat(client, documented(picture))

    assert (reply.answer.status, reply.content) == (status, None)
    assert says in reply.answer.excerpt


def test_the_served_model_is_listed(client: Client) -> None:
    served = served_models(client)
    assert isinstance(served, Served)

    assert served.models == {"ernie-vl": 4096}
    assert isinstance(served_models(Client(client.port, Secret("wrong", "1" * 64))), Unreadable)


def test_a_dead_port_gives_no_answer() -> None:
    found = Client(free_port(), KEY).chat({}, deadline_s=1)

    assert isinstance(found, Absent)
    assert KEY.reveal() not in str(found)


COMPLETION: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}


@pytest.mark.parametrize(
    ("status", "raw", "problem"),
    [
        (200, msgspec.json.encode(COMPLETION), ""),
        (200, msgspec.json.encode(COMPLETION | {"usage": None}), ""),
        (200, b"[]", "not a completion"),
        (200, b'{"choices": []}', "0 choices instead of one"),
        (200, msgspec.json.encode(COMPLETION | {"choices": [{"message": {"content": 7}}]}), "not a completion"),
        (200, msgspec.json.encode(COMPLETION | {"usage": {"prompt_tokens": "3"}}), "not a completion"),
        (200, b"<html>", "not a completion"),
        (500, msgspec.json.encode(COMPLETION), "status 500"),
    ],
)
def test_a_reply_is_read_strictly(status: int, raw: bytes, problem: str) -> None:
    found = read_reply(Answer(status, "uvicorn", "application/json", raw.decode(), 0.1), raw)

    assert found.problem.startswith(problem)
    assert (found.content is None) is bool(problem)


def test_the_reader_marks_what_it_cannot_read() -> None:
    noise = Image.new("L", (200, 120), 255)
    noise.paste(0, (20, 20, 40, 90))
    noise.paste(255, (25, 50, 35, 60))

    assert set(read_headline(noise)) <= set("?0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert (
        read_headline(Image.open(io.BytesIO(pages.draw_page("COPPER HOLDS BY NIGHT", 0.5)))) == "COPPER HOLDS BY NIGHT"
    )


def test_the_request_holds_the_picture_to_the_byte() -> None:
    url = documented(b"\x00\xff")["messages"][0]["content"][1]["image_url"]["url"]

    assert base64.b64decode(url.partition(",")[2]) == b"\x00\xff"
