"""The whole staged run on a real engine: pull, build, start, serve, judge, stop."""

from __future__ import annotations

from tests.engine.conftest import Deployed


def test_all_stages_on_a_real_engine(deployed: Deployed) -> None:
    ended = deployed()

    assert (ended.status, ended.verdict) == (0, "QUALIFIED"), ended.output
    assert deployed.lab.containers() == []
