"""Anchors are scored and proposals chosen as torchvision does it, for all frames at once."""

from __future__ import annotations

import pytest
import torch
from torchvision.models.detection._utils import BoxCoder
from torchvision.models.detection.image_list import ImageList

from leocod.networks.proposals import RpnOutputs, box_loss, clip, count_drawn, picture_corners, score_anchors


@pytest.fixture
def images(a_frame):
    return [a_frame(number, (number % 3,))[0].image() for number in range(3)]


def outputs_of(detector, images):
    batch, sizes, _ = detector.prepare(images)
    with torch.no_grad():
        features = detector.features(batch.tensors)
        return features, batch, sizes, score_anchors(detector.model.rpn, batch, features)


def test_outputs_are_frames_by_anchors_and_of_every_level(a_detector, images):
    detector = a_detector()

    features, _, _, outputs = outputs_of(detector, images)

    cells = features["0"].shape[-2] * features["0"].shape[-1]
    assert outputs.scores.shape == (3, 9 * cells)
    assert outputs.deltas.shape == (3, 9 * cells, 4)
    assert outputs.anchors.shape == (9 * cells, 4)
    assert outputs.counts == [9 * cells]


@pytest.mark.parametrize("mode", [True, False], ids=["training", "evaluation"])
def test_proposals_are_torchvisions(a_detector, images, mode):
    detector = a_detector()
    detector.model.train(mode)
    features, batch, sizes, outputs = outputs_of(detector, images)

    proposals, real = detector.propose(outputs, sizes)
    with torch.no_grad():
        expected, _ = detector.model.rpn.eval()(ImageList(batch.tensors, sizes), features)

    for own, mask, theirs in zip(proposals, real, expected, strict=True):
        assert 0 < int(mask.sum()) <= detector.model.rpn.post_nms_top_n()
        torch.testing.assert_close(own[mask], theirs, rtol=1e-4, atol=1e-3)
        assert not own[~mask].any()


def test_a_frame_without_a_usable_region_has_no_proposals(a_detector, images):
    """Moved out of the picture, boxes are clipped to nothing: in the first frame all, in the others none."""
    detector = a_detector()
    _, _, sizes, outputs = outputs_of(detector, images)
    deltas = torch.zeros_like(outputs.deltas)
    deltas[0, :, 0] = 100.0

    _, real = detector.propose(RpnOutputs(outputs.scores, deltas, outputs.anchors, outputs.counts), sizes)

    assert real.any(dim=1).tolist() == [False, True, True]


def test_a_place_without_area_has_no_loss_that_is_not_a_number():
    coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
    places = torch.tensor([[[0.0, 0, 10, 10], [5, 5, 5, 5]]])

    loss = box_loss(coder, torch.zeros(1, 2, 4), places.clone(), places, beta=0.1)

    assert loss.tolist() == [[0, 0]]


@pytest.mark.parametrize(("beta", "expected"), [(0.0, 0.5), (1.0, 0.125)])
def test_beta_is_where_the_loss_of_a_box_turns_from_square_to_linear(beta, expected):
    coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
    place, goal = torch.tensor([[0.0, 0, 10, 10]]), torch.tensor([[5.0, 0, 15, 10]])

    assert box_loss(coder, torch.zeros(1, 4), goal, place, beta=beta).item() == pytest.approx(expected)


def test_boxes_are_clipped_to_their_own_picture():
    boxes = torch.tensor([[[-5.0, -5, 50, 50]], [[-5.0, 2, 50, 50]]])

    clipped = clip(boxes, picture_corners([(20, 30), (40, 10)], boxes)[:, None])

    assert clipped.tolist() == [[[0, 0, 30, 20]], [[0, 2, 10, 40]]]


def test_a_frame_in_which_nothing_is_drawn_is_divided_by_one():
    assert count_drawn(torch.tensor([[True, True, False], [False, False, False]])).tolist() == [2, 1]
