"""The judge of answers: whatever a server sends, it is read without an exception, and passes only if it is right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from fixtures.probes.http import Answer, Reply, read_reply
from fixtures.refusals import Attempts
from qualification import test_60_verification as judges
from recipe import deployment as deployments
from recipe.judgement import Blocked, Judgement
from tests.fuzz.making import JSON, changed_bytes, changed_json, fuzz

DEPLOYMENT = deployments.load("rehearsal")
GOOD = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "A newspaper. MEN WALK ON MOON", "reasoning_content": None},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 295, "completion_tokens": 14, "total_tokens": 309},
}
UNAUTHORIZED = '{"error":"Unauthorized"}'


def passes(judge: Callable[..., None], **facts: Any) -> bool:
    """Tell whether a requirement's test passes; nothing but a failure or a block may come out of it."""
    requirement = Judgement("")
    try:
        judge(requirement, **facts)
    except (AssertionError, Blocked):
        assert requirement.found
        return False
    assert requirement.found
    return True


def read(raw: bytes, status: int = 200) -> Reply:
    return read_reply(Answer(status, "uvicorn", "application/json", raw[:2000].decode("utf-8", "replace"), 0.1), raw)


def right(raw: bytes) -> dict[str, bool]:
    """Say, by other means than the suite's, which requirements a body meets."""
    none = dict.fromkeys(("VFY-04", "VFY-05", "VFY-06", "VFY-07", "VFY-08", "VFY-09"), False)
    try:
        told = json.loads(raw)
        (choice,) = told["choices"]
        content, finish = choice["message"].get("content"), choice.get("finish_reason")
        thought = choice["message"].get("reasoning") or choice["message"].get("reasoning_content")
        usage = told.get("usage") or {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return none
    text = content if isinstance(content, str) else ""
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    whole = [count for count in counts if type(count) is int]
    plain = re.sub(r"[\W_]+", "", text.casefold())
    return {
        "VFY-04": bool(text.strip()),
        "VFY-05": finish == "stop",
        "VFY-06": len(whole) == 2 and whole[0] > 0 and 1 <= whole[1] <= 256 and sum(whole) <= 4096,
        "VFY-07": "menwalkonmoon" in plain,
        "VFY-08": "newspaper" in plain,
        "VFY-09": isinstance(content, str) and "think>" not in re.sub(r"\s", "", text).casefold() and not thought,
    }


BODIES = (
    changed_json(GOOD).map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
    | JSON.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
    | changed_bytes(json.dumps(GOOD).encode())
    | st.binary(max_size=80)
)


@given(BODIES)
@example(json.dumps(GOOD).encode())
@fuzz
def test_an_answer_passes_only_what_it_meets(raw: bytes) -> None:
    reply, meets = read(raw), right(raw)
    passed = {
        "VFY-04": passes(judges.test_vfy_04_answer_is_a_text, reply=reply),
        "VFY-05": passes(judges.test_vfy_05_answer_is_complete, reply=reply),
        "VFY-06": passes(judges.test_vfy_06_usage_is_bounded, deployment=DEPLOYMENT, reply=reply),
        "VFY-07": passes(judges.test_vfy_07_answer_names_the_headline, deployment=DEPLOYMENT, reply=reply),
        "VFY-08": passes(judges.test_vfy_08_answer_names_the_document, deployment=DEPLOYMENT, reply=reply),
        "VFY-09": passes(judges.test_vfy_09_answer_holds_no_reasoning, reply=reply),
    }

    assert {name for name in passed if passed[name]} <= {name for name in meets if meets[name]}
    if raw == json.dumps(GOOD).encode():
        assert all(passed.values())


@given(st.integers(100, 599), BODIES)
@fuzz
def test_another_status_is_no_answer(status: int, raw: bytes) -> None:
    reply = read(raw, status)

    assert status == 200 or (reply.problem and not passes(judges.test_vfy_04_answer_is_a_text, reply=reply))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([401, 401, 401, 403, 200, 500]), st.sampled_from([UNAUTHORIZED] * 3) | st.text(max_size=40)
        ),
        max_size=4,
    )
)
@fuzz
def test_only_the_servers_own_401_is_one(answers: list[tuple[int, str]]) -> None:
    made = {
        str(n): Answer(status, "uvicorn", "application/json", text, 0.1) for n, (status, text) in enumerate(answers)
    }
    accepted = passes(judges.test_vfy_10_no_key_is_401, without_key=Attempts(dict(made)))

    assert accepted == (bool(answers) and all(answer == (401, UNAUTHORIZED) for answer in answers))
