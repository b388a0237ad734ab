"""The region head against torchvision's."""

from __future__ import annotations

import pytest
import torch
from torchvision.models.detection.faster_rcnn import TwoMLPHead

from leocod.networks.region_head import RegionHead


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_it_computes_what_torchvisions_does_with_the_same_weights(layout):
    torch.manual_seed(0)
    ours, theirs = RegionHead(4 * 9, 8), TwoMLPHead(4 * 9, 8)
    theirs.load_state_dict(ours.state_dict())
    regions = torch.randn(5, 4, 3, 3)

    seen = ours(regions.contiguous(memory_format=layout))
    seen.square().sum().backward()
    expected = theirs(regions)
    expected.square().sum().backward()

    torch.testing.assert_close(seen, expected)
    for name, value in ours.named_parameters():
        torch.testing.assert_close(value.grad, theirs.get_parameter(name).grad)


def test_no_region_gives_nothing():
    assert RegionHead(4 * 9, 8)(torch.zeros(0, 4, 3, 3)).shape == (0, 8)
