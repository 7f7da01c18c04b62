"""Whether a qualification still holds, asked of a real engine: a whole qualification, then what may change after it."""

from __future__ import annotations

from tests.engine.conftest import SERVER, TAG, Deployed
from tests.engine.lab import Lab
from tests.running import Ended


def lines(ended: Ended) -> dict[str, str]:
    """Return state and words of each aspect, by its name."""
    rows = [line.split(maxsplit=2) for line in ended.output.splitlines()]
    return {name: f"{state} {told}" for state, name, told in (row for row in rows if len(row) == 3)}


def test_a_qualification_holds_until_something_changes(deployed: Deployed, lab: Lab) -> None:
    deployed.without_a_simulated_host()
    ended = deployed("--leave-running")
    assert ended.verdict == "QUALIFIED", ended.output
    image = str(lab.client.images.get(TAG).id)

    running = deployed.qualify.reports("status", ended.bundle)
    assert (running.status, running.last_line) == (0, "The qualification holds."), running.output
    assert lines(running)["image"] == f"holds {image}"
    assert lines(running)["arguments"].startswith("holds /model --served-model-name")
    key = (deployed.workdir / ".api-key").read_text(encoding="utf-8").strip()
    assert key not in running.output

    lab.client.containers.get(SERVER).remove(force=True)
    stopped = deployed.qualify.reports("status", ended.bundle)
    assert stopped.status == 0, stopped.output
    assert lines(stopped)["arguments"].startswith("holds no server of that name runs now")

    with (deployed.workdir / "model" / "config.json").open("a", encoding="utf-8") as file:
        file.write(" ")
    lab.client.images.remove(TAG, force=True)
    changed = deployed.qualify.reports("status", ended.bundle)
    assert changed.status == 1
    assert lines(changed)["files"].startswith("changed not as they were: config.json in ")
    assert lines(changed)["image"].startswith(f"changed was {image}, now: ")
    assert "a new run must judge again: image and service; weights and service." in changed.output


def test_an_engine_that_is_gone_is_unknown_and_not_held(deployed: Deployed, lab: Lab) -> None:
    ended = deployed()
    deployed.qualify._environment = {**lab.environment, "DOCKER_HOST": "unix:///nowhere.sock"}

    asked = deployed.qualify.reports("status", ended.bundle)

    assert asked.status == 1
    assert lines(asked)["image"].startswith("unknown was sha256:")
    assert lines(asked)["arguments"].startswith("unknown the server that may run: ")
    assert "Traceback" not in asked.output
