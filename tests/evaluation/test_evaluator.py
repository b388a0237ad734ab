"""When the evaluator is due, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from leocod.errors import InvalidData
from leocod.evaluation.evaluator import Evaluator, spread_evenly
from leocod.types import Detections, Frame, Image, LabelledFrame, Labels

BOX = np.array([[1, 1, 9, 9]], np.float32)


def a_test_frame(number: int, *, empty: bool = False) -> LabelledFrame:
    """The first pixel holds the number, so that a fake detector can tell the frames apart."""
    frame = Frame(number, "video", number, (10, 12), np.full((10, 12, 3), number, np.uint8))
    return frame, Labels.none() if empty else Labels(BOX, np.array([0]))


def finds_even_frames(images: Sequence[Image]) -> list[Detections]:
    nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32))
    something = Detections(BOX, np.array([0]), np.array([0.9], np.float32))
    return [nothing if image[0, 0, 0] % 2 else something for image in images]


def test_due_after_every_so_many_steps_and_after_the_last() -> None:
    evaluator = Evaluator([], ("mug",), every=3, last_step=7)

    assert [step for step in range(8) if evaluator.due(step)] == [2, 5, 7]


def test_before_the_first_step_it_is_due_only_if_somebody_asks() -> None:
    assert not Evaluator([], ("mug",), every=1, last_step=7).due(-1)
    assert Evaluator([], ("mug",), every=3, last_step=7, start=True).due(-1)


def test_gives_precision_by_name_and_detections_by_frame() -> None:
    test = [a_test_frame(2), a_test_frame(3), a_test_frame(5, empty=True)]
    evaluator = Evaluator(test, ("mug", "pan"), every=1, last_step=0)

    by_class, detections = evaluator.evaluate(finds_even_frames)

    # One of two objects found, nothing wrong: precision 1 at the recall levels 0 to 0.50, which are 51 of 101.
    assert by_class == {"mug": pytest.approx(51 / 101), "pan": None}
    assert {frame: len(one) for frame, one in detections.items()} == {2: 1, 3: 0, 5: 0}


def test_voc_precision_comes_under_its_own_name() -> None:
    test = [a_test_frame(2), a_test_frame(3)]
    evaluator = Evaluator(test, ("mug",), every=1, last_step=0, style="voc")

    by_class, _ = evaluator.evaluate(finds_even_frames)

    # One of two objects found, nothing wrong: precision 1 over half of the recall.
    assert by_class == {"mug": pytest.approx(1 / 2)}
    assert evaluator.ap_name == "VOC AP50"


def test_every_frame_is_asked_for_once_in_batches() -> None:
    asked: list[int] = []

    def predict(images: Sequence[Image]) -> list[Detections]:
        asked.append(len(images))
        return finds_even_frames(images)

    Evaluator([a_test_frame(n) for n in range(5)], ("mug",), every=1, last_step=0, batch=2).evaluate(predict)

    assert asked == [2, 2, 1]


def test_frames_with_the_same_id_are_refused() -> None:
    with pytest.raises(InvalidData, match="2 test frames have only 1 different ids"):
        Evaluator([a_test_frame(1), a_test_frame(1)], ("mug",), every=1, last_step=0)


def test_every_must_be_positive() -> None:
    with pytest.raises(ValueError, match="every is 0"):
        Evaluator([], ("mug",), every=0, last_step=0)


def test_a_few_frames_are_evenly_spread_over_all_of_them() -> None:
    test = [a_test_frame(number) for number in range(9)]
    evaluator = Evaluator(test, ("mug",), every=1, last_step=0, frames=3)

    _, detections = evaluator.evaluate(finds_even_frames)

    assert list(detections) == [0, 4, 8]
    assert [frame.id for frame, _ in evaluator.test] == [0, 4, 8]


def test_more_frames_than_there_are_is_all_of_them() -> None:
    evaluator = Evaluator([a_test_frame(0), a_test_frame(1)], ("mug",), every=1, last_step=0, frames=100)

    assert len(evaluator.test) == 2


def test_a_frame_whose_labels_are_not_complete_is_no_truth() -> None:
    test = [a_test_frame(number) for number in range(4)]
    test[2] = test[2][0], replace(test[2][1], complete=False)

    evaluator = Evaluator(test, ("mug",), every=1, last_step=0)

    assert [frame.id for frame, _ in evaluator.test] == [0, 1, 3]
    assert list(evaluator.evaluate(finds_even_frames)[1]) == [0, 1, 3]


def test_positions_are_spread_and_never_twice() -> None:
    assert spread_evenly(100, 3) == [0, 50, 99]
    assert spread_evenly(2, 8) == [0, 1]
    assert spread_evenly(0, 8) == []
    assert spread_evenly(1, 1) == [0]
