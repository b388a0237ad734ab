"""Which detections become pseudo labels. tests/properties/test_nms.py has what holds for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from leocod.errors import UnknownName
from leocod.plugins.confident_labels import (
    ConfidentLabels,
    ConfidentLabelSettings,
    discount,
    select_confident,
    suppress,
)
from leocod.plugins.pseudo_labellers.base import PseudoLabeller, PseudoLabelRequest
from leocod.types import Detections, Frame, Labels


def found(*rows: tuple[float, int, float]) -> Detections:
    """Of each its left side, class and score; boxes are ten pixels wide."""
    boxes = np.array([[left, 0, left + 10, 10] for left, _, _ in rows], np.float32).reshape(-1, 4)
    return Detections(
        boxes, np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows], np.float32)
    )


def test_classes_that_are_not_around_count_less_and_come_later() -> None:
    counted = discount(found((0, 0, 0.9), (20, 1, 0.8)), around=(1,), factor=0.5)

    assert counted.classes.tolist() == [1, 0]
    np.testing.assert_allclose(counted.scores, [0.8, 0.45])


def test_a_factor_of_one_changes_nothing() -> None:
    detections = found((0, 0, 0.9))

    assert discount(detections, around=(), factor=1) is detections


class Seen(PseudoLabeller):
    """Detects a mug and a book in each frame."""

    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        return [found((0, 0, 0.9), (20, 1, 0.8))] * len(request.frames)


def ask(*labelled: Labels) -> PseudoLabelRequest:
    """About one frame, with these labels on frames of the same step."""
    frame = Frame(0, "v", 0, (60, 60), np.zeros((60, 60, 3), np.uint8))
    return PseudoLabelRequest([frame], [(frame, labels) for labels in labelled], lambda images: [], lambda images: [])


@pytest.mark.parametrize(
    ("labelled", "classes"),
    [
        ([Labels([[0, 0, 9, 9]], [1])], [1]),  # 0.9 x 0.5 is not above the threshold
        ([Labels.none()], []),
        ([], [0, 1]),  # nothing is known: no class counts as absent
    ],
    ids=["a book is around", "nothing is around", "no frame is labelled"],
)
def test_only_what_is_around_counts_in_full(labelled: list[Labels], classes: list[int]) -> None:
    confident = ConfidentLabels(ConfidentLabelSettings(labeller=f"{__name__}:Seen", context=0.5))

    [labels] = confident.write(ask(*labelled))

    assert labels.classes.tolist() == classes


class Tiring(PseudoLabeller):
    """Detects one thing less each time, and then refuses to look."""

    left = 2

    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("tired")
        return [found(*[(0, 0, 0.9), (20, 1, 0.8)][: self.left + 1])] * len(request.frames)

    def state_dict(self) -> dict[str, Any]:
        return {"left": self.left}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.left = state["left"]


def test_who_is_only_tried_out_does_not_remember_it() -> None:
    confident = ConfidentLabels(ConfidentLabelSettings(labeller=f"{__name__}:Tiring"))

    tried = [len(*confident.try_out(ask())) for _ in range(3)]

    assert tried == [2, 2, 2]
    assert [len(*confident.write(ask())) for _ in range(2)] == [2, 1]
    with pytest.raises(RuntimeError, match="tired"):
        confident.try_out(ask())
    assert confident.pseudo_labeller.state_dict() == {"left": 0}


def test_a_pseudo_labeller_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UnknownName, match=r"pseudo-labeller.*'slwo'.*slow"):
        ConfidentLabelSettings(labeller="slwo")


def test_of_two_of_a_class_that_overlap_the_better_one_stays() -> None:
    kept = suppress(found((0, 0, 0.6), (1, 0, 0.9), (1, 1, 0.5)), threshold=0.5, most=100)

    assert kept.boxes[:, 0].tolist() == [1, 1]
    assert kept.classes.tolist() == [0, 1]


def test_a_label_is_above_the_threshold_and_what_is_below_is_unsure() -> None:
    labels = select_confident(
        found((0, 0, 0.9), (20, 0, 0.7), (40, 0, 0.2)), above=0.7, unsure_above=0.3, nms_threshold=0.5, most=100
    )

    assert labels.boxes[:, 0].tolist() == [0]
    assert labels.unsure[:, 0].tolist() == [20]
