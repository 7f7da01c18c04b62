"""The run's book: a row for every requirement of the catalogue from the start, settled as tests end."""

from __future__ import annotations

import msgspec

from recipe.catalogue import Cases, Catalogue, Level, Requirement
from recipe.deployment import Deployment
from recipe.snapshot import Snapshot
from reports.conditions import Conditions
from reports.outcomes import Outcome, Row
from reports.printable import in_all, printable
from reports.verdict import Verdict, decide
from reports.waivers import Waiver

PLAIN = Conditions()
WITHOUT = {
    "--attach": "the service was already running, and is neither started nor stopped by this run",
    "--leave-running": "a service that qualifies is not stopped by this run",
}
OBSTACLES = frozenset({Outcome.FAILED, Outcome.BLOCKED, Outcome.ERROR})


class Ledger:
    """Rows in catalogue order. What no test settles stays *not run*, so nothing can go missing quietly."""

    def __init__(
        self,
        catalogue: Catalogue,
        deployment: Deployment,
        snapshot: Snapshot | None,
        conditions: Conditions = PLAIN,
    ) -> None:
        self.catalogue = catalogue
        self.conditions = conditions
        self.server_started = False
        self.stages_began: dict[str, float] = {}
        self._rows: dict[tuple[str, str], Row] = {}
        for requirement in catalogue.requirements:
            reason = self._not_applicable(requirement, deployment)
            for case in _cases(requirement, snapshot):
                self._rows[requirement.id, case] = _opening_row(requirement, case, reason)

    def _not_applicable(self, requirement: Requirement, deployment: Deployment) -> str | None:
        stage, given = self.catalogue.stage(requirement.stage), self.conditions.options
        if stage.option and stage.option not in given:
            return f"{stage.option} was not given"
        against = sorted(given.intersection((*stage.unless, *requirement.unless)))
        if against:
            return f"{against[0]} was given: {WITHOUT[against[0]]}"
        missing = deployment.missing(requirement.states)
        return f"the deployment {deployment.name} states no {missing}" if missing else None

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in catalogue order."""
        return tuple(self._rows.values())

    def row(self, identity: str, case: str = "") -> Row:
        """Return one row. Raises KeyError for an id or case that the catalogue does not have."""
        return self._rows[identity, case]

    def named(self, name: str) -> Row:
        """Return the row of that name, as ``Row.name`` gives it. Raises KeyError for one that is not there."""
        identity, _, case = name.partition(" [")
        return self.row(identity, case.removesuffix("]"))

    def settle(self, identity: str, case: str, outcome: Outcome, **changes: object) -> Row:
        """Write a row's outcome. A failure stands: an error in tear-down undoes a pass, but never a failure.

        What was wanted and found may come from outside, and is made fit to be shown here, for every format.
        """
        row = self._rows[identity, case]
        if row.outcome is Outcome.FAILED:
            return row
        waiver = self._waiver(row) if outcome is Outcome.FAILED else None
        if waiver:
            outcome, changes["found"] = Outcome.WAIVED, f"{changes.get('found', row.found)}\n{waiver.words}"
        changed = msgspec.structs.replace(row, outcome=outcome, **in_all(printable, changes))
        self._rows[identity, case] = changed
        return changed

    def _waiver(self, row: Row) -> Waiver | None:
        """Return the waiver of a row: one for its file, or one for its requirement."""
        matching = [waiver for waiver in self.conditions.waivers if waiver.requirement == row.id]
        return next((waiver for waiver in matching if waiver.case in ("", row.case)), None)

    def verdict(self, *, interrupted: bool) -> Verdict:
        """Return the verdict on all rows, under this run's conditions."""
        return decide(self.rows, interrupted=interrupted, remarks=bool(self.conditions.unpinned))

    def obstacle(self, identity: str) -> str | None:
        """Return the name of what blocks a requirement: one it comes after, or a MUST not passed of an earlier stage.

        Of several it is the first that failed, or the first at all. A stage that always runs is blocked only while no
        server was started.
        """
        requirement = self.catalogue.get(identity)
        counts = not (self.catalogue.stage(requirement.stage).always and self.server_started)
        found: list[Row] = []
        for row in self.rows:
            counts = counts and row.stage != requirement.stage  # the rows are in order: earlier stages come first
            if row.outcome in OBSTACLES and (row.id in requirement.after or (counts and row.level is Level.MUST)):
                found.append(row)
        failed = (row.name for row in found if row.outcome is Outcome.FAILED)
        return next(failed, found[0].name if found else None)


def _cases(requirement: Requirement, snapshot: Snapshot | None) -> tuple[str, ...]:
    """Return the cases of a requirement: one empty one, or one for each file of the snapshot."""
    if requirement.cases is None or snapshot is None:
        return ("",)
    return tuple(snapshot.shards if requirement.cases is Cases.SHARDS else snapshot.auxiliaries)


def _opening_row(requirement: Requirement, case: str, reason: str | None) -> Row:
    if reason:
        outcome, found = Outcome.NOT_APPLICABLE, reason
    elif requirement.level is Level.ATTEST:
        outcome, found = Outcome.NOT_RUN, "open: nobody has stated it"
    else:
        outcome, found = Outcome.NOT_RUN, "not reached in this run"
    return Row(
        id=requirement.id,
        case=case,
        level=requirement.level,
        origin=requirement.origin,
        outcome=outcome,
        says=requirement.says,
        source=requirement.source,
        wanted=requirement.says,
        found=found,
        remedy=requirement.remedy,
    )
