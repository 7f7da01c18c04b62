"""What is still to be done on a host: the guide's steps by its operator, then the acts of a run."""

from __future__ import annotations

from collections.abc import Iterable

from recipe.catalogue import Catalogue, Step
from reports.outcomes import Outcome, Row


def steps_needed(catalogue: Catalogue, rows: Iterable[Row]) -> tuple[Step, ...]:
    """Return the guide's steps, in order, by which the host would come to meet what has failed."""
    failed = {catalogue.get(row.id).step for row in rows if row.outcome is Outcome.FAILED}
    return tuple(step for step in catalogue.steps if step.id in failed)


def text(catalogue: Catalogue, rows: Iterable[Row], acts: tuple[str, ...]) -> str:
    """Return the plan as people read it: the operator's steps with their commands, then a run's acts."""
    steps = steps_needed(catalogue, rows)
    parts = [
        "Steps of the guide that this host still needs; the suite takes none of them:"
        if steps
        else "This host needs none of the guide's steps for driver, Docker and toolkit."
    ]
    parts += [f"\n{step.title} ({step.source})\n{_indented(step.commands)}" for step in steps]
    parts.append("\nA run would then:" if steps else "\nA run would:")
    parts += [f"{number:3}. {_indented(act).lstrip()}" for number, act in enumerate(acts, 1)]
    return "\n".join(parts)


def _indented(block: str) -> str:
    return "\n".join(f"     {line}" for line in block.strip().splitlines())
