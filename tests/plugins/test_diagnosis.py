from collections.abc import Sequence

import numpy as np
import pytest

from leocod.plugins.diagnosis import WORDS, Diagnosis, diagnose, missed_ignored, no_errors, right_labels
from leocod.types import Frame, Labels

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


@pytest.mark.parametrize("kind", WORDS)
def test_perfect_labels_are_left_as_they_are(kind: Diagnosis) -> None:
    frames = [Frame(0, "v", 0, (60, 60), np.zeros((60, 60, 3), np.uint8))]

    def truth(frames: Sequence[Frame]) -> list[Labels]:
        return [TRUTH for _ in frames]

    [labels] = diagnose(kind, own=truth, truth=truth)(frames)

    assert labels.boxes.tolist() == TRUTH.boxes.tolist()
    assert labels.classes.tolist() == TRUTH.classes.tolist()
    assert len(labels.unsure) == 0
