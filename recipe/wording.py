"""Comparison of an answer's wording with what it must say: case, spacing, punctuation and line breaks do not count."""

from __future__ import annotations

import itertools
import re
import unicodedata

THINK_TAG = re.compile(r"<\s*/?\s*think\s*>", re.IGNORECASE)


def plain_words(text: str) -> list[str]:
    """Return the words of a text in one plain form: compatibility forms and case folded, no punctuation or accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    kept = (" " if not character.isalnum() else character for character in folded if not _is_mark(character))
    return "".join(kept).split()


def names_headline(answer: str, headline: str) -> bool:
    """Tell whether an answer holds the headline's words, in order and next to each other.

    A space that is missing or too many within the headline does not count; words around it do, so that
    ``omen walk on moonlight`` is not ``men walk on moon``.
    """
    words = plain_words(headline)
    if not words:
        return False
    pattern = r"\b" + r"\s*".join(re.escape(word) for word in words) + r"\b"
    return re.search(pattern, " ".join(plain_words(answer))) is not None


def names_document(answer: str, document: str) -> bool:
    """Tell whether an answer calls the document by its word, in singular or plural, written in one or two words."""
    word = "".join(plain_words(document))
    if not word:
        return False
    return any(plural in (word, f"{word}s") for plural in _neighbours(plain_words(answer)))


def thinks_aloud(answer: str) -> bool:
    """Tell whether an answer holds a think tag, opened or closed."""
    return THINK_TAG.search(answer) is not None


def _neighbours(words: list[str]) -> list[str]:
    """Return all words, and all pairs of neighbours written together."""
    return words + [first + second for first, second in itertools.pairwise(words)]


def _is_mark(character: str) -> bool:
    """Tell whether a character is only a mark on its neighbour, or invisible: an accent, a soft hyphen."""
    return unicodedata.category(character) in ("Mn", "Cf")
