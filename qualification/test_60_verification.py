"""Stage VFY: what the server answers, and what it must refuse."""

from __future__ import annotations

import pytest

from fixtures.probes.files import File
from fixtures.probes.http import Answer, Reply
from fixtures.probes.picture import Grid
from fixtures.refusals import Attempts
from fixtures.seeing import MadeUp, TwoSizes
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable, count_bytes
from recipe.wording import names_document, names_headline, thinks_aloud

pytestmark = pytest.mark.qualify
UNAUTHORIZED = '{"error":"Unauthorized"}'


def test_vfy_01_health_is_200(requirement: Judgement, health: Answer | Absent) -> None:
    requirement.wants("/health answers 200")
    found = requirement.needs(health)
    requirement.finds(f"HTTP {found.status} in {found.seconds:.2f} s")
    assert found.status == 200


def test_vfy_02_fixture_picture_is_documented(
    requirement: Judgement, deployment: Deployment, fixture_picture: File | Absent | Unreadable
) -> None:
    wanted = stated(deployment.picture)
    requirement.wants(f"{count_bytes(wanted.bytes)}, SHA256 {wanted.sha256}")
    found = requirement.needs(fixture_picture)
    looks = f"; it looks like {found.looks_like}" if found.looks_like else ""
    requirement.finds(f"{found.bytes:,} bytes, SHA256 {found.sha256}{looks}")
    assert (found.bytes, found.sha256) == (wanted.bytes, wanted.sha256)


def test_vfy_03_visual_grid_is_bounded(
    requirement: Judgement, deployment: Deployment, visual_grid: Grid | Absent | Unreadable
) -> None:
    most = stated(deployment.picture).grid_tokens_max
    requirement.wants(f"at most {most} visual tokens")
    requirement.finds(visual_grid)
    assert isinstance(visual_grid, Grid), "the processor would refuse a picture that has no grid"
    product = f"{visual_grid.rows} × {visual_grid.columns} = {visual_grid.tokens} tokens"
    requirement.finds(f"{visual_grid.width} × {visual_grid.height} pixels, {product}")
    assert 0 < visual_grid.tokens <= most


def test_vfy_04_answer_is_a_text(requirement: Judgement, reply: Reply | Absent | Unreadable) -> None:
    requirement.wants("HTTP 200 with content that is a non-empty text")
    found = requirement.needs(reply)
    empty = "" if found.problem or found.content else f"the content is {'null' if found.content is None else 'empty'}"
    where = ", and its text stands in the reasoning field" if empty and found.reasoning else ""
    requirement.finds(f"{found.said}{f' ({found.problem or empty + where})' if found.problem or empty else ''}")
    assert not found.problem
    assert found.content is not None
    assert found.content.strip()


def test_vfy_05_answer_is_complete(requirement: Judgement, reply: Reply | Absent | Unreadable) -> None:
    requirement.wants("finish_reason is 'stop'")
    found = requirement.needs(reply).finish_reason
    requirement.finds(f"finish_reason is {found!r}")
    assert found == "stop"


def test_vfy_06_usage_is_bounded(
    requirement: Judgement, deployment: Deployment, reply: Reply | Absent | Unreadable
) -> None:
    most = stated(deployment.expected)
    requirement.wants(
        f"prompt and completion together at most {most.usage_max:,} tokens, completion from 1 to {most.completion_max}"
    )
    found = requirement.needs(reply)
    prompt, completion = found.prompt_tokens, found.completion_tokens
    requirement.finds(f"prompt {prompt}, completion {completion}" if prompt is not None else "no usage stated")
    assert prompt is not None
    assert completion is not None
    assert prompt > 0
    assert prompt + completion <= most.usage_max
    assert 1 <= completion <= most.completion_max


def test_vfy_07_answer_names_the_headline(
    requirement: Judgement, deployment: Deployment, reply: Reply | Absent | Unreadable
) -> None:
    headline = stated(deployment.expected).headline
    requirement.wants(f"the answer names {headline!r}")
    found = requirement.needs(reply).content
    requirement.finds(f"{found!r}")
    assert names_headline(found or "", headline)


def test_vfy_08_answer_names_the_document(
    requirement: Judgement, deployment: Deployment, reply: Reply | Absent | Unreadable
) -> None:
    document = stated(deployment.expected).document
    requirement.wants(f"the answer calls it a {document}")
    found = requirement.needs(reply).content
    requirement.finds(f"{found!r}")
    assert names_document(found or "", document)


def test_vfy_09_answer_holds_no_reasoning(requirement: Judgement, reply: Reply | Absent | Unreadable) -> None:
    requirement.wants("no think tag in the content, no reasoning field")
    found = requirement.needs(reply)
    requirement.finds(f"content {found.content!r}, reasoning {found.reasoning!r}")
    assert found.content is not None
    assert not thinks_aloud(found.content)
    assert not found.reasoning


def _answers(requirement: Judgement, attempts: Attempts, status: int) -> dict[str, Answer]:
    """Return the answers and state them as found, those with another status than the wanted one first."""
    answers = {name: requirement.needs(answer) for name, answer in attempts.answers.items()}
    ordered = sorted(answers.items(), key=lambda entry: entry[1].status == status)
    rows = [f"{name}: HTTP {answer.status} {answer.excerpt[:160]}" for name, answer in ordered]
    requirement.finds("\n".join(rows) or "nothing was tried")
    assert answers
    return answers


def _judge_401(requirement: Judgement, attempts: Attempts) -> None:
    """Exactly 401 with the server's own body, for each attempt."""
    answers = _answers(requirement, attempts, 401)
    assert all(answer.status == 401 for answer in answers.values())
    assert all(answer.excerpt == UNAUTHORIZED for answer in answers.values()), "another one than vLLM answered"


def test_vfy_10_no_key_is_401(requirement: Judgement, without_key: Attempts) -> None:
    requirement.wants(f"401 with {UNAUTHORIZED} from the server itself")
    _judge_401(requirement, without_key)


def test_vfy_11_wrong_keys_are_401(requirement: Judgement, with_wrong_keys: Attempts | Unreadable) -> None:
    requirement.wants(f"each 401 with {UNAUTHORIZED} from the server itself")
    _judge_401(requirement, requirement.needs(with_wrong_keys))


def _judge_refusals(requirement: Judgement, attempts: Attempts) -> None:
    """A refusal is a 400 that says why; no answer at all is none."""
    assert all(answer.status == 400 for answer in _answers(requirement, attempts, 400).values())


def test_vfy_12_more_media_are_refused(requirement: Judgement, refused_media: Attempts | Unreadable) -> None:
    requirement.wants("a second image and a video are each refused with 400")
    _judge_refusals(requirement, requirement.needs(refused_media))


def test_vfy_13_long_prompt_is_refused(requirement: Judgement, refused_length: Attempts) -> None:
    requirement.wants("a prompt beyond the context is refused with 400")
    _judge_refusals(requirement, refused_length)


def test_vfy_14_unseen_headline_is_read(requirement: Judgement, unseen_headline: MadeUp) -> None:
    seed = f"made up for this run from seed {unseen_headline.seed}"
    requirement.wants(f"the answer names {unseen_headline.headline!r}, {seed}")
    found = requirement.needs(unseen_headline.reply)
    requirement.finds(found.said)
    assert names_headline(found.content or "", unseen_headline.headline)


def test_vfy_15_page_without_text_has_no_headline(
    requirement: Judgement, deployment: Deployment, without_text: Reply | Absent | Unreadable, unseen_headline: MadeUp
) -> None:
    requirement.wants("an answer to the same page without text that names none of the headlines used")
    found = requirement.needs(without_text)
    requirement.finds(found.said)
    assert found.content
    claimed = [
        line
        for line in (stated(deployment.expected).headline, unseen_headline.headline)
        if names_headline(found.content, line)
    ]
    assert not claimed


def test_vfy_16_visual_tokens_follow_the_formula(requirement: Judgement, two_sizes: TwoSizes) -> None:
    small, large = requirement.needs(two_sizes.small), requirement.needs(two_sizes.large)
    grids = requirement.needs(two_sizes.small_grid), requirement.needs(two_sizes.large_grid)
    wanted = grids[1].tokens - grids[0].tokens
    requirement.wants(f"prompt_tokens differ by {wanted} ({grids[0].tokens} and {grids[1].tokens} visual tokens)")
    requirement.finds(f"prompt_tokens {small.prompt_tokens} and {large.prompt_tokens}")
    assert small.prompt_tokens is not None
    assert large.prompt_tokens is not None
    assert wanted > 0
    assert large.prompt_tokens - small.prompt_tokens == wanted


def test_vfy_17_still_serves_after_refusals(
    requirement: Judgement, after_refusals: Reply | Absent | Unreadable
) -> None:
    requirement.wants("the documented request is answered after all refusals")
    found = requirement.needs(after_refusals)
    requirement.finds(f"{found.said}{f' ({found.problem})' if found.problem else ''}")
    assert not found.problem
    assert (found.content or "").strip()
