import json
from pathlib import Path

import pytest
import torch

from leocod.events import Event, StepArrived, StepLearned
from leocod.run.record.labels import LabelRecord
from leocod.types import Effort

CHOICE = {"name": "random", "per_step": 2, "seed": 5}


@pytest.fixture
def record(tmp_path: Path) -> LabelRecord:
    return LabelRecord(tmp_path / "labels.json", CHOICE)


def test_it_notes_what_is_told_with_each_step(record: LabelRecord) -> None:
    record(StepArrived(0, {0: (3, 4)}))
    record(StepArrived(1, {1: (13, 14)}))

    assert record.frames == {0: [3, 4], 1: [13, 14]}
    assert record.count == 4


def test_offline_training_tells_all_steps_with_the_first(record: LabelRecord) -> None:
    record(StepArrived(0, {0: (3, 4), 1: (13,), 2: ()}))
    record(StepArrived(1))

    assert record.frames == {0: [3, 4], 1: [13]}


def test_a_step_that_is_told_again_counts_once(record: LabelRecord) -> None:
    record.add(0, [1, 2])
    record.add(0, [1, 2])

    assert record.count == 2


def test_a_label_for_a_frame_that_cannot_be_read_was_not_given(record: LabelRecord) -> None:
    record.add(0, [1, 2])

    record(StepLearned(0, {}, (1,), (), (), None, 0, {}, skipped={2: "broken"}))

    assert record.frames == {0: [1]}
    assert record.count == 1


def test_the_file_says_how_frames_were_chosen_and_which(record: LabelRecord, events: list[Event]) -> None:
    record.add(0, [1])

    for event in events:
        record(event)

    assert json.loads(record.path.read_text()) == {**CHOICE, "frames": {"0": [1]}}


def test_an_interrupted_run_has_the_file_too(record: LabelRecord) -> None:
    with pytest.raises(KeyboardInterrupt), record:
        record.add(0, [7])
        raise KeyboardInterrupt

    assert json.loads(record.path.read_text())["frames"] == {"0": [7]}


def test_resumed_from_a_state_it_knows_earlier_labels_and_counts_no_step_twice(tmp_path: Path) -> None:
    record, again = (LabelRecord(tmp_path / "labels.json", CHOICE) for _ in range(2))
    for step in range(2):
        record.add(step, [10 * step, 10 * step + 1])
    state = record.state_dict()
    record.add(2, [20, 21])

    again.load_state_dict(state)
    assert again.frames == {step: record.frames[step] for step in range(2)}
    for step in range(3):
        again.add(step, [10 * step, 10 * step + 1])

    assert again.frames == record.frames


def test_frames_are_kept_as_plain_numbers(record: LabelRecord) -> None:
    for step in range(1000):
        record.add(step, [10 * step, 10 * step + 1])

    assert sum(one.itemsize * len(one) for one in record._columns.values()) == 1000 * 2 * 32


def test_some_of_very_many_labels_are_forgotten_and_the_rest_saved(tmp_path: Path) -> None:
    record, again = (LabelRecord(tmp_path / "labels.json", CHOICE) for _ in range(2))
    many = torch.arange(1_000_000)
    record.load_state_dict({"until": 499_999, "steps": many // 2, "ids": many})

    record.forget([2, 999_999, 5_000_000])
    state = record.state_dict()

    again.load_state_dict(state)
    assert again.count == record.count == 999_998
    assert [state["ids"][:4].tolist(), state["steps"][:4].tolist()] == [[0, 1, 3, 4], [0, 0, 1, 2]]
    assert [state["ids"][-2:].tolist(), state["steps"][-2:].tolist()] == [[999_997, 999_998], [499_998, 499_999]]
    record.add(500_000, [2_000_000, 2_000_001])
    assert record.count == 1_000_000
    assert len(state["ids"]) == 999_998


def test_where_nothing_was_labelled_there_is_nothing_to_forget(record: LabelRecord) -> None:
    record.forget([2])

    assert {name: len(record.state_dict()[name]) for name in ("steps", "ids")} == {"steps": 0, "ids": 0}


def test_what_a_person_did_is_added_up(record: LabelRecord) -> None:
    record(StepArrived(0, {0: {3: Effort(2, 17.0), 4: Effort(0, 3.0)}}))
    record(StepArrived(1, {1: {13: Effort(1, 10.5)}}))

    assert (record.count, record.boxes, record.seconds) == (3, 3, 30.5)


def test_where_nobody_says_what_a_label_took_it_is_not_known(record: LabelRecord) -> None:
    assert (record.boxes, record.seconds) == (0, 0)
    record(StepArrived(0, {0: {3: Effort(2, 17.0)}}))
    record(StepArrived(1, {1: (13,)}))

    assert (record.count, record.boxes, record.seconds) == (2, None, None)


def test_a_frame_that_is_forgotten_took_nothing_and_the_rest_goes_on_from_a_state(tmp_path: Path) -> None:
    record, again = (LabelRecord(tmp_path / "labels.json", CHOICE) for _ in range(2))
    record.add(0, {1: Effort(2, 17.0), 2: Effort(5, 38.0)})

    record.forget([2])
    again.load_state_dict(record.state_dict())
    again.add(1, {3: Effort(1, 10.0)})

    assert (again.count, again.boxes, again.seconds) == (2, 3, 27.0)
