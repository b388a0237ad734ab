"""The matrix form of RoIAlign against torchvision's kernel."""

from __future__ import annotations

import torch
from torchvision import ops

from leocod.networks.roi_align import roi_align


def some_boxes(images=3, regions=10):
    corner = torch.rand(images, regions, 2) * 90 - 6
    return torch.cat([corner, corner + torch.rand(images, regions, 2) * 50 + 0.5], dim=-1)


def theirs(features, boxes):
    pooled = ops.roi_align(features, list(boxes), output_size=5, spatial_scale=1 / 8, sampling_ratio=2)
    return pooled.reshape(*boxes.shape[:2], *pooled.shape[1:])


def test_values_equal_torchvisions_also_at_the_border_and_for_tiny_boxes():
    torch.manual_seed(0)
    features, boxes = torch.randn(3, 4, 12, 16), some_boxes()

    ours = roi_align(features, boxes, stride=8, size=5)

    torch.testing.assert_close(ours, theirs(features, boxes), rtol=1e-4, atol=1e-5)


def test_gradients_equal_torchvisions():
    torch.manual_seed(1)
    boxes = some_boxes()
    one = torch.randn(3, 4, 12, 16, requires_grad=True)
    two = one.detach().clone().requires_grad_()
    weight = torch.randn(3, 10, 4, 5, 5)

    (roi_align(one, boxes, stride=8, size=5) * weight).sum().backward()
    (theirs(two, boxes) * weight).sum().backward()

    torch.testing.assert_close(one.grad, two.grad, rtol=1e-4, atol=1e-5)
