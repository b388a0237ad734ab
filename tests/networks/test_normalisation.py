"""A deep network that starts by chance, with frozen normalisation."""

from __future__ import annotations

import copy

import pytest
import torch
from torchvision.models.detection import RetinaNet
from torchvision.ops import FrozenBatchNorm2d

from leocod.detectors.faster_rcnn import FasterRCNNOptions, build_faster_rcnn
from leocod.networks.normalisation import estimate_variances, fold


def a_model(**options):
    torch.manual_seed(0)
    return build_faster_rcnn(3, FasterRCNNOptions.model_validate(options))


def spread(model, pixels):
    """Of the features of a picture, in any level."""
    mean = torch.tensor(model.transform.image_mean)[:, None, None]
    deviation = torch.tensor(model.transform.image_std)[:, None, None]
    with torch.no_grad():
        features = model.backbone((pixels - mean) / deviation)
    return [float(level.std()) for level in levels(features)]


def test_features_neither_grow_nor_fade_whatever_the_picture():
    model = a_model(backbone="resnet50-c4")
    noise, plain = torch.rand(1, 3, 96, 128), torch.full((1, 3, 96, 128), 0.9)
    before = spread(model, noise)[0]

    estimate_variances(model)

    assert before > 1000
    assert all(0.1 < one < 10 for picture in (noise, plain) for one in spread(model, picture))


def test_it_reaches_the_head_too_and_leaves_no_hook_behind():
    model = a_model(backbone="resnet50-c4")

    estimate_variances(model)

    layers = [layer for layer in model.modules() if isinstance(layer, FrozenBatchNorm2d)]
    assert len(layers) == 53
    assert not any((layer.running_var == 1).all() for layer in layers)
    assert not any(layer._forward_pre_hooks for layer in layers)


def test_a_pyramid_of_a_narrow_network_does_not_fade():
    model = a_model(backbone="mobilenet_v2-fpn")
    before = spread(model, torch.rand(1, 3, 96, 96))

    estimate_variances(model)

    assert max(before) < 0.01
    assert all(0.1 < one < 20 for one in spread(model, torch.rand(1, 3, 96, 96)))


def test_a_network_without_regions_gets_variances_too():
    model = RetinaNet(a_model(backbone="mobilenet_v2-fpn").backbone, 3)

    estimate_variances(model)

    layers = [layer for layer in model.modules() if isinstance(layer, FrozenBatchNorm2d)]
    assert layers
    assert not any((layer.running_var == 1).all() for layer in layers)


@pytest.mark.parametrize("backbone", ["resnet50-c4", "resnet18-fpn", "mobilenet_v2-fpn"])
def test_a_folded_network_computes_and_learns_what_it_did(backbone):
    plain = a_model(backbone=backbone)
    estimate_variances(plain)
    for layer in plain.modules():
        if isinstance(layer, FrozenBatchNorm2d):
            for buffer in (layer.weight, layer.bias, layer.running_mean):
                buffer += 0.1 * torch.randn_like(buffer)
    folded = copy.deepcopy(plain)
    pixels = torch.rand(2, 3, 64, 96)

    fold(folded)
    seen, expected = (levels(model.backbone(pixels)) for model in (folded, plain))
    for features in (seen, expected):
        sum(level.square().mean() for level in features).backward()

    assert list(folded.state_dict()) == list(plain.state_dict())
    assert not any(type(layer) is FrozenBatchNorm2d for layer in folded.modules())
    for one, other in zip(seen, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5 * other.abs().max().item())
    for name, value in plain.named_parameters():
        own = folded.get_parameter(name).grad
        assert (own is None) == (value.grad is None)
        if own is not None:
            torch.testing.assert_close(own, value.grad, rtol=1e-3, atol=1e-4 * value.grad.abs().max().item())


def test_a_copy_of_a_folded_network_has_its_own_numbers():
    folded = a_model(backbone="resnet18-fpn")
    fold(folded)
    pixels = torch.rand(1, 3, 64, 64)
    before = levels(folded.backbone(pixels))[0].clone()

    twin = copy.deepcopy(folded)
    twin.backbone.body.bn1.running_var.mul_(4)

    assert torch.equal(levels(folded.backbone(pixels))[0], before)
    assert not torch.allclose(levels(twin.backbone(pixels))[0], before)


def levels(features):
    return [features] if isinstance(features, torch.Tensor) else list(features.values())
