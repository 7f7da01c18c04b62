"""What session fixtures say to the report and ask of it, through the hooks of `reports.hooks`."""

from __future__ import annotations

import msgspec

from recipe.values import Secret
from reports import plan
from reports.bundle import Bundle
from reports.interrupts import Interrupts


class Exchange:
    """A pytest plugin object beside `Qualification`, over the same bundle."""

    def __init__(self, bundle: Bundle, interrupts: Interrupts) -> None:
        self._bundle = bundle
        self._ledger = bundle.ledger
        self._interrupts = interrupts

    def pytest_qualify_secret(self, secret: Secret) -> None:
        self._bundle.redactor.add(secret)

    def pytest_qualify_artefact(self, name: str, content: bytes | str) -> str:
        return self._bundle.evidence.artefact(name, content)

    def pytest_qualify_plan(self, lines: tuple[str, ...]) -> None:
        self._bundle.plan = plan.text(self._ledger.catalogue, self._ledger.rows, lines)
        self._bundle.evidence.artefact("plan.txt", f"{self._bundle.plan}\n")

    def pytest_qualify_leaks(self) -> list[str]:
        return self._bundle.evidence.leaks()

    def pytest_qualify_server_started(self) -> None:
        self._ledger.server_started = True

    def pytest_qualify_qualifies(self) -> bool:
        return self._ledger.verdict(interrupted=self._interrupts.received is not None).qualifies

    def pytest_qualify_left_running(self, name: str) -> None:
        self._ledger.conditions = msgspec.structs.replace(self._ledger.conditions, left_running=name)
