"""Was a fault caught, and by the requirement that is named for it? Pure: from a run's verdict to one word."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from fixtures.rehearsal.faults import Fault

STATUS = {"QUALIFIED": 0, "QUALIFIED WITH REMARKS": 0, "NOT QUALIFIED": 1, "INCOMPLETE": 1}


class Detection(StrEnum):
    """What became of one rehearsal, the good words first."""

    CAUGHT = "caught by the named requirement"
    CLEAN = "clean"
    ELSEWHERE = "caught elsewhere"
    MISSED = "missed"
    FALSE_ALARM = "false alarm"
    BROKEN = "fault of the suite"


class Told(msgspec.Struct, frozen=True):
    """What a run has told: verdict, exit status, and the words of each row by outcome and id (attestations left out)."""

    verdict: str
    status: int
    rows: dict[str, dict[str, str]]
    problem: str = ""

    def ids(self, *outcomes: str) -> set[str]:
        """Return the ids that have one of these outcomes in at least one row."""
        return {identity for outcome in outcomes for identity in self.rows.get(outcome, {})}

    def words(self, identity: str) -> str:
        """Return what the rows of an id that did not pass have found, and their remedies."""
        return "\n".join(
            self.rows[outcome].get(identity, "") for outcome in ("failed", "blocked") if outcome in self.rows
        )


class Judged(msgspec.Struct, frozen=True):
    """The word for a run, and why, where that is not the good one."""

    detection: Detection
    why: str = ""


def told(document: dict[str, Any], status: int, problem: str = "") -> Told:
    """Return what is judged of a verdict.json. ``problem`` is what was wrong about the run itself."""
    rows: dict[str, dict[str, str]] = {}
    for row in document["requirements"]:
        if row["level"] != "ATTEST":
            words = rows.setdefault(row["outcome"], {})
            words[row["id"]] = f"{words.get(row['id'], '')}\n{row['found']}\n{row['remedy']}".strip()
    return Told(document["verdict"], status, rows, problem)


def judge_clean(run: Told) -> Judged:
    """A legal world qualifies, and anything else about it is a false alarm."""
    if broken := _broken(run, run.verdict):
        return broken
    wrong = run.ids("failed", "blocked")
    if run.verdict != "QUALIFIED" or wrong:
        return Judged(
            Detection.FALSE_ALARM, f"{run.verdict}: {'; '.join(f'{i}: {run.words(i)}' for i in sorted(wrong))}"
        )
    return Judged(Detection.CLEAN)


def judge(fault: Fault, run: Told) -> Judged:
    """Say whether exactly the named requirement, and those that cannot but fail with it, caught a fault."""
    failed, blocked = run.ids("failed"), run.ids("blocked")
    if not failed | blocked:
        return Judged(Detection.MISSED, f"the verdict is {run.verdict}")
    outcomes = {"failed": failed, "blocked": blocked - failed, "remark": failed | blocked}
    if fault.catches not in outcomes[fault.outcome]:
        return Judged(Detection.ELSEWHERE, f"failed: {_list(failed)}; blocked: {_list(blocked)}")
    if fault.tells not in run.words(fault.catches):
        return Judged(Detection.ELSEWHERE, f"it does not say {fault.tells!r}: {run.words(fault.catches)}")
    if missing := set(fault.also) - failed:
        return Judged(Detection.MISSED, f"{_list(missing)} did not fail with it")
    if more := failed - {fault.catches, *fault.also}:
        return Judged(Detection.FALSE_ALARM, f"{_list(more)} failed too: {'; '.join(map(run.words, sorted(more)))}")
    return _broken(run, _verdict(fault, blocked)) or Judged(Detection.CAUGHT)


def _verdict(fault: Fault, blocked: set[str]) -> str:
    """Return the verdict that a fault must bring about."""
    if fault.outcome == "remark":
        return "QUALIFIED WITH REMARKS"
    return "NOT QUALIFIED" if fault.outcome == "failed" or fault.also else "INCOMPLETE"


def _broken(run: Told, verdict: str) -> Judged | None:
    """Say what is wrong about a run or its verdict, where anything is."""
    unjudged = run.ids("error", "not run")
    wrong = [run.problem] if run.problem else []
    wrong += [f"not judged: {_list(unjudged)}"] if unjudged else []
    wrong += [f"the verdict {run.verdict} came with status {run.status}"] if STATUS[run.verdict] != run.status else []
    wrong += [f"the verdict is {run.verdict}, not {verdict}"] if run.verdict != verdict else []
    return Judged(Detection.BROKEN, "; ".join(wrong)) if wrong else None


def _list(identities: set[str]) -> str:
    return ", ".join(sorted(identities)) or "none"
