"""Routes by their purpose, and what their answers mean."""

from __future__ import annotations

import pytest

from fixtures.probes.log import announced_routes
from fixtures.rehearsal.routes import ROUTES
from recipe.routes import known, sort

# What may be sent to a server that one does not own: nothing that loads, unloads, stops, resets or scales.
BODIES = {"/invocations", "/inference/v1/generate", "/tokenize", "/detokenize"}


@pytest.mark.parametrize(
    ("path", "status", "heading"),
    [
        ("/invocations", 200, "inference"),
        ("/invocations", 405, "inference"),
        ("/invocations", 401, "protected"),
        ("/scale_elastic_ep", 405, "control"),
        ("/v1/models", 401, "protected"),
        ("/v1/models", 200, "harmless"),
        ("/sleep", 404, "not there"),
        ("/surprise", 405, "unknown"),
        ("/health", 500, "harmless"),
    ],
)
def test_a_route_is_sorted_by_answer_and_purpose(path: str, status: int, heading: str) -> None:
    assert sort(path, status) == heading


def test_every_route_that_0_11_2_announces_has_a_purpose() -> None:
    lines = [f"INFO [launcher.py:46] Route: {path}, Methods: {', '.join(methods)}" for path, methods in ROUTES]
    announced = announced_routes("\n".join(lines))

    assert set(announced) <= set(known())
    assert "/v1/responses/x/cancel" in announced
    assert len(announced) == len(set(announced)) > 30


def test_only_harmless_requests_have_a_body() -> None:
    assert {path for path, group in known().items() if group.body is not None} == BODIES


def test_a_coloured_log_announces_too() -> None:
    assert announced_routes("\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO [x] Route: /a/{b}, Methods: GET\nnothing\n") == (
        "/a/x",
    )
