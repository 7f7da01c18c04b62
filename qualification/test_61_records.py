"""Stage VFY, continued: what is recorded of the service (open routes, speed, advisories, bounds); last, its workers."""

from __future__ import annotations

import re

import pytest

from fixtures.exposed import Exposed, ServedVersion
from fixtures.measuring import LOWERED, RAISED, Bounds, Timed
from fixtures.probes.http import Reply
from fixtures.service import Survivors, Workers
from recipe.advisories import covering
from recipe.judgement import Judgement
from recipe.routes import MEANINGS, sort
from recipe.values import Absent, Unreadable, count_of

pytestmark = pytest.mark.qualify
RANK = re.compile(r"\d+$")


def test_vfy_18_routes_without_a_key_are_recorded(requirement: Judgement, exposed: Exposed) -> None:
    sorted_in: dict[str, list[str]] = {heading: [] for heading in MEANINGS}
    for route in exposed.routes:
        if isinstance(route.status, Absent):
            sorted_in["no answer"].append(route.path)
            continue
        heading = sort(route.path, route.status)
        is_open = heading not in ("protected", "not there")
        sorted_in[heading].append(f"{route.asked} {route.path} ({route.status})" if is_open else route.path)
    sorted_in["not there"] = [f"{len(sorted_in['not there'])} routes known of vLLM"] if sorted_in["not there"] else []
    rows = [f"{MEANINGS[name]}: {', '.join(entries)}" for name, entries in sorted_in.items() if entries]
    left = [f"{exposed.not_asked} more were not asked: the server had fallen silent"] if exposed.not_asked else []
    requirement.finds("\n".join([*rows, *left]))


def test_vfy_19_speed_is_recorded(requirement: Judgement, timed: Timed | Unreadable) -> None:
    if isinstance(timed, Unreadable):
        requirement.finds(f"not measurable: {timed}")
        return
    bad = [
        str(answer) if isinstance(answer, Unreadable) else f"an answer that is not whole: {answer.problem}"
        for answer in timed.answers
        if isinstance(answer, Unreadable) or answer.problem
    ]
    requirement.finds("\n".join([*(entry.told for entry in timed.measurements), *bad]))


def test_vfy_20_advisories_are_recorded(
    requirement: Judgement, served_version: ServedVersion | Absent | Unreadable
) -> None:
    version = served_version.version if isinstance(served_version, ServedVersion) else ""
    rows = [f"{entry.id}: {entry.says} {entry.matters}" for entry in covering("vllm", version)]
    told = f"vllm {version}" if version else str(served_version)
    requirement.finds("\n".join([told, *(rows or ["no advisory known to this suite"])]))


def test_vfy_21_overriding_of_pixel_bounds_is_recorded(requirement: Judgement, bounds: Bounds) -> None:
    tried = {
        f"{bounds.upper:,} pixels, as documented": bounds.documented,
        f"{bounds.upper // LOWERED:,} pixels": bounds.lowered,
        f"{bounds.upper * RAISED:,} pixels": bounds.raised,
    }
    rows = [f"upper bound {name}: {_prompt(reply)}" for name, reply in tried.items()]
    counts = [reply.prompt_tokens for reply in tried.values() if isinstance(reply, Reply) and reply.prompt_tokens]
    if len(counts) == len(tried):
        raised, lowered = counts[2] > counts[0], counts[1] < counts[0]
        words = {True: "can", False: "cannot"}
        rows.insert(0, f"a request {words[raised]} raise the server's bound, and {words[lowered]} lower it")
    requirement.finds("\n".join(rows))


def _prompt(reply: Reply | Absent) -> str:
    if isinstance(reply, Absent):
        return str(reply)
    return f"{reply.prompt_tokens} prompt tokens" if reply.prompt_tokens else reply.said


def test_vfy_22_workers_live_to_the_end(
    requirement: Judgement, workers: Workers | Absent | Unreadable, survivors: Survivors | Unreadable
) -> None:
    found = requirement.needs(workers)
    requirement.wants(f"{count_of(len(found.processes), 'worker')}, the same as at the start")
    now = requirement.needs(survivors)
    living = {(process.pid, process.name) for process in now.processes}
    gone = [process for process in found.processes if (process.pid, process.name) not in living]
    rank = now.died[0] if now.died else None
    first = [process for process in found.processes if _rank(process.name) == rank]
    told = [f"{len(found.processes) - len(gone)} of {count_of(len(found.processes), 'worker')} live"]
    told += [f"the server has ended: {now.ended}"] if now.ended else []
    told += [f"the first to die was {found.told(process)}, by the log" for process in first]
    if rank is None:
        told += [f"{found.told(process)} is gone" for process in gone]
    elif not first:
        told.append(f"worker {rank} died, by the log")
    requirement.finds("; ".join(told))
    assert found.processes
    assert not gone
    assert not now.died


def _rank(title: str) -> int:
    """Return a worker's rank by its title: ``VLLM::Worker_TP2``; a worker without a number is the only one."""
    digits = RANK.search(title)
    return int(digits[0]) if digits else 0
