from collections.abc import Sequence

import numpy as np
import pytest

from leocod.plugins.diagnosis import (
    BETTER,
    CONTROLS,
    WORDS,
    Diagnosis,
    improve,
    missed_ignored,
    no_errors,
    right_labels,
)
from leocod.types import Frame, LabelledFrame, Labels, LossWeights, Step

MUG, BOOK, DOG = [0, 0, 10, 10], [20, 20, 30, 30], [40, 40, 50, 50]
TRUTH = Labels([MUG, BOOK], [0, 1])
FOUND = Labels([MUG, BOOK, DOG], [0, 2, 2], unsure=[[5, 5, 9, 9]])
"""The mug is right, the book is called a dog, and where the dog is said to be there is nothing."""


def test_without_the_wrong_ones_the_right_ones_stay() -> None:
    left = right_labels(FOUND, TRUTH)

    assert (left.boxes.tolist(), left.classes.tolist()) == ([MUG], [0])
    assert left.unsure.tolist() == FOUND.unsure.tolist()


def test_missed_objects_are_neither_labels_nor_background() -> None:
    left = missed_ignored(FOUND, TRUTH)

    assert left.boxes.tolist() == FOUND.boxes.tolist()
    assert left.unsure.tolist() == [*FOUND.unsure.tolist(), BOOK]


def test_without_errors_only_the_right_ones_are_taught_and_missed_objects_are_not_background() -> None:
    left = no_errors(FOUND, TRUTH)

    assert (left.boxes.tolist(), left.classes.tolist()) == ([MUG], [0])
    assert left.unsure.tolist() == [*FOUND.unsure.tolist(), BOOK]


def test_nothing_found_and_nothing_there() -> None:
    assert len(right_labels(Labels.none(), TRUTH)) == 0
    assert missed_ignored(Labels.none(), TRUTH).unsure.tolist() == [MUG, BOOK]
    assert len(missed_ignored(Labels.none(), Labels.none()).unsure) == 0


@pytest.mark.parametrize("kind", ["true_boxes", *BETTER])
def test_perfect_labels_are_left_as_they_are(kind: Diagnosis) -> None:
    frames = [Frame(0, "v", 0, (60, 60), np.zeros((60, 60, 3), np.uint8))]

    def truth(frames: Sequence[Frame], labelled: Sequence[LabelledFrame] = ()) -> list[Labels]:
        return [TRUTH for _ in frames]

    [labels] = improve(kind, own=truth, truth=truth)(frames, [])

    assert labels.boxes.tolist() == TRUTH.boxes.tolist()
    assert labels.classes.tolist() == TRUTH.classes.tolist()
    assert len(labels.unsure) == 0


WEIGHTS = LossWeights(proposals=0, boxes=0.5, classes=0.5)


@pytest.fixture
def step() -> Step:
    """Frame 0 is labelled, frames 1 and 2 are not."""
    frames = tuple(Frame(number, "v", number, (60, 80), np.full((60, 80, 3), number, np.uint8)) for number in range(3))
    return Step(7, frames, {0: TRUTH})


@pytest.fixture
def pseudo(step: Step) -> list[LabelledFrame]:
    written = Labels([MUG, DOG], [0, 2], source="pseudo", weights=WEIGHTS, unsure=[BOOK])
    return [(step.frames[1], written), (step.frames[2], Labels([], [], source="pseudo", weights=WEIGHTS))]


def test_every_diagnosis_has_words_and_a_way() -> None:
    assert {"true_boxes", *BETTER, *CONTROLS} == set(WORDS)


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_control_takes_the_place_of_the_pseudo_labelled_frames(
    kind: Diagnosis, step: Step, pseudo: list[LabelledFrame]
) -> None:
    taught = CONTROLS[kind](step, pseudo)

    assert [frame.id for frame, _ in taught] == [1, 2]
    assert {labels.source for _, labels in taught} == {"pseudo"}  # so that no memory keeps them
    assert {(labels.weights.proposals, labels.weights.classes) for _, labels in taught} == {(0, 0.5)}


def test_all_empty_has_neither_labels_nor_doubts(step: Step, pseudo: list[LabelledFrame]) -> None:
    taught = CONTROLS["all_empty"](step, pseudo)

    assert [(len(labels), len(labels.unsure)) for _, labels in taught] == [(0, 0), (0, 0)]


def test_positives_only_leaves_the_background_out(step: Step, pseudo: list[LabelledFrame]) -> None:
    taught = CONTROLS["positives_only"](step, pseudo)

    assert [labels.boxes.tolist() for _, labels in taught] == [[MUG, DOG], []]
    assert {labels.weights.background for _, labels in taught} == {0}


def test_random_boxes_keep_classes_and_sizes_and_stay_in_the_frame(step: Step, pseudo: list[LabelledFrame]) -> None:
    [(_, labels), (_, nothing)] = CONTROLS["random_boxes"](step, pseudo)
    again = CONTROLS["random_boxes"](step, pseudo)[0][1]

    assert labels.classes.tolist() == [0, 2]
    assert np.allclose(labels.boxes[:, 2:] - labels.boxes[:, :2], 10)
    assert (labels.boxes >= 0).all()
    assert (labels.boxes[:, 2:] <= [80, 60]).all()
    assert labels.boxes.tolist() != pseudo[0][1].boxes.tolist()
    assert labels.boxes.tolist() == again.boxes.tolist()  # a resumed run draws the same
    assert len(nothing) == 0


def test_copies_show_the_labelled_frame_with_its_true_labels(step: Step, pseudo: list[LabelledFrame]) -> None:
    taught = CONTROLS["copies"](step, pseudo)

    assert all((frame.image() == 0).all() for frame, _ in taught)
    assert [labels.boxes.tolist() for _, labels in taught] == [TRUTH.boxes.tolist()] * 2


def test_without_a_labelled_frame_there_is_nothing_to_copy(step: Step, pseudo: list[LabelledFrame]) -> None:
    assert CONTROLS["copies"](Step(7, step.frames, {}), pseudo) == []
