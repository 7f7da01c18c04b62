"""Loads the plugins of a qualification: the report first, then the session fixtures in the order of the stages."""

pytest_plugins = [
    "reports.plugin",
    "reports.terminal",
    "fixtures.run",
    "fixtures.host",
    "fixtures.image",
    "fixtures.weights",
    "fixtures.settings",
    "fixtures.sampling",
    "fixtures.service",
    "fixtures.client",
    "fixtures.refusals",
    "fixtures.seeing",
    "fixtures.exposed",
    "fixtures.measuring",
    "fixtures.stop",
]
