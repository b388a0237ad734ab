"""Matching and sampling against torchvision's, and against counting by hand."""

from __future__ import annotations

import numpy as np
import torch
from torchvision.models.detection._utils import Matcher
from torchvision.ops import box_iou

from leocod.networks.targets import (
    BACKGROUND,
    IGNORED,
    PaddedBoxes,
    TrainingTargets,
    ignore_unsure,
    match,
    padded_iou,
    sample,
)
from leocod.types import Labels


def some_boxes(count, random):
    corner = random.uniform(0, 60, (count, 2))
    return np.concatenate([corner, corner + random.uniform(5, 40, (count, 2))], axis=1).astype(np.float32)


def truth_of(*counts, seed=0):
    random = np.random.default_rng(seed)
    labels = [Labels(some_boxes(count, random), random.integers(0, 3, count)) for count in counts]
    return labels, PaddedBoxes.of(labels, torch.ones(len(labels), 2))


def test_ious_are_torchvisions_and_padding_overlaps_nothing():
    labels, truth = truth_of(3, 1, 0)
    boxes = torch.from_numpy(some_boxes(20, np.random.default_rng(9)))

    iou = padded_iou(truth, boxes)

    torch.testing.assert_close(iou[0], box_iou(torch.tensor(labels[0].boxes), boxes))
    torch.testing.assert_close(iou[1, :1], box_iou(torch.tensor(labels[1].boxes), boxes))
    assert (iou[1, 1:] == -1).all()
    assert (iou[2] == -1).all()


def test_matching_is_torchvisions_with_and_without_the_best_ones():
    for best_too in (True, False):
        labels, truth = truth_of(4, 2, 7)
        boxes = torch.from_numpy(some_boxes(300, np.random.default_rng(3)))
        matcher = Matcher(0.7, 0.3, allow_low_quality_matches=best_too)

        matched, verdict = match(truth, boxes, above=0.7, below=0.3, best_too=best_too)

        for frame, one in enumerate(labels):
            expected = matcher(box_iou(torch.tensor(one.boxes), boxes))
            assert torch.equal(verdict[frame] == 1, expected >= 0)
            assert torch.equal(verdict[frame] == BACKGROUND, expected == Matcher.BELOW_LOW_THRESHOLD)
            assert torch.equal(verdict[frame] == IGNORED, expected == Matcher.BETWEEN_THRESHOLDS)
            positive = verdict[frame] == 1
            assert torch.equal(matched[frame][positive], expected[positive])


def test_a_frame_without_boxes_is_all_background():
    _, truth = truth_of(0)

    _, verdict = match(truth, torch.tensor([[0.0, 0, 10, 10]]), above=0.7, below=0.3, best_too=True)

    assert verdict.tolist() == [[BACKGROUND]]


def test_background_over_something_unsure_gets_no_word_and_objects_keep_theirs():
    labels = Labels(np.array([[0, 0, 10, 10]]), np.array([0]), unsure=np.array([[0, 0, 10, 12], [40, 40, 60, 60]]))
    truth, unsure = PaddedBoxes.of([labels], torch.ones(1, 2)), PaddedBoxes.of_unsure([labels], torch.ones(1, 2))
    boxes = torch.tensor([[0.0, 0, 10, 10], [41, 41, 60, 60], [40, 40, 90, 90]])
    _, verdict = match(truth, boxes, above=0.5, below=0.5, best_too=False)
    assert verdict.tolist() == [[1, BACKGROUND, BACKGROUND]]

    assert ignore_unsure(verdict, unsure, boxes).tolist() == [[1, IGNORED, BACKGROUND]]
    assert ignore_unsure(verdict, PaddedBoxes.of_unsure([Labels.none()], torch.ones(1, 2)), boxes) is verdict


def test_a_draw_takes_at_most_its_part_of_positives_and_fills_up_with_background():
    verdict = torch.tensor([[1] * 6 + [0] * 20 + [-1] * 4, [1] * 1 + [0] * 3 + [-1] * 26])

    positions, drawn = sample(
        verdict, torch.rand(verdict.shape, generator=torch.Generator().manual_seed(0)), count=8, positives=0.5
    )

    chosen = [verdict[row][positions[row][drawn[row]]].tolist() for row in range(2)]
    assert sorted(chosen[0]) == [0] * 4 + [1] * 4
    assert sorted(chosen[1]) == [0] * 3 + [1]
    assert len(set(positions[0][drawn[0]].tolist())) == 8


def test_every_positive_is_drawn_equally_often():
    verdict = torch.tensor([[1, 1, 1, 1, 0, 0]])
    random = torch.Generator().manual_seed(0)
    counts = torch.zeros(6)

    for _ in range(400):
        positions, drawn = sample(verdict, torch.rand(verdict.shape, generator=random), count=4, positives=0.5)
        counts[positions[drawn]] += 1

    assert counts[:4].min() > 160
    assert counts[:4].max() < 240
    assert counts[4:].tolist() == [400, 400]


def test_what_a_frame_draws_depends_on_its_seed_alone():
    scales, none = torch.ones(3, 2), [Labels.none()] * 3
    three = TrainingTargets.of(none, scales, [5, 6, 5])
    one = TrainingTargets.of(none[:1], scales[:1], [6])

    together, alone = three.random_scores(0, torch.zeros(3, 40)), one.random_scores(0, torch.zeros(1, 25))

    assert torch.equal(together[1, :25], alone[0])
    assert torch.equal(together[0], together[2])
    assert not torch.equal(together[0], together[1])
    assert not torch.equal(three.random_scores(1, torch.zeros(3, 40)), together)


def test_boxes_are_scaled_to_the_networks_input():
    labels = [Labels(np.array([[10, 20, 30, 40]]), np.array([2]))]

    truth = PaddedBoxes.of(labels, torch.tensor([[2.0, 0.5]]))

    assert truth.boxes.tolist() == [[[20, 10, 60, 20]]]
    assert truth.classes.tolist() == [[3]]
