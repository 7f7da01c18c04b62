"""Recipe files: a broken one is one line that names the file, and what is accepted is what it says."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.deployment import Deployment
from recipe.errors import RecipeError
from reports import waivers
from tests.fuzz.making import changed_bytes, changed_lines, fuzz

TODAY = dt.date(2026, 12, 1)
WAIVERS = '[[waivers]]\nrequirement = "HST-12"\nreason = "other team"\nowner = "Ada"\nexpires = 2027-03-31\ncase = ""\n'
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(deployments.FOLDER.glob("*.toml"))}

STEMS = [name.removesuffix(".toml") for name in FILES]


def read(content: bytes, name: str, load: Callable[[Path], Any]) -> Any:
    """Load a file with that content; None where it was refused in one line that names it."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return load(path)
        except RecipeError as error:
            told = str(error)
    assert "\n" not in told.strip()
    assert any(stem in told for stem in ("mine", *STEMS)), told
    return None


@given(st.sampled_from(sorted(FILES)).flatmap(lambda name: changed_lines(FILES[name])))
@fuzz
def test_a_changed_deployment_is_refused_in_one_line_or_is_one(text: str) -> None:
    found = read(text.encode("utf-8", "surrogatepass"), "mine.toml", lambda path: deployments.load(str(path)))

    if found is not None:
        assert msgspec.json.decode(msgspec.json.encode(found), type=Deployment, strict=True) == found
        assert found.rehearsal or found.engine != "rehearsal"
        assert not found.service or not any(word.startswith("--api-key") for word in found.service.arguments)


@given(
    st.sampled_from(sorted(FILES)).flatmap(lambda name: changed_bytes(FILES[name].encode())) | st.binary(max_size=200)
)
@fuzz
def test_bytes_that_are_no_deployment_are_refused_in_one_line(content: bytes) -> None:
    found = read(content, "mine.toml", lambda path: deployments.load(str(path)))

    assert found is None or isinstance(found, Deployment)


@given(changed_bytes((snapshots.FOLDER / "rehearsal.json").read_bytes()))
@fuzz
def test_a_changed_snapshot_is_refused_in_one_line_or_adds_up(content: bytes) -> None:
    found = read(content, "mine.json", lambda path: snapshots.load("mine", path.parent))

    if found is not None:
        assert sum(file.bytes for file in found.shards.values()) == found.shard_bytes
        assert not set(found.shards) & set(found.auxiliaries)


@given(changed_lines((catalogues.FILE).read_text(encoding="utf-8")))
@fuzz
def test_a_changed_catalogue_is_refused_in_one_line_or_is_whole(text: str) -> None:
    found = read(text.encode("utf-8", "surrogatepass"), "mine.toml", catalogues.load)

    if found is not None:
        identities = [entry.id for entry in found.requirements]
        assert len(set(identities)) == len(identities)
        assert all(entry.says and entry.source and entry.remedy for entry in found.requirements)


@given(changed_lines(WAIVERS) | changed_bytes(WAIVERS.encode()).map(lambda raw: raw.decode("utf-8", "surrogateescape")))
@fuzz
def test_a_changed_waiver_is_refused_in_one_line_or_can_be_answered_for(text: str) -> None:
    catalogue = catalogues.load()
    raw = text.encode("utf-8", "surrogateescape")
    found = read(raw, "mine.toml", lambda path: waivers.load(path, catalogue, TODAY))

    for waiver in found or ():
        assert waiver.owner.strip()
        assert waiver.reason.strip()
        assert waiver.expires >= TODAY


def test_a_deployment_that_amends_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = FILES["ernie-4.5-vl-28b.l40s-tp4-amended.toml"]
    path.write_text(text.replace('amends = "ernie-4.5-vl-28b.l40s-tp4"', f'amends = "{path}"'), encoding="utf-8")

    with pytest.raises(RecipeError, match="amends"):
        deployments.load(str(path))
