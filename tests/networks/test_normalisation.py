"""A deep network that starts by chance, with frozen normalisation."""

from __future__ import annotations

import torch
from torchvision.models.detection import RetinaNet
from torchvision.ops import FrozenBatchNorm2d

from leocod.detectors.faster_rcnn import FasterRCNNOptions, faster_rcnn_model
from leocod.networks.normalisation import settle


def a_model(**options):
    torch.manual_seed(0)
    return faster_rcnn_model(3, FasterRCNNOptions.model_validate(options))


def spread(model, pixels):
    """Of the features of a picture, in any level."""
    mean = torch.tensor(model.transform.image_mean)[:, None, None]
    deviation = torch.tensor(model.transform.image_std)[:, None, None]
    with torch.no_grad():
        features = model.backbone((pixels - mean) / deviation)
    levels = [features] if isinstance(features, torch.Tensor) else list(features.values())
    return [float(level.std()) for level in levels]


def test_features_neither_grow_nor_fade_whatever_the_picture():
    model = a_model(backbone="resnet50-c4")
    noise, plain = torch.rand(1, 3, 96, 128), torch.full((1, 3, 96, 128), 0.9)
    before = spread(model, noise)[0]

    settle(model)

    assert before > 1000
    assert all(0.1 < one < 10 for picture in (noise, plain) for one in spread(model, picture))


def test_it_reaches_the_head_too_and_leaves_no_hook_behind():
    model = a_model(backbone="resnet50-c4")

    settle(model)

    layers = [layer for layer in model.modules() if isinstance(layer, FrozenBatchNorm2d)]
    assert len(layers) == 53
    assert not any((layer.running_var == 1).all() for layer in layers)
    assert not any(layer._forward_pre_hooks for layer in layers)


def test_a_pyramid_of_a_narrow_network_does_not_fade():
    model = a_model(backbone="mobilenet_v2-fpn")
    before = spread(model, torch.rand(1, 3, 96, 96))

    settle(model)

    assert max(before) < 0.01
    assert all(0.1 < one < 20 for one in spread(model, torch.rand(1, 3, 96, 96)))


def test_a_network_without_regions_is_settled_too():
    model = RetinaNet(a_model(backbone="mobilenet_v2-fpn").backbone, 3)

    settle(model)

    layers = [layer for layer in model.modules() if isinstance(layer, FrozenBatchNorm2d)]
    assert layers
    assert not any((layer.running_var == 1).all() for layer in layers)
