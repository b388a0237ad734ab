import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.export.comparison import Comparison, ExportDiffers, compare_detections
from leocod.networks.base import ReportingLimits
from leocod.types import Detections

LIMITS = ReportingLimits(score=0.05, most=4)


def found(*rows: tuple[float, int, float]) -> Detections:
    """Squares of 10 pixels: left edge, class, score."""
    boxes = np.array([[left, 0, left + 10, 10] for left, _, _ in rows], np.float32).reshape(-1, 4)
    return Detections(
        boxes, np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows], np.float32)
    )


def test_the_same_in_another_order_is_the_same() -> None:
    one = found((0, 0, 0.9), (20, 1, 0.8), (40, 0, 0.7))
    other = found((40, 0, 0.7), (0, 0, 0.9), (20, 1, 0.8))

    compared = compare_detections([one], [other], LIMITS)

    assert (compared.images, compared.detections, compared.unmatched) == (1, 3, 0)
    assert (compared.box_difference, compared.score_difference) == (0, 0)
    assert compared.is_close


def test_the_largest_differences_are_told() -> None:
    compared = compare_detections([found((0, 0, 0.9), (20, 0, 0.8))], [found((0.5, 0, 0.9), (20, 0, 0.75))], LIMITS)

    assert compared.box_difference == 0.5
    assert compared.score_difference == pytest.approx(0.05)
    assert compared.detections == 2
    assert not compared.is_close


@pytest.mark.parametrize(("box", "score", "close"), [(0.09, 9e-5, True), (0.11, 9e-5, False), (0.09, 1.1e-4, False)])
def test_both_tolerances_hold(box: float, score: float, close: bool) -> None:
    compared = compare_detections([found((0, 0, 0.9))], [found((box, 0, 0.9 - score))], LIMITS)

    assert compared.is_close is close


def test_another_class_or_another_place_is_another_thing() -> None:
    assert compare_detections([found((0, 0, 0.9))], [found((0, 1, 0.9))], LIMITS).unmatched == 2
    assert compare_detections([found((0, 0, 0.9))], [found((50, 0, 0.9))], LIMITS).unmatched == 2
    assert compare_detections([found((0, 0, 0.9))], [found()], LIMITS).unmatched == 1


def test_one_detection_is_not_two() -> None:
    compared = compare_detections([found((0, 0, 0.9))], [found((0, 0, 0.9), (0.01, 0, 0.9))], LIMITS)

    assert (compared.detections, compared.unmatched) == (1, 1)


def test_what_lies_right_at_the_lowest_score_may_be_missing_but_nothing_above_it() -> None:
    sure = (0, 0, 0.9)

    at_the_limit = compare_detections([found(sure, (20, 0, 0.05005))], [found(sure)], LIMITS)
    above = compare_detections([found(sure, (20, 0, 0.0503))], [found(sure)], LIMITS)

    assert (at_the_limit.unmatched, at_the_limit.at_the_limit, at_the_limit.is_close) == (0, 1, True)
    assert (above.unmatched, above.at_the_limit, above.is_close) == (1, 0, False)


def test_the_last_of_a_full_list_may_be_another_one() -> None:
    shared = [(0, 0, 0.9), (20, 0, 0.8), (40, 0, 0.7)]
    one, other = found(*shared, (60, 0, 0.30001)), found(*shared, (80, 0, 0.30002))

    full = compare_detections([one], [other], ReportingLimits(0.05, most=4))
    not_full = compare_detections([one], [other], ReportingLimits(0.05, most=5))

    assert (full.at_the_limit, full.is_close) == (2, True)
    assert (not_full.unmatched, not_full.is_close) == (2, False)


def test_scores_that_differ_by_rounding_are_one_score() -> None:
    scores = [0.5, 0.500001, 0.6, 0.04, 0.0400001]

    compared = compare_detections([found(*((20.0 * n, 0, score) for n, score in enumerate(scores)))], [found()], LIMITS)

    assert compared.distinct_scores == 2


def test_few_different_scores_prove_nothing() -> None:
    with pytest.raises(InvalidRun, match=r"m.onnx cannot be checked.*3 images with 19 different scores.*--images"):
        Comparison(images=3, detections=500, distinct_scores=19).require("m.onnx")
    Comparison(images=3, detections=500, distinct_scores=20).require("m.onnx")


def test_a_difference_is_told_before_too_few_scores() -> None:
    with pytest.raises(ExportDiffers, match=r"m.onnx .* both find 7 detections, and only one finds 1 more; .* 12 px"):
        Comparison(images=3, detections=7, unmatched=1, box_difference=12.0).require("m.onnx")


def test_the_summary_has_the_figures() -> None:
    text = Comparison(26, 461, 344, at_the_limit=1, box_difference=2e-5, score_difference=8e-7).summary

    for figure in ("26 images", "461 detections", "344 different", "1 right at", "2e-05 px", "8e-07"):
        assert figure in text


def test_two_that_find_nothing_agree_on_nothing() -> None:
    assert compare_detections([found()], [found()], LIMITS) == Comparison(images=1)
