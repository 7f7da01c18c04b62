"""Bars: each lies within the picture, with a text that says the same."""

from __future__ import annotations

from reports.bars import LABELS, ROW, SHOWN, VALUES, rates, timeline
from reports.document import StageRun
from reports.drawing import WIDTH
from reports.provenance import ModelFile


def file(name: str, size: int, seconds: float = 1.0, *, received: bool = False) -> ModelFile:
    moved = {"read": 0, "received": size} if received else {"read": size, "received": 0}
    return ModelFile(name=name, bytes=size, sha256="", seconds=seconds, **moved)


def test_stages_follow_each_other() -> None:
    stages = [
        StageRun("HST", "Host", 100.0, 1.0),
        StageRun("IMG", "Image", 101.0, 3.0),
        StageRun("RMV", "x", None, 0.0),
    ]
    made = timeline(stages)

    assert [bar.label for bar in made.bars] == ["HST Host", "IMG Image"]
    assert made.bars[0].left == LABELS
    assert made.bars[1].left == LABELS + made.bars[0].width
    assert made.bars[1].left + made.bars[1].width == WIDTH - VALUES
    assert made.summary == "Stages by time: HST Host 1.0 s; IMG Image 3.0 s"
    assert made.caption == "The whole run: 4.0 s from the first stage on."


def test_a_run_that_reached_nothing_can_be_drawn() -> None:
    assert timeline([]).height == ROW


def test_the_biggest_files_are_shown_with_rate_and_way() -> None:
    made = rates([file("small", 10_000), file("big.safetensors", 2_000_000_000, 4.0, received=True), file("gone", 0)])
    assert made is not None

    assert [(bar.label, bar.value) for bar in made.bars] == [
        ("big.safetensors", "500 MB/s, received"),
        ("small", "0.01 MB/s, read"),
    ]
    assert all(bar.left >= LABELS and bar.left + bar.width <= WIDTH - VALUES for bar in made.bars)


def test_of_many_files_the_caption_says_how_many_are_left_out() -> None:
    made = rates([file(f"{'very-long-name-' * 5}{n}", n + 1) for n in range(SHOWN + 5)])
    assert made is not None

    assert len(made.bars) == SHOWN
    assert made.caption.endswith(f"The {SHOWN} biggest of {SHOWN + 5}.")
    assert max(len(bar.label) for bar in made.bars) <= 34


def test_without_a_byte_there_is_no_drawing() -> None:
    assert rates([]) is None
