"""What counts as naming a headline or a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe.wording import names_document, names_headline, thinks_aloud

HEADLINE = "MEN WALK ON MOON"


@pytest.mark.parametrize(
    "answer",
    [
        "MEN WALK ON MOON",
        'The headline is "Men Walk on Moon", on a newspaper.',
        "men\nwalk\non\nmoon",
        "MEN  WALK - ON   MOON!",
        "**Men Walk On Moon**",
        "ＭＥＮ ＷＡＬＫ ＯＮ ＭＯＯＮ",
        "MEN WALK\u00a0ON MO\u00adON",
        "MENWALK ON MOON",
    ],
)
def test_headline_is_named(answer: str) -> None:
    assert names_headline(answer, HEADLINE)


@pytest.mark.parametrize(
    "answer",
    ["", "MEN WALK ON MARS", "OMEN WALK ON MOON", "MEN WALK ON MOONLIGHT", "MOON ON WALK MEN", "MEN ON MOON", "!!!!"],
)
def test_headline_is_not_named(answer: str) -> None:
    assert not names_headline(answer, HEADLINE)


def test_nothing_is_named_by_an_empty_headline() -> None:
    assert not names_headline("anything", " - ")
    assert not names_document("anything", "...")


@given(
    st.lists(st.sampled_from([" ", "\n", " - ", ", ", "  "]), min_size=3, max_size=3),
    st.sampled_from([str.upper, str.lower, str.title]),
    st.text("xyz., ", max_size=20),
)
def test_case_spacing_and_punctuation_do_not_count(gaps: list[str], case: object, around: str) -> None:
    words = HEADLINE.split()
    text = words[0] + "".join(gap + word for gap, word in zip(gaps, words[1:], strict=True))

    assert names_headline(f"{around} {case(text)} {around}", HEADLINE)  # type: ignore[operator]


@pytest.mark.parametrize("answer", ["a newspaper", "Newspapers.", "a NEWSPAPER's page", "a news paper", "news-paper"])
def test_document_is_named(answer: str) -> None:
    assert names_document(answer, "newspaper")


@pytest.mark.parametrize("answer", ["a poster", "news on paper", "", "newspaperman"])
def test_document_is_not_named(answer: str) -> None:
    assert not names_document(answer, "newspaper")


@pytest.mark.parametrize("answer", ["<think>x", "x</think>", "< THINK >", "</think >"])
def test_think_tags_are_seen(answer: str) -> None:
    assert thinks_aloud(answer)


def test_thinking_as_a_word_is_no_tag() -> None:
    assert not thinks_aloud("I think it is a newspaper <p>think</p>")
