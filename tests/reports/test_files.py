"""The list of a bundle's files, and files that are written whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.document import encode, load
from reports.files import SUMS, BundleError, listed, listed_sha256, read_sums, sums, write_atomically, write_together
from tests.reports import made

DIGEST = "a" * 64


def test_a_list_is_read_by_its_lines() -> None:
    assert read_sums(f"{DIGEST}  a file\n{'b' * 64}  facts/x.json\n".encode()) == {
        "a file": DIGEST,
        "facts/x.json": "b" * 64,
    }
    assert read_sums(b"") == {}


@pytest.mark.parametrize(
    "line",
    [
        f"{DIGEST[1:]}  short",
        f"{DIGEST}a  long",
        DIGEST,
        f"{DIGEST}  ",
        f"{DIGEST} one-space",
        "  nothing",
        f"{DIGEST}  a\n{DIGEST}  a",
    ],
)
def test_a_line_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(BundleError, match="is no line of a list of hashes, or stands twice"):
        read_sums(f"{line}\n".encode())


def test_a_file_is_written_whole_in_a_folder_of_its_own(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b" / "file", b"one")
    write_atomically(tmp_path / "a" / "b" / "file", b"two")

    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"two"
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["file"]


def test_files_are_written_together_and_listed_as_they_will_be(tmp_path: Path) -> None:
    write_atomically(tmp_path / "verdict.json", b"INCOMPLETE")
    coming = {"report.html": b"page", "verdict.json": b"QUALIFIED"}
    before = sums(tmp_path, coming)

    write_together(tmp_path, coming)

    assert sums(tmp_path) == before
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == coming


def test_the_list_names_all_but_itself_and_what_signs_it(tmp_path: Path) -> None:
    for name in ("facts/b.json", "a", SUMS):
        write_atomically(tmp_path / name, name.encode())
    (tmp_path / "link").symlink_to(tmp_path / "facts")
    (tmp_path / "empty").mkdir()

    assert list(listed(tmp_path)) == ["a", "facts/b.json", "link"]
    (tmp_path / "link").unlink()
    (tmp_path / SUMS).write_bytes(sums(tmp_path))
    assert list(read_sums((tmp_path / SUMS).read_bytes())) == ["a", "facts/b.json"]
    assert len(listed_sha256(tmp_path, "a")) == 64
    assert listed_sha256(tmp_path, "b") == ""
    (tmp_path / SUMS).unlink()
    assert listed_sha256(tmp_path, "a") == ""


def test_a_number_in_a_verdict_is_no_text(tmp_path: Path) -> None:
    text = encode(made.document()).decode()
    number = re.search(r'"validity_days": ?90', text)
    assert number
    (tmp_path / "verdict.json").write_text(text, encoding="utf-8")
    assert load(tmp_path).deployment.validity_days == 90

    (tmp_path / "verdict.json").write_text(text.replace(number[0], '"validity_days": "90"'), encoding="utf-8")
    with pytest.raises(BundleError, match="Expected `int`, got `str`"):
        load(tmp_path)
