"""AP50 against pycocotools, against thirty lines of numpy, and against tables one can check in one's head."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as draw

from leocod.errors import InvalidData
from leocod.evaluation.ap import Scorer, average_precision, pairwise_iou
from leocod.types import Detections, Labels

HERE, THERE = [0, 0, 10, 10], [20, 20, 30, 30]


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


def pycocotools_precision(
    detections: Mapping[int, Detections], truth: Mapping[int, Labels], classes: int
) -> list[float]:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def annotations(marks: Mapping[int, Labels] | Mapping[int, Detections]) -> list[dict[str, object]]:
        return [
            {"image_id": frame, "category_id": int(category), "bbox": [x1, y1, x2 - x1, y2 - y1], "iscrowd": 0}
            | {"area": (x2 - x1) * (y2 - y1), "score": float(one.scores[n]) if isinstance(one, Detections) else 1}
            for frame, one in marks.items()
            for n, ((x1, y1, x2, y2), category) in enumerate(
                zip(one.boxes.astype(float).tolist(), one.classes, strict=True)
            )
        ]

    def coco(marks: Mapping[int, Labels] | Mapping[int, Detections]) -> COCO:
        result = COCO()
        result.dataset = {
            "images": [{"id": frame} for frame in truth],
            "annotations": [{**one, "id": n + 1} for n, one in enumerate(annotations(marks))],
            "categories": [{"id": category} for category in range(classes)],
        }
        result.createIndex()
        return result

    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(coco(truth), coco(detections), "bbox")
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][0, :, :, 0, -1]
    return [float(column.mean()) if column.max() > -1 else float("nan") for column in precision.T]


def a_random_test_set(seed: int) -> tuple[dict[int, Detections], dict[int, Labels]]:
    """Ties (scores of one decimal), duplicates, frames without truth or detections, a frame with 150 detections."""
    random = np.random.default_rng(seed)
    truth, detections = {}, {}
    for frame in random.permutation(12).tolist():
        objects = int(random.integers(0, 5))
        corners = random.integers(0, 40, (objects, 2))
        boxes = np.concatenate([corners, corners + random.integers(4, 20, (objects, 2))], axis=1).astype(np.float32)
        classes = random.integers(0, 3, objects)
        truth[frame] = Labels(boxes, classes)
        if not objects or random.random() < 0.2:
            continue
        copies = 150 if frame == 3 else int(random.integers(0, 12))
        which = random.integers(0, objects, copies)
        moved = boxes[which] + random.integers(-3, 4, (copies, 4)) / 4
        wrong = np.where(random.random(copies) < 0.2, 3, classes[which])
        scores = (random.integers(0, 10, copies) / 10).astype(np.float32)
        detections[frame] = Detections(moved.astype(np.float32), wrong, scores)
    return detections, truth


@pytest.mark.parametrize("seed", range(10))
def test_equals_pycocotools_and_numpy(seed: int) -> None:
    detections, truth = a_random_test_set(seed)

    result = average_precision(detections, truth, classes=5)

    assert np.isnan(result[3:]).all()
    np.testing.assert_allclose(result, pycocotools_precision(detections, truth, 5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(result, [numpy_precision(detections, truth, c) for c in range(5)], rtol=0, atol=1e-9)


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
def test_a_class_without_a_true_box_has_no_precision_and_one_without_detections_has_zero(style: str) -> None:
    truth = {1: true((HERE, 0)), 2: true()}

    result = average_precision({2: found((HERE, 1, 0.9))}, truth, 3, style=style)  # type: ignore[arg-type]

    assert result[0] == 0.0
    assert np.isnan(result[1:]).all()


@pytest.mark.parametrize("style", ["coco", "voc"])
def test_no_frames_and_no_detections_are_allowed(style: str) -> None:
    assert np.isnan(average_precision({}, {}, 2, style=style)).all()  # type: ignore[arg-type]
    assert average_precision({}, {1: true((HERE, 0))}, 1, style=style)[0] == 0.0  # type: ignore[arg-type]
    assert average_precision({1: found()}, {1: true((HERE, 0))}, 1, style=style)[0] == 0.0  # type: ignore[arg-type]


def test_voc_is_the_area_under_the_monotone_curve() -> None:
    truth = {1: true((HERE, 0), (THERE, 0))}
    detections = {1: found((HERE, 0, 0.9), (HERE, 0, 0.8), (THERE, 0, 0.7))}

    result = average_precision(detections, truth, 1, style="voc")

    # Right, a second hit on the same box, right: precision 1 up to recall 1/2, then 2/3 up to recall 1.
    assert result[0] == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


def test_voc_tries_a_detection_on_its_best_true_box_only() -> None:
    near = [0, 0, 10, 11]
    truth = {1: true((HERE, 0), (near, 0))}
    detections = {1: found((HERE, 0, 0.9), (HERE, 0, 0.8))}

    assert average_precision(detections, truth, 1, style="voc")[0] == pytest.approx(1 / 2)
    assert average_precision(detections, truth, 1, style="coco")[0] == pytest.approx(1.0)


def test_an_overlap_of_exactly_one_half_is_enough() -> None:
    half = [0, 0, 10, 5]

    for style in ("coco", "voc"):
        result = average_precision({1: found((half, 0, 0.9))}, {1: true((HERE, 0))}, 1, style=style)  # type: ignore[arg-type]
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


def test_pairwise_iou_by_hand() -> None:
    one = np.array([[0, 0, 2, 2]], np.float32)
    others = np.array([[0, 0, 2, 2], [1, 0, 3, 2], [5, 5, 6, 6]], np.float32)

    assert pairwise_iou(one, others).tolist() == [[1.0, pytest.approx(1 / 3), 0.0]]


def test_evaluation_does_without_torch() -> None:
    command = "import sys, leocod.evaluation.evaluator, leocod.evaluation.audit; sys.exit('torch' in sys.modules)"

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", command], env=environment, check=False).returncode == 0
