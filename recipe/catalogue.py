"""The requirement catalogue: the spine from which order, rows, verdict and documentation are derived."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

from recipe.errors import RecipeError
from recipe.loading import read
from recipe.values import Text

FILE = Path(__file__).with_name("requirements.toml")


class Level(StrEnum):
    """How much a requirement weighs. MUST decides; SHOULD remarks; RECORD measures; ATTEST is a person's word."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    RECORD = "RECORD"
    ATTEST = "ATTEST"


class Origin(StrEnum):
    """Who asks for it: the deployment guide, or this suite beyond the guide."""

    GUIDE = "guide"
    SUITE = "suite"


class Cases(StrEnum):
    """Over which files of the snapshot a requirement is judged one by one."""

    SHARDS = "shards"
    AUXILIARIES = "auxiliaries"


class Stage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stage of a qualification. ``always`` stages run whenever the server was started.

    A stage with an ``option`` is applicable only where that is given, and not where one of ``unless`` is.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{3}$")]
    title: Text
    always: bool = False
    option: str = ""
    unless: tuple[str, ...] = ()


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One requirement, judged by exactly one test (none for ATTEST).

    ``step`` names the guide's step by which a host comes to meet it.
    ``unless`` lists options of a run under which it is not applicable. ``states`` lists the deployment values it needs,
    as dotted paths; where a deployment states none of one of them the requirement is not applicable. ``after`` lists
    requirements without which there is nothing to judge.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{3}-\d{2}$")]
    level: Level
    says: Text
    source: Text
    remedy: Text
    origin: Origin = Origin.GUIDE
    states: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    cases: Cases | None = None
    step: str = ""

    @property
    def stage(self) -> str:
        """The stage's three letters: ``HST`` of ``HST-05``."""
        return self.id[:3]

    @property
    def test_prefix(self) -> str:
        """How the name of its test starts: ``test_hst_05_``."""
        return f"test_{self.id.lower().replace('-', '_')}_"


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the guide that an operator takes on a host: its shell commands, a line each."""

    id: Text
    title: Text
    source: Text
    commands: Text


class Unknown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that the guide itself calls unknown, and the requirements whose rows tell what was found."""

    says: Text
    source: Text
    measured_by: tuple[Text, ...]


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All stages and requirements, in run order, the guide's steps for a host, and what it calls unknown."""

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    stages: tuple[Stage, ...]
    requirements: tuple[Requirement, ...]
    steps: tuple[Step, ...] = ()
    unknowns: tuple[Unknown, ...] = ()

    def get(self, identity: str) -> Requirement:
        """Return the requirement of that id. Raises KeyError for an unknown one."""
        for requirement in self.requirements:
            if requirement.id == identity:
                return requirement
        raise KeyError(identity)

    def stage(self, identity: str) -> Stage:
        """Return the stage of those three letters. Raises KeyError for an unknown one."""
        for stage in self.stages:
            if stage.id == identity:
                return stage
        raise KeyError(identity)


def load(path: Path = FILE) -> Catalogue:
    """Read and check the catalogue. Raises `RecipeError` naming file and id."""
    catalogue = read(path, Catalogue)
    stages = [stage.id for stage in catalogue.stages]
    seen: list[str] = []
    for requirement in catalogue.requirements:
        where = f"requirements[{requirement.id}]"
        if requirement.id in seen:
            raise RecipeError(path.name, where, "this id stands twice")
        if requirement.stage not in stages:
            raise RecipeError(path.name, where, f"stage {requirement.stage} is not listed under stages")
        if seen and stages.index(seen[-1][:3]) > stages.index(requirement.stage):
            raise RecipeError(path.name, where, f"stands after {seen[-1]}, which belongs to a later stage")
        if seen and seen[-1] > requirement.id and seen[-1][:3] == requirement.stage:
            raise RecipeError(path.name, where, f"stands after {seen[-1]}: ids of a stage go up")
        if requirement.step and requirement.step not in [step.id for step in catalogue.steps]:
            raise RecipeError(path.name, f"{where}.step", f"{requirement.step} is not listed under steps")
        for earlier in requirement.after:
            if earlier not in seen:
                raise RecipeError(path.name, f"{where}.after", f"{earlier} does not stand before it")
        seen.append(requirement.id)
    for unknown in catalogue.unknowns:
        if strange := sorted(set(unknown.measured_by).difference(seen)):
            raise RecipeError(path.name, "unknowns.measured_by", f"the catalogue has no {', '.join(strange)}")
    return catalogue
