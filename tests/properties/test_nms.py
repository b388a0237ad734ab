"""Of boxes that overlap the best one stays: pseudo labels, proposals, and what a detector finds."""

from __future__ import annotations

from typing import Any

import arbitrary
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from leocod.boxes import pairwise_iou
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.networks.proposals import RpnOutputs
from leocod.plugins.confident_labels import select_confident, suppress
from leocod.types import Detections

SLACK = 1e-3
"""Overlaps are counted in 32 bits there and in 64 here."""

thresholds = some.sampled_from([0.2, 0.5, 0.8, 1.0])
crowded = arbitrary.detections((8, 8), most=12, unique=True)
deltas = some.floats(-3, 3, width=32)


@pytest.fixture(scope="module")
def detector() -> Tiny:
    options = TinyOptions(weights=None, short_side=32, regions=8, proposals=16)
    return Tiny(tuple(map(str, range(arbitrary.CLASSES))), options)


def best(found: Detections, threshold: float, most: int = 100) -> Detections:
    """What is left of detections when they become pseudo labels."""
    return suppress(found, threshold, most)


def rows(found: Detections) -> list[tuple[Any, ...]]:
    return [
        (*box, name, score)
        for box, name, score in zip(found.boxes.tolist(), found.classes.tolist(), found.scores.tolist(), strict=True)
    ]


def rivals(one: Detections, two: Detections) -> Any:
    """Overlap of every detection with every other one of its class; 0 with those of other classes."""
    return np.where(one.classes[:, None] == two.classes[None], pairwise_iou(one.boxes, two.boxes), 0.0)


@given(crowded, thresholds)
def test_what_stays_was_there_best_first_and_no_two_of_a_class_overlap_too_much(found, threshold):
    kept = best(found, threshold)

    assert len(set(rows(kept))) == len(rows(kept))
    assert set(rows(kept)) <= set(rows(found))
    assert (np.diff(kept.scores) <= 0).all()
    among = rivals(kept, kept) - np.eye(len(kept))
    assert (among <= threshold + SLACK).all()


@given(crowded, thresholds)
def test_what_goes_overlaps_a_better_one_of_its_class_that_stays(found, threshold):
    kept = best(found, threshold)

    gone = arbitrary.reordered(found, [n for n, row in enumerate(rows(found)) if row not in rows(kept)])
    better = kept.scores[None] > gone.scores[:, None]
    assert ((rivals(gone, kept) > threshold - SLACK) & better).any(axis=1).all()


@given(crowded, thresholds, some.integers(1, 5))
def test_the_best_always_stay_and_a_limit_takes_the_worst(found, threshold, most):
    everything, limited = best(found, threshold), best(found, threshold, most)

    assert rows(limited) == rows(everything)[:most]
    for name in set(found.classes.tolist()):
        own = found.scores[found.classes == name]
        assert own.max() in everything.scores[everything.classes == name]


@given(crowded, thresholds)
def test_once_more_changes_nothing(found, threshold):
    kept = best(found, threshold)

    assert rows(best(kept, threshold)) == rows(kept)


@given(crowded, thresholds, some.randoms(use_true_random=False))
def test_the_order_in_which_they_come_does_not_matter(found, threshold, random):
    order = list(range(len(found)))
    random.shuffle(order)

    assert rows(best(arbitrary.reordered(found, order), threshold)) == rows(best(found, threshold))


@given(crowded, thresholds)
def test_classes_do_not_see_each_other(found, threshold):
    apart = [
        row
        for name in range(arbitrary.CLASSES)
        for row in rows(best(arbitrary.reordered(found, np.flatnonzero(found.classes == name)), threshold))
    ]

    assert sorted(apart) == sorted(rows(best(found, threshold)))


@given(arbitrary.detections(score=arbitrary.tied_scores), some.sampled_from([0.3, 0.5, 0.6]), some.booleans())
def test_pseudo_labels_are_the_sure_ones_and_unsure_is_what_lies_between(found, sure, is_on):
    labels = select_confident(found, above=sure, unsure_above=0.2 if is_on else None, nms_threshold=1.0, most=100)

    certain = found.scores > np.float32(sure)
    between = (found.scores > np.float32(0.2)) & ~certain
    assert {tuple(box) for box in labels.boxes.tolist()} == {tuple(box) for box in found.boxes[certain].tolist()}
    assert labels.unsure.tolist() == (found.boxes[between].tolist() if is_on else [])


@some.composite
def rpn_outputs(draw: Any) -> RpnOutputs:
    """What a proposal head may compute for some anchors in two frames."""
    anchors = draw(some.lists(arbitrary.boxes((32, 32)), min_size=1, max_size=24))
    random = np.random.default_rng(draw(arbitrary.seeds))
    spread = draw(some.sampled_from([0.0, 0.3, 2.0]))
    return RpnOutputs(
        torch.tensor(random.permutation(2 * len(anchors)).reshape(2, -1) / 4.0 - 3, dtype=torch.float32),
        torch.tensor(random.normal(0, spread, (2, len(anchors), 4)), dtype=torch.float32),
        torch.tensor(arbitrary.array(anchors)),
        [len(anchors)],
    )


@given(rpn_outputs(), arbitrary.sizes)
def test_proposals_are_inside_their_frame_apart_from_each_other_and_come_first(detector, outputs, size):
    proposals, real = detector.propose(outputs, [(32, 32), size])

    for boxes, is_real, (height, width) in zip(proposals, real, [(32, 32), size], strict=True):
        assert not is_real[int(is_real.sum()) :].any()
        assert not boxes[~is_real].any()
        own = boxes[is_real].numpy()
        assert ((own >= 0) & (own <= [width, height, width, height])).all()
        among = pairwise_iou(own, own) - np.eye(len(own))
        assert (among <= detector.model.rpn.nms_thresh + SLACK).all()


@given(rpn_outputs())
def test_the_order_of_anchors_does_not_change_the_proposals(detector, outputs):
    turned = RpnOutputs(outputs.scores.flip(1), outputs.deltas.flip(1), outputs.anchors.flip(0), outputs.counts)

    one, two = detector.propose(outputs, [(32, 32)] * 2), detector.propose(turned, [(32, 32)] * 2)

    assert torch.equal(one[1], two[1])
    torch.testing.assert_close(one[0], two[0])


@arbitrary.fewer
@given(arbitrary.seeds, some.lists(some.tuples(some.integers(8, 40), some.integers(8, 40)), min_size=1, max_size=3))
def test_a_detector_finds_boxes_inside_the_picture_best_first_and_apart(detector, seed, sizes):
    pictures = [arbitrary.picture(seed + number, size) for number, size in enumerate(sizes)]
    detector.model.roi_heads.score_thresh = 0.0

    for found, (height, width) in zip(detector.predict(pictures), sizes, strict=True):
        assert len(found)
        assert (np.diff(found.scores) <= 0).all()
        assert ((found.boxes >= -SLACK) & (found.boxes <= np.array([width, height] * 2) + SLACK)).all()
        assert (found.boxes[:, 2:] > found.boxes[:, :2]).all()
        among = rivals(found, found) - np.eye(len(found))
        assert (among <= detector.model.roi_heads.nms_thresh + 0.02).all()


@arbitrary.fewer
@given(arbitrary.seeds, some.lists(some.sampled_from([(16, 24), (24, 16), (32, 32)]), min_size=2, max_size=4))
def test_a_picture_is_judged_the_same_alone_and_beside_others_of_its_size(detector, seed, sizes):
    pictures = [arbitrary.picture(seed + number, sizes[0]) for number in range(len(sizes))]

    together = detector.predict(pictures)

    for picture, found in zip(pictures, together, strict=True):
        (alone,) = detector.predict([picture])
        np.testing.assert_allclose(alone.scores, found.scores, atol=1e-4)
