"""RoIAlign as weighted sums against torchvision's kernel."""

from __future__ import annotations

import pytest
import torch
from torchvision import ops

from leocod.networks.roi_align import RoIAlign

SIDE = {"0": (24, 32), "1": (12, 16), "2": (6, 8)}
IMAGE = (96, 128)


def some_boxes(images=3, regions=10, most=50.0):
    corner = torch.rand(images, regions, 2) * 90 - 6
    boxes = torch.cat([corner, corner + torch.rand(images, regions, 2) * most + 0.5], dim=-1)
    # As many as it happens to be in each frame, none in the last one.
    return [own[:count] for own, count in zip(boxes, [regions, regions - 3, 0], strict=True)]


def some_features(*levels, channels=4):
    return {str(number): torch.randn(3, channels, *SIDE[level]) for number, level in enumerate(levels)}


CASES = {
    "one map": (("1",), {"strides": [8], "size": 5}, 50.0),
    "half a pixel off": (("1",), {"strides": [8], "size": 5, "aligned": True}, 50.0),
    "as many points as cells": (("0",), {"strides": [4], "size": 3, "samples": 0, "aligned": True}, 100.0),
    "every second bin": (("0",), {"strides": [4], "size": 6, "samples": 0, "aligned": True, "every": 2}, 100.0),
    "a pyramid": (("0", "1", "2"), {"strides": [4, 8, 16], "size": 7}, 400.0),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_kernels(case):
    torch.manual_seed(0)
    levels, settings, most = CASES[case]
    pool = RoIAlign(**settings)
    boxes = some_boxes(most=most)
    one = {name: value.requires_grad_() for name, value in some_features(*levels).items()}
    two = {name: value.detach().clone().requires_grad_() for name, value in one.items()}

    ours, theirs = pool(one, boxes, [IMAGE] * 3), pool.operator(two, boxes, [IMAGE] * 3)
    weight = torch.randn_like(theirs)
    (ours * weight).sum().backward()
    (theirs * weight).sum().backward()

    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    for name in one:
        torch.testing.assert_close(one[name].grad, two[name].grad, rtol=1e-4, atol=1e-5)


def test_the_kernel_it_is_compared_with_is_torchvisions():
    torch.manual_seed(1)
    features, boxes = some_features("1"), some_boxes()

    pooled = RoIAlign([8], 5).operator(features, boxes, [IMAGE] * 3)

    assert torch.equal(pooled, ops.roi_align(features["0"], boxes, 5, 1 / 8, sampling_ratio=2))


def test_every_level_of_a_pyramid_is_pooled_from():
    boxes = [torch.tensor([[0.0, 0, 40, 40], [0, 0, 250, 250], [0, 0, 500, 500]])]
    features = {str(level): torch.full((1, 1, 64 >> level, 64 >> level), float(level)) for level in range(3)}

    pooled = RoIAlign([8, 16, 32], 7)(features, boxes, [(512, 512)])

    assert pooled[:, 0, 3, 3].tolist() == [0, 1, 2]


def test_no_region_at_all_is_pooled_to_nothing_that_still_has_a_gradient():
    features = {"0": torch.randn(2, 4, 6, 8, requires_grad=True)}

    pooled = RoIAlign([16], 5)(features, [torch.zeros(0, 4)] * 2, [IMAGE] * 2)
    pooled.sum().backward()

    assert pooled.shape == (0, 4, 5, 5)
    assert not features["0"].grad.any()


def test_a_region_without_extent_is_pooled_as_the_kernel_does_it():
    features, boxes = some_features("0"), [torch.tensor([[8.0, 8, 8, 8], [8, 8, 20, 8]]), *[torch.zeros(0, 4)] * 2]
    pool = RoIAlign([4], 3, samples=0, aligned=True)

    torch.testing.assert_close(pool(features, boxes, [IMAGE] * 3), pool.operator(features, boxes, [IMAGE] * 3))


def test_channels_of_a_bin_lie_side_by_side():
    pooled = RoIAlign([8], 5)(some_features("1"), some_boxes(), [IMAGE] * 3)

    assert pooled.is_contiguous(memory_format=torch.channels_last)


def test_half_precision_is_pooled_in_full():
    features, boxes = some_features("1"), some_boxes()
    halves = {name: value.bfloat16() for name, value in features.items()}

    pooled = RoIAlign([8], 5)(halves, boxes, [IMAGE] * 3)

    assert pooled.dtype == torch.float32
    torch.testing.assert_close(pooled, RoIAlign([8], 5)({"0": halves["0"].float()}, boxes, [IMAGE] * 3))


def test_a_pyramid_knows_only_torchvisions_way():
    with pytest.raises(ValueError, match="pyramid"):
        RoIAlign([4, 8], 7, samples=0)


def test_a_box_far_beyond_the_picture_does_not_ask_for_points_without_end():
    features = some_features("0")
    boxes = [torch.tensor([[0.0, 0, 1e7, 1e7]]), *[torch.zeros(0, 4)] * 2]

    pooled = RoIAlign([4], 14, samples=0, aligned=True)(features, boxes, [IMAGE] * 3)

    assert pooled.isfinite().all()
