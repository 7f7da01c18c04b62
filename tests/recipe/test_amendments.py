"""Amendments: what a deployment may change of another, and that it can change nothing unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from recipe import deployment as deployments
from recipe.deployment import DEFAULT, Deployment, stated
from recipe.errors import RecipeError

HEADER = f'schema = 1\nname = "mine"\ntitle = "Mine"\namends = "{DEFAULT}"\n'
ONE = '[[amendments]]\nid = "A1"\nset = {}\nguide = "g"\nhere = "h"\nwhy = "w"\n'


def load(tmp_path: Path, text: str) -> Deployment:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return deployments.load(str(path))


def amendment(values: str, identity: str = "A1") -> str:
    return ONE.replace("{}", f"{{ {values} }}").replace("A1", identity)


def test_the_amended_deployment_differs_by_what_it_lists_alone() -> None:
    original, amended = deployments.load(DEFAULT), deployments.load(f"{DEFAULT}-amended")
    listed = {path for one in amended.amendments for path in one.set}

    assert [one.id for one in amended.amendments] == ["A1", "A2"]
    assert differing(msgspec.to_builtins(original), msgspec.to_builtins(amended)) == listed | {
        "name",
        "title",
        "amends",
        "amendments",
    }
    image = stated(amended.image)
    assert image.reference == stated(original.image).reference
    assert image.wheel == stated(original.image).wheel
    assert image.pip_check_accepts == ("decord 0.6.0 is not supported on this platform",)


def differing(one: Any, other: Any, path: str = "") -> set[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        names = one.keys() | other.keys()
        return {
            found for name in names for found in differing(one.get(name), other.get(name), f"{path}.{name}".lstrip("."))
        }
    return set() if one == other else {path}


def test_an_amendment_changes_one_value(tmp_path: Path) -> None:
    found = load(tmp_path, HEADER + amendment('"host.gpu_count" = 8'))

    assert stated(found.host).gpu_count == 8
    assert found.name == "mine"
    assert found.amends == DEFAULT


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEADER, "missing required field `amendments`"),
        (HEADER + "amendments = []\n", "amendments"),
        (HEADER + ONE, r"amendments\[A1\].set: changes nothing"),
        (HEADER + amendment('"host.gpu_count" = 4'), "host.gpu_count has this value in the original too"),
        (HEADER + amendment('"image.checks.imports" = ["vllm", "torch", "transformers", "decord", "sentencepiece", '
                            '"requests", "numpy", "PIL"]'), "has this value in the original too"),
        (HEADER + amendment('"host.colour" = 4'), "host.colour is no value of the original"),
        (HEADER + amendment('"host.gpu_count.x" = 4'), "is no value of the original"),
        (HEADER + amendment('"host.gpu_count" = "two"'), "Expected `int`, got `str`"),
        (HEADER + amendment('"host.gpu_count" = 2', "A2"), "the ids count up: A1 is next"),
        (HEADER + amendment('"host.gpu_count" = 2') + amendment('"host.gpu_count" = 3', "A2"), "changed twice"),
        (HEADER + "workdir = 'x'\n" + amendment('"host.gpu_count" = 2'), "unknown field `workdir`"),
        (HEADER.replace(DEFAULT, f"{DEFAULT}-amended") + amendment('"host.gpu_count" = 2'), "amends another deployment, or itself"),
        (HEADER.replace(DEFAULT, "none") + amendment('"host.gpu_count" = 2'), "no such deployment"),
    ],
)  # fmt: skip
def test_what_is_no_clear_amendment_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        load(tmp_path, text)
