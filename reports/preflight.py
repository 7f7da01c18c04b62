"""What is refused before a qualification starts, since it would make its order or its outcomes a lie."""

from __future__ import annotations

import re

import pytest

UNWELCOME = {
    "randomly": "pytest-randomly changes the order of tests",
    "random_order": "pytest-random-order changes the order of tests",
    "random-order": "pytest-random-order changes the order of tests",
    "reverse": "pytest-reverse changes the order of tests",
}


def wants_qualification(markexpr: str) -> bool:
    """Tell whether ``-m`` asks for a qualification: it names ``qualify`` and does not exclude it."""
    words = re.findall(r"\w+", markexpr)
    if "qualify" not in words:
        return False
    position = words.index("qualify")
    return position == 0 or words[position - 1] != "not"


def refuse_disorder(config: pytest.Config) -> None:
    """Raise pytest.UsageError for whatever would run tests in parallel, again, or in another order."""
    plugins = config.pluginmanager
    if not plugins.hasplugin("pytest_order"):
        raise pytest.UsageError(
            "pytest-order is not installed or switched off: the stages would not run in order; "
            "install the locked requirements and do not pass '-p no:pytest_order'"
        )
    if config.getoption("numprocesses", default=None) or config.getoption("tx", default=None):
        raise pytest.UsageError("-n runs tests in parallel: a qualification is one ordered run; leave -n out")
    if config.getoption("reruns", default=None):
        raise pytest.UsageError("--reruns hides failures: a qualification judges once; leave --reruns out")
    for name, why in UNWELCOME.items():
        if plugins.hasplugin(name) and not _switched_off(config, name):
            raise pytest.UsageError(f"{why}: switch it off with '-p no:{name}', or uninstall it")


def _switched_off(config: pytest.Config, name: str) -> bool:
    """Tell whether a plugin is there but told to leave the order alone."""
    return name == "randomly" and not config.getoption("randomly_reorganize", default=True)
