"""Every detection is right or one error; every object is found, explained or missed."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.evaluation.error_breakdown import LOWEST_SCORE, ErrorCounts, count_errors
from leocod.types import Detections, Labels

Box = tuple[float, float, float, float]

HERE: Box = (0, 0, 10, 10)
ALMOST: Box = (0, 0, 10, 9)  # IoU 0.9 with HERE
POOR: Box = (0, 0, 10, 3)  # IoU 0.3
FAR: Box = (0, 0, 10, 0.9)  # IoU 0.09
ELSEWHERE: Box = (50, 50, 60, 60)
MUG, CAR = 0, 1


def truth(*marks: tuple[Box, int]) -> dict[int, Labels]:
    return {7: Labels(np.array([box for box, _ in marks]), np.array([category for _, category in marks]))}


def found(*marks: tuple[Box, int, float]) -> dict[int, Detections]:
    boxes, classes, scores = (list(values) for values in zip(*marks, strict=True)) if marks else ([], [], [])
    return {7: Detections(np.array(boxes, np.float32).reshape(-1, 4), np.array(classes), np.array(scores, np.float32))}


def kinds(counts: ErrorCounts) -> dict[str, int]:
    return {kind: count for kind, count in counts.total.items() if count}


@pytest.mark.parametrize(
    ("detections", "expected"),
    [
        (found((ALMOST, MUG, 0.9)), {"right": 1}),
        (found((POOR, MUG, 0.9)), {"badly_placed": 1}),
        (found((ALMOST, CAR, 0.9)), {"wrong_class": 1}),
        (found((HERE, MUG, 0.9), (ALMOST, MUG, 0.8)), {"right": 1, "duplicate": 1}),
        (found((ELSEWHERE, MUG, 0.9)), {"background": 1, "missed": 1}),
        (found((FAR, MUG, 0.9)), {"background": 1, "missed": 1}),
        # Wrong class and badly placed.
        (found((POOR, CAR, 0.9)), {"background": 1, "missed": 1}),
        (found((HERE, MUG, LOWEST_SCORE - 0.01)), {"missed": 1}),
        (found((HERE, MUG, LOWEST_SCORE + 0.01)), {"right": 1}),
        (found(), {"missed": 1}),
        ({}, {"missed": 1}),
    ],
)
def test_each_kind_of_error_by_hand(detections: dict[int, Detections], expected: dict[str, int]) -> None:
    assert kinds(count_errors(detections, truth((HERE, MUG)), 2)) == {"objects": 1, **expected}


def test_the_best_score_is_right_and_the_other_a_duplicate_whatever_their_order() -> None:
    counts = count_errors(found((ALMOST, MUG, 0.5), (HERE, MUG, 0.9)), truth((HERE, MUG)), 2)

    assert kinds(counts) == {"objects": 1, "right": 1, "duplicate": 1}


def test_a_second_detection_takes_the_next_free_object() -> None:
    counts = count_errors(found((HERE, MUG, 0.9), (HERE, MUG, 0.8)), truth((HERE, MUG), (ALMOST, MUG)), 2)

    assert kinds(counts) == {"objects": 2, "right": 2}


def test_a_poor_box_of_its_class_comes_before_a_good_one_of_another() -> None:
    # As in TIDE: IoU 0.3 with the mug, and 1 with the car.
    counts = count_errors(found((POOR, MUG, 0.9)), truth((HERE, MUG), (POOR, CAR)), 2)

    assert kinds(counts) == {"objects": 2, "badly_placed": 1, "missed": 1}
    assert counts.of_class(CAR) == dict.fromkeys(counts.total, 0) | {"objects": 1, "missed": 1}


def test_detections_count_for_the_class_they_say_and_objects_for_their_own() -> None:
    counts = count_errors(found((HERE, CAR, 0.9), (ELSEWHERE, CAR, 0.9)), truth((HERE, MUG)), 2)

    assert counts.wrong_class.tolist() == [0, 1]
    assert counts.background.tolist() == [0, 1]
    assert counts.objects.tolist() == [1, 0]
    # The mug is seen, as something else.
    assert counts.missed.tolist() == [0, 0]


def test_an_object_that_was_found_explains_no_error_away() -> None:
    # The second is badly placed at an object that is taken: the other object is missed all the same.
    counts = count_errors(found((HERE, MUG, 0.9), (POOR, MUG, 0.8)), truth((HERE, MUG), (ELSEWHERE, MUG)), 2)

    assert kinds(counts) == {"objects": 2, "right": 1, "badly_placed": 1, "missed": 1}


def test_frames_without_truth_have_background_only() -> None:
    assert kinds(count_errors(found((HERE, MUG, 0.9)), {7: Labels.none()}, 2)) == {"background": 1}


def iou(one: np.ndarray, two: np.ndarray) -> float:
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    shared = max(width, 0.0) * max(height, 0.0)
    areas = (one[2] - one[0]) * (one[3] - one[1]) + (two[2] - two[0]) * (two[3] - two[1])
    return float(shared / (areas - shared))


def by_definition(detections: Detections, labels: Labels) -> dict[str, int]:
    """One detection at a time, in plain words."""
    boxes, true_boxes = detections.boxes.astype(float), labels.boxes.astype(float)
    sure = [number for number in range(len(detections)) if detections.scores[number] >= LOWEST_SCORE]
    sure.sort(key=lambda number: -detections.scores[number])
    counts = dict.fromkeys(("right", "badly_placed", "wrong_class", "duplicate", "background", "missed"), 0)
    taken: set[int] = set()
    explained: set[int] = set()
    wrong = []

    def best(number: int, objects: list[int]) -> tuple[float, int]:
        return max(((iou(boxes[number], true_boxes[one]), one) for one in objects), default=(0.0, -1))

    for number in sure:
        same = [one for one in range(len(labels)) if labels.classes[one] == detections.classes[number]]
        overlap, box = best(number, [one for one in same if one not in taken])
        if overlap >= 0.5:
            taken.add(box)
            counts["right"] += 1
        else:
            wrong.append((number, same))
    for number, same in wrong:
        of_class, near = best(number, same)
        of_others, other = best(number, [one for one in range(len(labels)) if one not in same])
        if 0.1 <= of_class < 0.5:
            counts["badly_placed"] += 1
            explained.add(near)
        elif of_others >= 0.5:
            counts["wrong_class"] += 1
            explained.add(other)
        else:
            counts["duplicate" if of_class >= 0.5 else "background"] += 1
    counts["missed"] = len(set(range(len(labels))) - taken - explained)
    return counts


@pytest.mark.parametrize("seed", range(30))
def test_counts_are_those_of_the_definition_and_add_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 20, (6, 2))
    labels = Labels(np.hstack([corners, corners + random.uniform(5, 15, (6, 2))]), random.integers(0, 2, 6))
    near = random.integers(0, 6, 12)
    boxes = np.maximum(labels.boxes[near] + random.normal(0, 2, (12, 4)), 0).astype(np.float32)
    boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
    detections = Detections(boxes, random.integers(0, 2, 12), random.random(12).astype(np.float32))

    counts = count_errors({1: detections}, {1: labels}, 2)

    assert {kind: counts.total[kind] for kind in by_definition(detections, labels)} == by_definition(detections, labels)
    errors = sum(counts.total[kind] for kind in ("right", "badly_placed", "wrong_class", "duplicate", "background"))
    assert errors == (detections.scores >= LOWEST_SCORE).sum()
    assert counts.total["objects"] == 6
