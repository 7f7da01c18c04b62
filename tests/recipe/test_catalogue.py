"""The catalogue: what it holds, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe import catalogue as catalogues
from recipe.catalogue import Catalogue, Level, Requirement
from recipe.deployment import Deployment
from recipe.errors import RecipeError

HEAD = """schema = 1
stages = [{ id = "HST", title = "Host" }, { id = "IMG", title = "Image" }]
"""


def entry(identity: str, extra: str = "") -> str:
    return f"""
[[requirements]]
id = "{identity}"
level = "MUST"
says = "it is so"
source = "step 1"
remedy = "do it"
{extra}
"""


def load(tmp_path: Path, text: str) -> Catalogue:
    path = tmp_path / "requirements.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return catalogues.load(path)


def test_the_catalogue_holds_the_designs_requirements() -> None:
    catalogue = catalogues.load()
    numbers = {stage.id: sum(entry.stage == stage.id for entry in catalogue.requirements) for stage in catalogue.stages}

    assert numbers == {"HST": 31, "IMG": 14, "WTS": 9, "CFG": 6, "SRV": 16, "VFY": 22, "STP": 5, "RMV": 2, "ATT": 3}
    assert catalogue.get("HST-05").test_prefix == "test_hst_05_"
    assert catalogue.stage("STP").always


def test_every_step_of_the_guide_serves_a_requirement_of_the_host() -> None:
    catalogue = catalogues.load()
    used = {entry.step for entry in catalogue.requirements if entry.step}

    assert used == {step.id for step in catalogue.steps}
    assert all(entry.stage == "HST" for entry in catalogue.requirements if entry.step)
    assert [step.commands.strip().splitlines()[-1] for step in catalogue.steps] == [
        "sudo reboot",
        "sudo apt-get install -y docker-ce docker-ce-cli containerd.io docker-buildx-plugin docker-compose-plugin",
        "sudo systemctl restart docker",
    ]


def test_every_stated_path_is_one_of_a_deployment() -> None:
    def exists(kind: object, names: list[str]) -> bool:
        for name in names:
            fields = {field.name: field.type for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
            if name not in fields:
                return isinstance(getattr(kind, name, None), property)
            options = getattr(fields[name], "__args__", (fields[name],))
            kind = options[0]
        return True

    for requirement in catalogues.load().requirements:
        assert requirement.states, requirement.id
        for path in requirement.states:
            assert exists(Deployment, path.split(".")), f"{requirement.id}: {path}"


def test_every_requirement_says_source_and_remedy_of_its_own() -> None:
    for requirement in catalogues.load().requirements:
        assert requirement.remedy.endswith("."), requirement.id
        assert requirement.says[0].isupper() or requirement.says[0] in "/'", requirement.id


def test_unknown_ids_are_key_errors() -> None:
    catalogue = catalogues.load()
    with pytest.raises(KeyError):
        catalogue.get("HST-99")
    with pytest.raises(KeyError):
        catalogue.stage("XYZ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (entry("HST-01", 'colour = "red"'), "unknown field `colour`"),
        (entry("HST-01").replace('says = "it is so"\n', ""), "missing required field `says`"),
        (entry("HST-01").replace('remedy = "do it"', 'remedy = ""'), "requirements[0].remedy"),
        (entry("HST-1"), "requirements[0].id"),
        (entry("HST-01").replace("MUST", "MAY"), "requirements[0].level"),
        (entry("HST-01") + entry("HST-01"), "requirements[HST-01]: this id stands twice"),
        (entry("XYZ-01"), "stage XYZ is not listed"),
        (entry("IMG-01") + entry("HST-01"), "belongs to a later stage"),
        (entry("HST-02") + entry("HST-01"), "ids of a stage go up"),
        (entry("HST-01", 'step = "paint"'), "requirements[HST-01].step: paint is not listed under steps"),
        (entry("HST-01", 'after = ["HST-02"]') + entry("HST-02"), "requirements[HST-01].after: HST-02"),
        ("[[[", "not valid TOML"),
    ],
)
def test_a_broken_catalogue_is_one_clear_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load(tmp_path, text)

    assert says in str(caught.value)
    assert str(caught.value).startswith("requirements.toml: ")
    assert "\n" not in str(caught.value)


def test_a_missing_catalogue_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="No such file"):
        catalogues.load(tmp_path / "none.toml")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40)


@given(
    st.builds(
        Requirement,
        id=st.from_regex(r"[A-Z]{3}-[0-9]{2}", fullmatch=True).filter(str.isascii),
        level=st.sampled_from(Level),
        says=TEXT,
        source=TEXT,
        remedy=TEXT,
    )
)
def test_a_requirement_survives_a_round_trip(requirement: Requirement) -> None:
    assert msgspec.json.decode(msgspec.json.encode(requirement), type=Requirement) == requirement


def test_what_the_guide_calls_unknown_is_answered_by_known_requirements(tmp_path: Path) -> None:
    catalogue = catalogues.load()
    assert len(catalogue.unknowns) == 15
    assert all(unknown.measured_by for unknown in catalogue.unknowns)

    unknown = '[[unknowns]]\nsays = "x"\nsource = "y"\nmeasured_by = ["HST-01", "STP-99"]\n'
    with pytest.raises(RecipeError, match=r"unknowns.measured_by: the catalogue has no STP-99"):
        load(tmp_path, entry("HST-01") + unknown)
