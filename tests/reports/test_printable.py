"""Text from outside: nothing that breaks a format or deceives the eye passes, and ordinary text is as it was."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reports.printable import in_all, printable, without_surrogates
from tests.reports.made import NASTY

ANYTHING = st.text(st.characters(), max_size=60)


@given(ANYTHING)
def test_any_text_becomes_fit_for_json_xml_and_a_terminal(text: str) -> None:
    shown = printable(text)

    assert msgspec.json.decode(msgspec.json.encode(shown)) == shown
    element = ElementTree.Element("a")
    element.text = shown
    ElementTree.fromstring(ElementTree.tostring(element))
    assert not [
        character for character in shown if unicodedata.category(character) == "Cc" and character not in "\t\n\r"
    ]
    assert len(shown) == len(text)
    assert printable(shown) == shown


def test_what_is_unfit_is_marked_and_the_rest_stays() -> None:
    assert printable(NASTY) == "�[31mERR�[0m � </script><script>alert(1)</script> & <b> lone � �gpj.exe"
    assert printable("Größe 4 × 日本 😀\n\tok") == "Größe 4 × 日本 😀\n\tok"
    assert without_surrogates("a\x1b\ud800") == "a\x1b�"


def test_a_change_reaches_every_text_of_plain_values() -> None:
    plain = {"a": ["x", {"x": ("x", 1)}], 2: None}

    assert in_all(str.upper, plain) == {"A": ["X", {"X": ["X", 1]}], 2: None}
