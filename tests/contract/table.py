"""What vLLM 0.11.2 answers to what: one table, for the stand-in and for the real server alike.

``{key}`` in a header stands for the service key. Bodies that are no bytes are sent as JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fixtures import pages
from fixtures.client import body
from fixtures.probes.http import CHAT
from recipe import deployment as deployments

DEPLOYMENT = deployments.load("tiny-ernie-vl.cpu-tp1")
BEARER = "Bearer {key}"
JSON, SSE, TEXT, HTML = (
    "application/json",
    "text/event-stream; charset=utf-8",
    "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
)
UNAUTHORIZED = '{"error":"Unauthorized"}'
NOT_FOUND = '{"detail":"Not Found"}'
NOT_ALLOWED = '{"detail":"Method Not Allowed"}'
COMPLETION: dict[str, Any] = {
    "id": "str", "object": "str", "created": "int", "model": "str",
    "choices": [{
        "index": "int",
        "message": {"role": "str", "content": "str", "refusal": None, "annotations": None, "audio": None,
                    "function_call": None, "tool_calls": [], "reasoning": None, "reasoning_content": None},
        "logprobs": None, "finish_reason": "str", "stop_reason": None, "token_ids": None,
    }],
    "service_tier": None, "system_fingerprint": None,
    "usage": {"prompt_tokens": "int", "total_tokens": "int", "completion_tokens": "int", "prompt_tokens_details": None},
    "prompt_logprobs": None, "prompt_token_ids": None, "kv_transfer_params": None,
}  # fmt: skip
ERROR = {"error": {"message": "str", "type": "str", "param": None, "code": "int"}}
PERMISSION = {
    "id": "str", "object": "str", "created": "int", "allow_create_engine": "bool", "allow_sampling": "bool",
    "allow_logprobs": "bool", "allow_search_indices": "bool", "allow_view": "bool", "allow_fine_tuning": "bool",
    "organization": "str", "group": None, "is_blocking": "bool",
}  # fmt: skip
MODELS = {
    "object": "str",
    "data": [{"id": "str", "object": "str", "created": "int", "owned_by": "str", "root": "str", "parent": None,
              "max_model_len": "int", "permission": [PERMISSION]}],
}  # fmt: skip


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One request and the answer to it. ``exactly`` is the whole body, ``says`` are parts of it, ``shape`` its form."""

    name: str
    method: str = "POST"
    path: str = CHAT
    headers: dict[str, str] = {}
    body: Any = None
    status: int
    media: str = JSON
    allow: str = ""
    exactly: str | None = None
    says: tuple[str, ...] = ()
    shape: Any = None


def hello(**changes: Any) -> dict[str, Any]:
    """Return a small chat request, with thinking off."""
    messages = [{"role": "user", "content": "Hello"}]
    thinking = {"chat_template_kwargs": {"enable_thinking": False}}
    return {"model": "ernie-vl", "messages": messages, "max_tokens": 32, "temperature": 0, **thinking, **changes}


def documented(*parts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the documented request, with these parts in place of the picture."""
    made = body(DEPLOYMENT, (pages.PICTURES / "front-page.png").read_bytes(), "image/png")
    if parts:
        made["messages"][0]["content"][1:] = parts
    return {**made, **changes}


def picture(url: str = "") -> dict[str, Any]:
    """Return a picture's part: the documented one, or one of another address."""
    return {"type": "image_url", "image_url": {"url": url}} if url else documented()["messages"][0]["content"][1]


VIDEO = {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}}
AUDIO = {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,AAAA"}}


def asked(name: str, method: str, path: str, status: int, **rest: Any) -> Case:
    """Return a request without a key."""
    return Case(name=name, method=method, path=path, status=status, **rest)


def refused(name: str, header: str | None, **rest: Any) -> Case:
    """Return the smallest chat request with a header that is not the key's, and the 401 to it."""
    headers = {} if header is None else {"Authorization": header}
    return Case(name=name, headers=headers, body=hello(), status=401, exactly=UNAUTHORIZED, **rest)


def chat(name: str, sent: Any, status: int, *says: str, **rest: Any) -> Case:
    """Return a chat request with the key."""
    shape = rest.pop("shape", COMPLETION if status == 200 else ERROR)
    headers = {"Authorization": BEARER, **rest.pop("headers", {})}
    return Case(name=name, headers=headers, body=sent, status=status, says=says, shape=shape, **rest)


LIFE = [
    asked("health", "GET", "/health", 200, media="", exactly=""),
    asked("head of health", "HEAD", "/health", 405, allow="GET", exactly=""),
    asked("health, posted", "POST", "/health", 405, allow="GET", exactly=NOT_ALLOWED),
    asked("ping", "GET", "/ping", 200, media="", exactly=""),
    asked("ping, posted", "POST", "/ping", 200, media="", exactly=""),
    asked("version", "GET", "/version", 200, exactly='{"version":"0.11.2"}'),
    asked("load", "GET", "/load", 200, exactly='{"server_load":0}'),
    asked("metrics", "GET", "/metrics", 200, media=TEXT.replace("text/plain", "text/plain; version=1.0.0"),
          says=("# TYPE vllm:kv_cache_usage_perc gauge", "vllm:time_to_first_token_seconds_bucket")),
    asked("openapi", "GET", "/openapi.json", 200, says=('{"openapi":"3.1.0","info":{"title":"FastAPI"', '"/invocations":{"post"')),
    asked("docs", "GET", "/docs", 200, media=HTML, says=("<!DOCTYPE html>",)),
    asked("redirect of docs", "GET", "/docs/oauth2-redirect", 200, media=HTML, says=("<!doctype html>",)),
    asked("redoc", "GET", "/redoc", 200, media=HTML, says=("<!DOCTYPE html>",)),
]  # fmt: skip
KEYS = [
    refused("no key", None),
    refused("wrong key", f"Bearer {'0' * 64}"),
    refused("key with one more digit", "Bearer {key}0"),
    refused("empty bearer", "Bearer "),
    refused("bearer alone", "Bearer"),
    refused("key without a scheme", "{key}"),
    refused("basic scheme", "Basic eDp5"),
    refused("two spaces", "Bearer  {key}"),
    refused("tab", "Bearer\t{key}"),
    Case(name="key as x-api-key", headers={"X-API-Key": "{key}"}, body=hello(), status=401, exactly=UNAUTHORIZED),
    Case(name="key in the address", path=f"{CHAT}?api_key={{key}}", body=hello(), status=401, exactly=UNAUTHORIZED),
    Case(name="no key, malformed", body=b"{not json", status=401, exactly=UNAUTHORIZED),
    Case(name="no key, streaming", body=hello(stream=True), status=401, exactly=UNAUTHORIZED),
    Case(name="no key, slash at the end", path=f"{CHAT}/", body=hello(), status=401, exactly=UNAUTHORIZED),
    Case(name="two slashes", path=f"/{CHAT}", body=hello(), status=404, exactly=NOT_FOUND),
    Case(name="upper-case path", path="/V1/chat/completions", body=hello(), status=404, exactly=NOT_FOUND),
    asked("options need no key", "OPTIONS", CHAT, 405, allow="POST", exactly=NOT_ALLOWED),
    Case(name="scheme in lower case", headers={"Authorization": "bearer {key}"}, body=hello(), status=200, shape=COMPLETION),
    Case(name="scheme in upper case", headers={"Authorization": "BEARER {key}"}, body=hello(), status=200, shape=COMPLETION),
    asked("models without a key", "GET", "/v1/models", 401, exactly=UNAUTHORIZED),
    asked("models", "GET", "/v1/models", 200, headers={"Authorization": BEARER}, shape=MODELS,
          says=('"id":"ernie-vl"', '"owned_by":"vllm"', '"max_model_len":4096')),
    asked("unknown below v1 without a key", "GET", "/v1/nosuch", 401, exactly=UNAUTHORIZED),
    asked("unknown below v1", "GET", "/v1/nosuch", 404, headers={"Authorization": BEARER}, exactly=NOT_FOUND),
    asked("unknown", "GET", "/nosuch", 404, exactly=NOT_FOUND),
    asked("chat, got", "GET", CHAT, 405, headers={"Authorization": BEARER}, allow="POST", exactly=NOT_ALLOWED),
]  # fmt: skip
OPEN = [
    asked("invocations without a key", "POST", "/invocations", 200, body=hello(), shape=COMPLETION),
    asked("invocations, got", "GET", "/invocations", 405, allow="POST", exactly=NOT_ALLOWED),
    asked("tokenize without a key", "POST", "/tokenize", 200, body={"prompt": "Hello"},
          shape={"count": "int", "max_model_len": "int", "tokens": ["int"], "token_strs": None}, says=('"max_model_len":4096',)),
    asked("detokenize without a key", "POST", "/detokenize", 200, body={"tokens": [273, 274, 275]},
          exactly='{"prompt":" This is a"}'),
    asked("generate without a key", "POST", "/inference/v1/generate", 200,
          body={"token_ids": [273], "sampling_params": {"max_tokens": 1, "temperature": 0}},
          shape={"request_id": "str", "prompt_logprobs": None, "kv_transfer_params": None,
                 "choices": [{"index": "int", "logprobs": None, "finish_reason": "str", "token_ids": ["int"]}]}),
    asked("scaling is asked without a key", "POST", "/is_scaling_elastic_ep", 200, exactly='{"is_scaling_elastic_ep":false}'),
    asked("scaling reaches its handler", "POST", "/scale_elastic_ep", 400, body={}, shape=ERROR,
          says=("new_data_parallel_size is required",)),
    asked("pooling is an error in a 200", "POST", "/pooling", 200, body={"model": "ernie-vl", "input": "x"}, shape=ERROR,
          says=("The model does not support Pooling API",)),
    asked("server info is not there", "GET", "/server_info", 404, exactly=NOT_FOUND),
    asked("the cache's reset is not there", "POST", "/reset_prefix_cache", 404, exactly=NOT_FOUND),
]  # fmt: skip
REFUSALS = [
    chat("two images", documented(picture(), picture()), 400, "At most 1 image(s) may be provided in one prompt."),
    chat("a video", documented(VIDEO), 400, "At most 0 video(s) may be provided in one prompt."),
    chat("an image and a video", documented(picture(), VIDEO), 400, "At most 0 video(s) may be provided in one prompt."),
    chat("a sound", documented(AUDIO), 400, "At most 0 audio(s) may be provided in one prompt."),
    chat("too long", hello(messages=[{"role": "user", "content": "one two three " * 2000}]), 400,
         "This model's maximum context length is 4096 tokens. However, your request has"),
    chat("too long, streaming", hello(stream=True, messages=[{"role": "user", "content": "one two three " * 2000}]), 400,
         "This model's maximum context length is 4096 tokens."),
    chat("more tokens than are left", hello(max_tokens=5000), 400,
         "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens"),
    chat("no tokens", hello(max_tokens=0), 400, "max_tokens must be at least 1, got 0."),
    chat("negative temperature", hello(temperature=-1.0), 400, "temperature must be non-negative, got -1.0."),
    chat("malformed", b"{not json", 400, "json_invalid", '"type":"Bad Request"'),
    chat("empty body", b"", 400, "'loc': ('body',), 'msg': 'Field required'", '"type":"Bad Request"'),
    chat("no messages", {"model": "ernie-vl"}, 400, "'loc': ('body', 'messages'), 'msg': 'Field required'"),
    chat("an array", [1], 500, media=TEXT, exactly="Internal Server Error", shape=None),
    chat("another content type", hello(), 400, "Unsupported Media Type: Only 'application/json' is allowed",
         headers={"Content-Type": "text/plain"}),
    chat("corrupt base64", documented(picture("data:image/png;base64,@@@@")), 400, "Non-base64 digit found"),
    chat("no picture", documented(picture("data:image/png;base64,aGVsbG8=")), 400, "cannot identify image file"),
    chat("empty picture", documented(picture("data:image/png;base64,")), 400, "cannot identify image file"),
    chat("a path", documented(picture("/etc/hostname")), 400, "The URL must be either a HTTP, data or file URL."),
    chat("a template of one's own", hello(chat_template="{{ 1 }}"), 400, "Chat template is passed with request, but"),
    chat("unknown model", hello(model="nope"), 404, "The model `nope` does not exist.", '"type":"NotFoundError"'),
]  # fmt: skip
ANSWERS = [
    chat("the documented request", documented(), 200, "newspaper", "MEN WALK ON MOON", '"finish_reason":"stop"'),
    chat("no model", {name: value for name, value in hello().items() if name != "model"}, 200, '"model":"ernie-vl"'),
    chat("unknown field", hello(colour="red"), 200, '"object":"chat.completion"'),
    chat("cut at its bound", hello(max_tokens=3), 200, '"finish_reason":"length"', '"completion_tokens":3'),
    chat("a request id", hello(max_tokens=1), 200, '"id":"chatcmpl-my-request"', headers={"X-Request-Id": "my-request"}),
]  # fmt: skip
CASES = [*LIFE, *KEYS, *OPEN, *REFUSALS, *ANSWERS]
