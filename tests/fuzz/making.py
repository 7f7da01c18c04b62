"""How input is made up: real text and bytes, changed in a few places."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CASES = int(os.environ.get("FUZZ_CASES", "200"))
HANGS = timedelta(seconds=5)  # any single input
fuzz = settings(
    max_examples=CASES,
    derandomize="FUZZ_CASES"
    not in os.environ,  # the same inputs in every ordinary run; others where they are asked for
    deadline=HANGS,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)

PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-(1 << 70), 1 << 70), st.floats(), st.text(max_size=20))
JSON = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def changed_bytes(draw: st.DrawFn, original: bytes) -> bytes:
    """Bytes with up to four places cut out, doubled, overwritten or filled in."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        until = min(len(data), at + draw(st.integers(0, 40)))
        new = draw(st.one_of(st.binary(max_size=12), st.just(b""), st.just(bytes(data[at:until]) * 2)))
        data[at:until] = new
    return bytes(data)


@st.composite
def changed_lines(draw: st.DrawFn, original: str) -> str:
    """Text with up to four lines lost, doubled, moved, or with another value."""
    values = st.sampled_from(
        ['""', "0", "-1", "1e400", "true", "[]", "{}", "nan", "'\\'", '"\\u0000"', "2027-02-30", "=", '"x"']
    )
    lines = original.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        how = draw(st.sampled_from(["lose", "double", "move", "value", "name", "noise"]))
        if how == "lose" and len(lines) > 1:
            del lines[at]
        elif how == "double":
            lines.insert(at, line)
        elif how == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
        elif how == "value":
            lines[at] = f"{line.partition('=')[0]}= {draw(values | st.text(max_size=12))}\n"
        elif how == "name":
            lines[at] = f"{draw(st.text(max_size=8))}={line.partition('=')[2]}"
        else:
            lines.insert(at, draw(st.text(max_size=30)) + "\n")
    return "".join(lines)


@st.composite
def changed_json(draw: st.DrawFn, original: Any) -> Any:
    """Plain values with up to three places lost, doubled or replaced by others."""
    value = json.loads(json.dumps(original))
    for _ in range(draw(st.integers(1, 3))):
        place: Any = {"": value}
        key: Any = ""
        while isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place, key = place[key], draw(st.sampled_from(_keys(place[key])))
        if draw(st.integers(0, 3)) or key == "":
            place[key] = draw(JSON)
        else:
            del place[key]
        value = place[""] if "" in place and len(place) == 1 and key == "" else value
    return value


def _keys(value: dict[str, Any] | list[Any]) -> list[Any]:
    return sorted(value) if isinstance(value, dict) else list(range(len(value)))
