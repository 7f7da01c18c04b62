"""What is still to be done on a host: the guide's steps by its operator, then the acts of a run."""

from __future__ import annotations

from collections.abc import Iterable

from recipe.catalogue import Catalogue, Step
from reports.outcomes import UNKNOWN, Outcome, Row


def text(catalogue: Catalogue, rows: Iterable[Row], acts: tuple[str, ...]) -> str:
    """Return the plan as people read it: the operator's steps with their commands, then a run's acts.

    A requirement that was not judged is named where its step may be needed too.
    """
    steps_of = {row.id: catalogue.get(row.id).step for row in rows}
    outcomes = {row.id: row.outcome for row in rows if steps_of[row.id]}
    failed = {steps_of[identity] for identity, outcome in outcomes.items() if outcome is Outcome.FAILED}
    unknown = [row for row, outcome in outcomes.items() if outcome in UNKNOWN and steps_of[row] not in failed]
    steps = [step for step in catalogue.steps if step.id in failed]
    parts = []
    if steps:
        parts.append("Steps of the guide that this host still needs; the suite takes none of them:")
    elif not unknown:
        parts.append("This host needs none of the guide's steps for driver, Docker and toolkit.")
    parts += map(_told, steps)
    if unknown:
        parts.append(f"\nNot judged, so that more of the guide's steps may be needed: {', '.join(unknown)}")
    parts.append("\nA run would then:" if steps or unknown else "\nA run would:")
    parts += [f"{number:3}. {_indented(act).lstrip()}" for number, act in enumerate(acts, 1)]
    return "\n".join(parts).lstrip()


def _told(step: Step) -> str:
    return f"\n{step.title} ({step.source})\n{_indented(step.commands)}"


def _indented(block: str) -> str:
    return "\n".join(f"     {line}" for line in block.strip().splitlines())
