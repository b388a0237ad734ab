import json
from pathlib import Path

import numpy as np
import pytest
import torch

from leocod.events import Event, StepLearned
from leocod.labelling.budget import BudgetLabeller
from leocod.run.record.labels import LabelRecord
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

    for event in events:
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


def test_gone_on_from_a_state_it_knows_what_was_revealed_before_and_counts_no_step_twice() -> None:
    record, again = (LabelRecord(BudgetLabeller(2, seed=5)) for _ in range(2))
    for step in range(2):
        record.reveal(step, some_frames(10 * step))
    state = record.state_dict()
    record.reveal(2, some_frames(20))

    again.load_state_dict(state)
    assert again.frames == {step: record.frames[step] for step in range(2)}
    for step in range(3):
        again.reveal(step, some_frames(10 * step))

    assert again.frames == record.frames


def test_frames_are_kept_as_plain_numbers() -> None:
    record = LabelRecord(BudgetLabeller(2, seed=5))

    for step in range(1000):
        record.reveal(step, some_frames(10 * step))

    assert sum(one.itemsize * len(one) for one in (record._steps, record._ids)) == 1000 * 2 * 16


def test_some_of_very_many_labels_are_forgotten_and_the_rest_saved() -> None:
    record, again = (LabelRecord(BudgetLabeller(2, seed=5)) for _ in range(2))
    many = torch.arange(1_000_000)
    record.load_state_dict({"until": 499_999, "steps": many // 2, "ids": many})

    record.forget({2: "broken", 999_999: "broken", 5_000_000: "not labelled"})
    state = record.state_dict()

    again.load_state_dict(state)
    assert again.count == record.count == 999_998
    assert [state["ids"][:4].tolist(), state["steps"][:4].tolist()] == [[0, 1, 3, 4], [0, 0, 1, 2]]
    assert [state["ids"][-2:].tolist(), state["steps"][-2:].tolist()] == [[999_997, 999_998], [499_998, 499_999]]
    record.reveal(500_000, some_frames(2_000_000))
    assert record.count == 1_000_000
    assert len(state["ids"]) == 999_998


def test_where_nothing_was_labelled_there_is_nothing_to_forget() -> None:
    record = LabelRecord(BudgetLabeller(0, seed=5))

    record.forget({2: "broken"})

    assert {name: len(record.state_dict()[name]) for name in ("steps", "ids")} == {"steps": 0, "ids": 0}
