"""No secret passes the redactor, in any form; nothing else is touched."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe.values import Secret
from reports.evidence import Evidence
from reports.files import write_atomically
from reports.redaction import MARK, RedactingStream, Redactor, forms

KEY = "0123456789abcdef" * 4
# As keys are: of many different characters, so that no part of one stands in another place by chance.
KEYS = st.integers(0).map(lambda number: hashlib.sha256(str(number).encode()).hexdigest())
AROUND = st.binary(max_size=40)


def redactor(key: str = KEY) -> Redactor:
    made = Redactor()
    made.add(Secret("key", key))
    return made


@given(KEYS, AROUND, AROUND)
def test_plain_and_coded_keys_are_found_wherever_they_stand(key: str, before: bytes, after: bytes) -> None:
    made = redactor(key)
    raw = before + key.encode() + after

    for data in (
        raw,
        base64.b64encode(raw),
        base64.urlsafe_b64encode(raw),
        raw.hex().encode(),
        raw.hex().upper().encode(),
    ):
        assert made.leaks(data)
        assert not made.leaks(made.data(data))


@given(st.text(st.characters(codec="utf-8"), min_size=8, max_size=30), st.text(max_size=10))
def test_any_text_can_be_a_secret(secret: str, around: str) -> None:
    made = redactor(secret)

    for text in (secret, quote(secret, safe=""), json.dumps(f"{around}{secret}", ensure_ascii=False)):
        assert secret not in made.text(f"{around}{text}{around}") or secret in MARK


def test_the_key_in_upper_case_is_found_too() -> None:
    assert redactor().text(f"x {KEY.upper()} y") == f"x {MARK} y"


@given(st.text(max_size=200))
def test_without_secrets_nothing_changes(text: str) -> None:
    made = Redactor()

    assert made.text(text) == text
    assert made.data(text.encode("utf-8", "replace")) == text.encode("utf-8", "replace")
    assert not made.leaks(text.encode("utf-8", "replace"))


def test_a_text_too_short_to_be_a_secret_is_left_alone() -> None:
    made = redactor("abc")

    assert made.text("abc") == "abc"


def test_forms_are_long_enough_to_be_told_from_text() -> None:
    assert all(len(form) >= 8 for form in forms("12345678"))


def test_the_stream_redacts_and_is_otherwise_its_stream() -> None:
    behind = io.StringIO()
    stream = RedactingStream(behind, redactor())

    assert stream.write(f"Bearer {KEY}\n") == len(KEY) + 8
    assert behind.getvalue() == f"Bearer {MARK}\n"
    assert stream.isatty() is False  # type: ignore[operator]


def test_evidence_redacts_and_scans(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path, redactor())

    assert evidence.artefact("../bad name.txt", f"key {KEY}") == "artefacts/..-bad-name.txt"
    assert evidence.fact("settings", {"seen": KEY}) == "facts/settings.json"
    assert json.loads((tmp_path / "facts" / "settings.json").read_bytes()) == {"seen": MARK}
    assert evidence.leaks() == []

    (tmp_path / "facts" / "planted.txt").write_bytes(base64.b64encode(f"x{KEY}".encode()))
    assert evidence.leaks() == ["facts/planted.txt"]


def test_evidence_refuses_what_is_not_json_able(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Evidence(tmp_path, Redactor()).fact("handle", object())


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")

    assert path.read_bytes() == b"two"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]
