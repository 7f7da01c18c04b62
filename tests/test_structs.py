"""What is written down is frozen, and what is read back takes no field that nobody knows."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from fixtures.rehearsal.faults import Fault
from fixtures.rehearsal.world import World
from recipe.amendments import Amended
from recipe.catalogue import Catalogue
from recipe.deployment import Deployment
from recipe.snapshot import Snapshot
from recipe.values import Fact
from reports.document import Document
from reports.suite import ROOT
from reports.waivers import Waiver

READ = (Amended, Catalogue, Deployment, Document, Fault, Snapshot, Waiver, World)


def structs() -> Iterator[type[msgspec.Struct]]:
    """Yield every public type of recipe and reports, and every fact."""
    for package in ("recipe", "reports", "fixtures"):
        wanted = Fact if package == "fixtures" else msgspec.Struct
        hidden = () if package == "recipe" else ("_",)
        for found in pkgutil.iter_modules([str(ROOT / package)], f"{package}."):
            if found.ispkg or found.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(found.name)).items():
                is_own = inspect.isclass(value) and value.__module__ == found.name and not name.startswith(hidden)
                if is_own and issubclass(value, wanted):
                    yield value


def within(kind: Any, seen: set[type[msgspec.Struct]]) -> set[type[msgspec.Struct]]:
    """Return a type and all structs that its fields lead to."""
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct) and kind not in seen:
        seen.add(kind)
        for field in msgspec.structs.fields(kind):
            within(field.type, seen)
    for argument in typing.get_args(kind):
        within(argument, seen)
    return seen


def test_what_is_written_down_is_frozen() -> None:
    found = list(structs())

    assert len(found) > 60
    assert [kind.__name__ for kind in found if not kind.__struct_config__.frozen] == []


def test_what_is_read_takes_no_unknown_field() -> None:
    reached = set[type[msgspec.Struct]]().union(*(within(kind, set()) for kind in READ))
    reached |= {kind for kind in structs() if kind.__module__.startswith("recipe.")}

    assert len(reached) > 30
    assert [kind.__name__ for kind in reached if not kind.__struct_config__.forbid_unknown_fields] == []
