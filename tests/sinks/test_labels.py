import json
from pathlib import Path

import numpy as np
import pytest

from leocod.events import Event, StepLearned
from leocod.labelling import BudgetLabeller
from leocod.sinks.labels import LabelRecord
from leocod.types import Frame, LabelledFrame, Labels


def some_frames(first: int) -> list[LabelledFrame]:
    pixels = np.zeros((4, 4, 3), np.uint8)
    return [(Frame(number, "walk", number, (4, 4), pixels), Labels.none()) for number in range(first, first + 4)]


def test_it_reveals_what_its_labeller_reveals_and_takes_note() -> None:
    record = LabelRecord(BudgetLabeller(2, seed=5))

    revealed = [record.reveal(step, some_frames(10 * step)) for step in range(2)]

    alone = BudgetLabeller(2, seed=5)
    assert [list(one) for one in revealed] == [list(alone.reveal(step, some_frames(10 * step))) for step in range(2)]
    assert record.frames == {step: list(one) for step, one in enumerate(revealed)}
    assert record.count == 4


def test_a_frame_that_is_drawn_again_counts_once() -> None:
    record = LabelRecord(BudgetLabeller(2, seed=5))

    record.reveal(0, some_frames(0))
    record.reveal(0, some_frames(0))

    assert record.count == 2


def test_a_label_for_a_frame_that_cannot_be_read_was_not_given() -> None:
    record = LabelRecord(BudgetLabeller(2, seed=5))
    kept, lost = record.reveal(0, some_frames(0))

    record(StepLearned(0, {}, (kept,), (), (), None, 0, {}, skipped={lost: "broken"}))

    assert record.frames == {0: [kept]}
    assert record.count == 1


def test_the_file_names_the_draw_and_the_frames(events: list[Event], tmp_path: Path) -> None:
    record = LabelRecord(BudgetLabeller(1, seed=5))
    record.path = tmp_path / "labels.json"
    record.reveal(0, some_frames(0))

    for event in events[:3]:
        record(event)

    written = json.loads((tmp_path / "labels.json").read_text())
    assert written == {"per_step": 1, "seed": 5, "nested": False, "frames": {"0": record.frames[0]}}


def test_a_broken_off_run_has_the_file_too(tmp_path: Path) -> None:
    record = LabelRecord(BudgetLabeller(1, seed=5))
    record.path = tmp_path / "labels.json"

    with pytest.raises(KeyboardInterrupt), record:
        record.reveal(0, some_frames(0))
        raise KeyboardInterrupt

    assert json.loads((tmp_path / "labels.json").read_text())["frames"] == {"0": record.frames[0]}
