"""AP50 against pycocotools, against thirty lines of numpy, and against tables one can check in one's head."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Mapping
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as draw
from pycocotools import mask

from leocod.boxes import pairwise_iou
from leocod.errors import InvalidData
from leocod.evaluation import ap
from leocod.evaluation.ap import Matches, Scorer, Style, average_precision
from leocod.types import Detections, Labels

HERE, THERE = [0, 0, 10, 10], [20, 20, 30, 30]
CLASSES = 5


def found(*marks: tuple[list[float], int, float]) -> Detections:
    boxes, classes, scores = zip(*marks, strict=True) if marks else ([], [], [])
    return Detections(
        np.array(boxes, np.float32).reshape(-1, 4), np.array(classes, np.int64), np.array(scores, np.float32)
    )


def true(*marks: tuple[list[float], int]) -> Labels:
    boxes, classes = zip(*marks, strict=True) if marks else ([], [])
    return Labels(np.array(boxes, np.float32).reshape(-1, 4), np.array(classes, np.int64))


def numpy_precision(detections: Mapping[int, Detections], truth: Mapping[int, Labels], category: int) -> float:
    """COCO's definition once more, as short as it gets."""
    objects = sum(int((labels.classes == category).sum()) for labels in truth.values())
    if not objects:
        return float("nan")
    scores: list[float] = []
    right: list[bool] = []
    for frame in sorted(truth):
        one = detections.get(frame, found())
        chosen = [n for n in np.argsort(-one.scores, kind="stable") if one.classes[n] == category][:100]
        free = list(truth[frame].boxes[truth[frame].classes == category].astype(float))
        for number in chosen:
            overlaps = [overlap(one.boxes[number].astype(float), box) for box in free]
            hit = bool(overlaps) and max(overlaps) >= 0.5
            if hit:
                # COCO takes the last of equally good true boxes.
                free.pop(max(range(len(free)), key=lambda n: (overlaps[n], n)))
            scores.append(float(one.scores[number]))
            right.append(hit)
    hits = np.cumsum(np.array(right, bool)[np.argsort(-np.array(scores), kind="stable")])
    recall, precision = hits / objects, hits / np.arange(1, len(hits) + 1)
    levels = np.linspace(0, 1, 101)
    return float(np.mean([precision[recall >= level].max(initial=0.0) for level in levels]))


def overlap(box: np.ndarray, other: np.ndarray) -> float:
    sides = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
    shared = float(np.clip(sides, 0, None).prod())
    return shared / (float((box[2:] - box[:2]).prod() + (other[2:] - other[:2]).prod()) - shared)


def a_random_test_set(seed: int) -> tuple[dict[int, Detections], dict[int, Labels]]:
    """Whatever may make a difference, often.

    Tied scores (one decimal) in no order, the same box twice among the true and among the detected ones, several true
    boxes for a detection to choose from, IoUs that are equal and IoUs of exactly one half, boxes without an area, more
    than 100 detections of a class in a frame, frames without truth or detections, and classes without truth (3 and 4).
    """
    random = np.random.default_rng(seed)
    truth, detections = {}, {}
    for frame in random.permutation(12).tolist():
        objects = int(random.integers(0, 5))
        corners = random.integers(0, 5, (objects, 2))
        boxes = np.concatenate([corners, corners + random.integers(8, 12, (objects, 2))], axis=1).astype(np.float32)
        classes = random.integers(0, 3, objects)
        again = random.integers(0, objects, 2 if objects and random.random() < 0.5 else 0)
        boxes, classes = np.concatenate([boxes, boxes[again]]), np.concatenate([classes, classes[again]])
        truth[frame] = Labels(boxes, classes)
        if random.random() < 0.2:
            continue
        count = 150 if frame == 3 else int(random.integers(0, 20))
        detections[frame] = near(truth[frame], count, random)
    return detections, truth


def near(truth: Labels, count: int, random: np.random.Generator) -> Detections:
    """Detections that are moved true boxes, halves of them, nothing but a line of them, or somewhere else."""
    elsewhere = np.array([[100, 100, 110, 110]], np.float32)
    known, names = np.concatenate([truth.boxes, elsewhere]), np.append(truth.classes, random.integers(0, CLASSES))
    which = random.integers(0, 1 if count > 100 else len(known), count)
    boxes = known[which] + random.integers(-2, 3, (count, 4)) * (random.random((count, 1)) < 0.6)
    kinds = random.random(count)
    boxes[kinds < 0.2, 3] = boxes[kinds < 0.2, 1::2].mean(axis=1)
    boxes[kinds > 0.9, 2] = boxes[kinds > 0.9, 0]
    classes = np.where(random.random(count) < 0.1, random.integers(0, CLASSES, count), names[which])
    return Detections(boxes.astype(np.float32), classes, (random.integers(0, 10, count) / 10).astype(np.float32))


@pytest.mark.parametrize("seed", range(20))
def test_is_what_pycocotools_says_to_the_last_bit(seed: int, pycocotools: ModuleType) -> None:
    detections, truth = a_random_test_set(seed)

    result = average_precision(detections, truth, CLASSES)

    assert 0 < np.nanmax(result) < 1
    np.testing.assert_array_equal(result, pycocotools.precision(detections, truth, CLASSES))


@pytest.mark.parametrize("seed", range(10))
def test_equals_numpy(seed: int) -> None:
    detections, truth = a_random_test_set(seed)

    result = average_precision(detections, truth, CLASSES)

    expected = [numpy_precision(detections, truth, category) for category in range(CLASSES)]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_random_test_sets_hold_what_they_should() -> None:
    sets = [a_random_test_set(seed) for seed in range(20)]
    pairs = [(found, truth[frame]) for detections, truth in sets for frame, found in detections.items()]
    overlaps = [pairwise_iou(found.boxes, labels.boxes) for found, labels in pairs if len(found) and len(labels)]

    assert any(np.bincount(found.classes).max(initial=0) > 100 for found, _ in pairs)
    assert sum(bool((overlap == 0.5).any()) for overlap in overlaps) > 20
    assert (
        sum(bool(((overlap == overlap.max(axis=1, keepdims=True)).sum(axis=1) > 1).any()) for overlap in overlaps) > 20
    )
    assert any((found.boxes[:, 0] == found.boxes[:, 2]).any() for found, _ in pairs)
    assert any(len(found) and not len(labels) for found, labels in pairs)
    assert any(set(truth) - set(detections) for detections, truth in sets)


def test_an_overlap_is_just_enough_when_it_is_so_for_pycocotools() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        # Near 0 a box has digits that its sides, and the product of its sides, have no room for.
        corner = 10 ** random.uniform(-6, 3, 2)
        here = np.array([*corner, *corner + random.uniform(10, 300, 2)], np.float32)
        moved = (here + random.uniform(-4, 4, 4)).astype(np.float32)
        sides = [[x1, y1, x2 - x1, y2 - y1] for x1, y1, x2, y2 in (moved.tolist(), here.tolist())]
        overlap = float(mask.iou(sides[:1], sides[1:], [0])[0, 0])
        case = {1: found((moved.tolist(), 0, 0.9))}, {1: true((here.tolist(), 0))}

        enough, too_much = (
            average_precision(*case, 1, iou=iou)[0] for iou in (overlap, float(np.nextafter(overlap, 1)))
        )

        assert (enough, too_much) == (pytest.approx(1.0), 0.0)


def test_an_overlap_of_one_may_be_a_rounding_error_less(pycocotools: ModuleType) -> None:
    almost = {1: found(([0, 0, 100, 100], 0, 0.9))}, {1: true(([1e-9, 0, 100, 100], 0))}

    result = average_precision(*almost, 1, iou=1.0)

    assert result[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(result, pycocotools.precision(*almost, 1, iou=1.0))


LEFT, RIGHT, BETWEEN = [0, 0, 10, 10], [4, 0, 14, 10], [2, 0, 12, 10]


@pytest.mark.parametrize(
    ("style", "order", "expected"),
    [
        ("coco", [LEFT, RIGHT], 1.0),
        ("coco", [RIGHT, LEFT], 51 / 101),
        ("voc", [LEFT, RIGHT], 1 / 2),
        ("voc", [RIGHT, LEFT], 1.0),
    ],
)
def test_of_equally_good_true_boxes_coco_takes_the_last_and_voc_the_first(
    style: Style, order: list[list[float]], expected: float
) -> None:
    truth = {1: true(*[(box, 0) for box in order])}
    only_left = [-2, 0, 8, 10]

    result = average_precision({1: found((BETWEEN, 0, 0.9), (only_left, 0, 0.8))}, truth, 1, style=style)

    assert result[0] == pytest.approx(expected)


@pytest.mark.parametrize("order", [[LEFT, RIGHT], [RIGHT, LEFT]])
def test_the_best_true_box_is_taken_whatever_the_order(order: list[list[float]]) -> None:
    truth = {1: true(*[(box, 0) for box in order])}
    nearer_left, only_right = [1, 0, 11, 10], [6, 0, 16, 10]

    result = average_precision({1: found((nearer_left, 0, 0.9), (only_right, 0, 0.8))}, truth, 1)

    assert result[0] == pytest.approx(1.0)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_come_where_pycocotools_puts_them(odd: float, pycocotools: ModuleType) -> None:
    detections, truth = a_random_test_set(0)
    for one in detections.values():
        one.scores[::3] = odd

    result = average_precision(detections, truth, CLASSES)

    np.testing.assert_array_equal(result, pycocotools.precision(detections, truth, CLASSES))


@pytest.mark.parametrize("style", ["coco", "voc"])
@pytest.mark.parametrize("odd", [[np.nan] * 4, [-np.inf, -np.inf, np.inf, np.inf], [np.inf] * 4, [0, 0, np.inf, 10]])
def test_a_box_that_is_not_finite_is_wrong(odd: list[float], style: Style) -> None:
    truth = {1: true((HERE, 0))}

    result = average_precision({1: found((odd, 0, 0.9), (HERE, 0, 0.8))}, truth, 1, style=style)

    assert result[0] == pytest.approx(1 / 2)


@pytest.mark.parametrize("style", ["coco", "voc"])
def test_comparing_piece_by_piece_changes_nothing(style: Style, monkeypatch: pytest.MonkeyPatch) -> None:
    detections, truth = a_random_test_set(0)
    at_once = average_precision(detections, truth, CLASSES, style=style)

    monkeypatch.setattr(ap, "PAIRS_AT_ONCE", 3)

    np.testing.assert_array_equal(average_precision(detections, truth, CLASSES, style=style), at_once)


def test_memory_does_not_grow_with_the_pairs_of_a_crowd() -> None:
    side = np.linspace(0, 500, 1000, dtype=np.float32)
    boxes = np.stack([side, side, side + 10, side + 10], axis=1)
    crowd = Detections(boxes, np.zeros(1000, np.int64), np.ones(1000, np.float32))
    scorer = Scorer({1: Labels(boxes, crowd.classes)}, 1, style="voc")

    tracemalloc.start()
    scorer.score({1: crowd})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # A million pairs: 8 MB for a single number each.
    assert most < 8e6 * 2


corners = draw.tuples(*[draw.integers(0, 6), draw.integers(0, 6), draw.integers(1, 6), draw.integers(1, 6)])
boxes = corners.map(lambda one: [one[0], one[1], one[0] + one[2], one[1] + one[3]])
categories = draw.integers(0, 2)
frames_of_truth = draw.lists(draw.tuples(boxes, categories), max_size=4).map(lambda marks: true(*marks))
frames_of_detections = draw.lists(
    draw.tuples(boxes, categories, draw.sampled_from([0.1, 0.2, 0.3, 0.5, 0.9])), max_size=6
).map(lambda marks: found(*marks))


@settings(max_examples=150, deadline=None)
@given(draw.lists(draw.tuples(frames_of_truth, frames_of_detections), max_size=4))
def test_equals_numpy_whatever_the_boxes(frames: list[tuple[Labels, Detections]]) -> None:
    truth = {number: labels for number, (labels, _) in enumerate(frames)}
    detections = {number: one for number, (_, one) in enumerate(frames)}

    result = average_precision(detections, truth, classes=3)

    np.testing.assert_allclose(result, [numpy_precision(detections, truth, c) for c in range(3)], rtol=0, atol=1e-9)


def test_only_the_best_hundred_detections_of_a_class_in_a_frame_count() -> None:
    misses = [(THERE, 0, 0.9)] * 100
    truth = {1: true((HERE, 0))}

    inside = average_precision({1: found(*misses[:99], (HERE, 0, 0.5))}, truth, 1)
    outside = average_precision({1: found(*misses, (HERE, 0, 0.5))}, truth, 1)

    assert inside[0] == pytest.approx(0.01)
    assert outside[0] == 0.0


@pytest.mark.parametrize("style", ["coco", "voc"])
def test_a_class_without_a_true_box_has_no_precision_and_one_without_detections_has_zero(style: Style) -> None:
    truth = {1: true((HERE, 0)), 2: true()}

    result = average_precision({2: found((HERE, 1, 0.9))}, truth, 3, style=style)

    assert result[0] == 0.0
    assert np.isnan(result[1:]).all()


@pytest.mark.parametrize("style", ["coco", "voc"])
def test_no_frames_and_no_detections_are_allowed(style: Style) -> None:
    assert np.isnan(average_precision({}, {}, 2, style=style)).all()
    assert average_precision({}, {1: true((HERE, 0))}, 1, style=style)[0] == 0.0
    assert average_precision({1: found()}, {1: true((HERE, 0))}, 1, style=style)[0] == 0.0


def test_voc_is_the_area_under_the_monotone_curve() -> None:
    truth = {1: true((HERE, 0), (THERE, 0))}
    detections = {1: found((HERE, 0, 0.9), (HERE, 0, 0.8), (THERE, 0, 0.7))}

    result = average_precision(detections, truth, 1, style="voc")

    # Right, a second hit on the same box, right: precision 1 up to recall 1/2, then 2/3 up to recall 1.
    assert result[0] == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


def test_voc_tries_a_detection_on_its_best_true_box_only() -> None:
    truth = {1: true((LEFT, 0), (RIGHT, 0))}
    only_left, nearer_left = [-2, 0, 8, 10], [1, 0, 11, 10]
    detections = {1: found((only_left, 0, 0.9), (nearer_left, 0, 0.8))}

    assert average_precision(detections, truth, 1, style="voc")[0] == pytest.approx(1 / 2)
    assert average_precision(detections, truth, 1, style="coco")[0] == pytest.approx(1.0)


def test_an_overlap_of_exactly_one_half_is_enough() -> None:
    half = [0, 0, 10, 5]

    for style in ("coco", "voc"):
        result = average_precision({1: found((half, 0, 0.9))}, {1: true((HERE, 0))}, 1, style=style)
        assert result[0] == pytest.approx(1.0)


def test_the_threshold_can_be_chosen() -> None:
    half = {1: found(([0, 0, 10, 5], 0, 0.9))}

    assert average_precision(half, {1: true((HERE, 0))}, 1, iou=0.6)[0] == 0.0


def test_prepared_truth_gives_the_same_twice() -> None:
    detections, truth = a_random_test_set(0)
    scorer = Scorer(truth, 5)

    first, nothing, again = scorer.score(detections), scorer.score({}), scorer.score(detections)

    np.testing.assert_array_equal(first, again)
    assert np.nansum(nothing) == 0.0


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    average_precision({1: found((HERE, 0, 0.9))}, {1: true((HERE, 0))}, 1)

    assert capsys.readouterr() == ("", "")


def test_unknown_frames_and_classes_are_refused() -> None:
    truth = {1: true((HERE, 0))}

    with pytest.raises(InvalidData, match=r"frames \[2\]"):
        average_precision({2: found()}, truth, 1)
    with pytest.raises(InvalidData, match=r"Frame 1: a detection of a class outside 0\.\.0"):
        average_precision({1: found((HERE, 1, 0.9))}, truth, 1)
    with pytest.raises(InvalidData, match="Frame 1: true class 4"):
        average_precision({}, {1: true((HERE, 4))}, 1)


def test_evaluation_does_without_torch() -> None:
    command = "import sys, leocod.evaluation.evaluator, leocod.evaluation.audit; sys.exit('torch' in sys.modules)"

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", command], env=environment, check=False).returncode == 0


@pytest.mark.parametrize("style", ["coco", "voc"])
@pytest.mark.parametrize("seed", range(5))
def test_frames_matched_in_parts_and_joined_give_the_precision_of_all(seed: int, style: Style) -> None:
    detections, truth = a_random_test_set(seed)
    parts = [
        Scorer({frame: truth[frame]}, CLASSES, style=style).match(
            {frame: detections[frame]} if frame in detections else {}
        )
        for frame in sorted(truth)
    ]

    joined = Matches.join(parts).average_precision(style)

    np.testing.assert_array_equal(joined, average_precision(detections, truth, CLASSES, style=style))
