"""Frames become the input that torchvision's own transform makes of them."""

from __future__ import annotations

import pytest
import torch


def as_tensors(images):
    return [torch.tensor(image).permute(2, 0, 1).float() / 255 for image in images]


@pytest.mark.parametrize(
    "sizes",
    [[(48, 64)] * 3, [(48, 85)] * 2, [(48, 64), (64, 48), (48, 64), (40, 64)], [(30, 300), (96, 128)]],
    ids=["one size", "padded", "mixed", "long"],
)
def test_the_input_is_torchvisions(a_detector, a_frame, sizes):
    detector = a_detector()
    images = [a_frame(number, (0,), size=size)[0].image() for number, size in enumerate(sizes)]

    batch, input_sizes, scales = detector.prepare(images)
    expected, _ = detector.model.transform(as_tensors(images))

    torch.testing.assert_close(batch.tensors, expected.tensors, rtol=1e-4, atol=1e-5)
    assert input_sizes == expected.image_sizes
    for (height, width), (high, wide), (x, y) in zip(sizes, input_sizes, scales.tolist(), strict=True):
        assert (x, y) == pytest.approx((wide / width, high / height))


def test_an_image_is_described_by_the_means_of_its_maps(a_detector, a_frame):
    detector, image = a_detector(), a_frame(0)[0].image()

    [described] = detector.describe([image])

    with torch.no_grad():
        [features] = detector.features(detector.prepare([image])[0].tensors).values()
    assert described == pytest.approx(features[0].mean(dim=(1, 2)).numpy(), rel=1e-4)


def test_one_map_and_a_pyramid_are_features_by_level(a_detector):
    detector = a_detector()
    one = detector.features(torch.zeros(1, 3, 48, 64))
    detector.model.backbone = torch.nn.ModuleDict()
    detector.model.backbone.forward = lambda tensors: {"0": tensors, "1": tensors}

    assert list(one) == ["0"]
    assert one["0"].shape == (1, 64, 6, 8)
    assert list(detector.features(torch.zeros(1, 3, 4, 4))) == ["0", "1"]
