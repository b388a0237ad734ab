"""Every tensor is accounted for; of class layers, the rows of classes of the same name are taken."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidData
from leocod.networks.base import BaseDetector, ClassLayer
from leocod.types import Detections, Images, Labels
from leocod.weights.fitting import LoadedWeights, copy_into
from leocod.weights.names import BACKGROUND


def two_stages(*classes: str, seed: int) -> Tiny:
    return Tiny(classes, TinyOptions(weights=None), seed=seed)


class Anchored(BaseDetector):
    """A detector of a third kind, with names of its own: 2 anchors a cell, no background, 3 features."""

    def __init__(self, *classes: str) -> None:
        model = nn.ModuleDict({"names": nn.Conv2d(3, 2 * len(classes), 3), "boxes": nn.Conv2d(3, 2 * 4, 3)})
        super().__init__(model, classes, learning_rate=1.0)

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        raise NotImplementedError

    def detect(self, images: Images) -> list[Detections]:
        raise NotImplementedError

    def class_layers(self) -> Sequence[ClassLayer]:
        return (ClassLayer("names", groups=2),)


def of(detector: BaseDetector, *rows: str, **changes: Tensor) -> LoadedWeights:
    return LoadedWeights("leocod", "the file", {**detector.model.state_dict(), **changes}, rows)


def test_rows_of_the_same_name_are_taken_and_the_others_stay() -> None:
    classes = ("book", "Car", "mug")
    source, fresh, detector = (
        two_stages("mug", "car", seed=0),
        two_stages(*classes, seed=1),
        two_stages(*classes, seed=1),
    )

    copy_into(detector, of(source, BACKGROUND, "mug", "car"))

    scores, old, new = (one.model.roi_heads.box_predictor.cls_score.weight for one in (detector, source, fresh))
    assert torch.equal(scores, torch.stack([old[0], new[1], old[2], old[1]]))
    boxes, old, new = (one.model.roi_heads.box_predictor.bbox_pred.bias for one in (detector, source, fresh))
    assert torch.equal(boxes, torch.cat([old[0:4], new[4:8], old[8:12], old[4:8]]))
    assert torch.equal(detector.model.backbone.output.weight, source.model.backbone.output.weight)


def test_the_background_is_taken_whether_the_source_names_it_or_not() -> None:
    source = two_stages("mug", "car", seed=0)
    named, unnamed = two_stages("car", seed=1), two_stages("car", seed=1)

    copy_into(named, of(source, BACKGROUND, "mug", "car"))
    copy_into(unnamed, of(source, "mug", "car"))

    for name, value in named.model.state_dict().items():
        assert torch.equal(value, unnamed.model.state_dict()[name])
    scores, given = (one.model.roi_heads.box_predictor.cls_score.weight for one in (named, source))
    assert torch.equal(scores, given[[0, 2]])


def test_rows_in_groups_are_taken_from_every_group() -> None:
    source, detector = Anchored("mug", "car"), Anchored("book", "car", "mug")
    before = detector.model["names"].bias.detach().clone()

    copy_into(detector, of(source, "mug", "car"))

    bias, old = detector.model["names"].bias, source.model["names"].bias
    assert torch.equal(bias, torch.stack([before[0], old[1], old[0], before[3], old[3], old[2]]))
    weight, old = detector.model["names"].weight, source.model["names"].weight
    assert torch.equal(weight[[1, 2, 4, 5]], old[[1, 0, 3, 2]])
    assert torch.equal(detector.model["boxes"].weight, source.model["boxes"].weight)


def test_where_a_layer_has_no_background_a_row_of_that_name_is_a_class_that_nobody_has() -> None:
    source, detector = Anchored(BACKGROUND, "mug"), Anchored("mug")

    copy_into(detector, of(source, BACKGROUND, "mug"))

    assert torch.equal(detector.model["names"].bias, source.model["names"].bias[[1, 3]])


def test_a_network_without_classes_takes_all_but_rows() -> None:
    source, detector = Anchored("mug", "car"), Anchored("mug")
    layer, detector.classes = detector.model["names"], ()
    layer.weight, layer.bias = nn.Parameter(layer.weight[:0]), nn.Parameter(layer.bias[:0])

    copy_into(detector, of(source, "mug", "car"))

    assert torch.equal(detector.model["boxes"].weight, source.model["boxes"].weight)
    assert len(layer.bias) == 0


def test_tensors_that_do_not_fit_are_named() -> None:
    source = two_stages("mug", "car", seed=0)
    source.model.backbone.lateral2 = nn.Conv2d(64, 32, 1)
    source.model.backbone.extra = nn.Conv2d(1, 1, 1)
    del source.model.backbone.stage3.shortcut

    with pytest.raises(
        InvalidData,
        match=r"the file does not fit this detector\. Tensors missing: backbone\.stage3\.shortcut.*; "
        r"unknown: backbone\.extra.*; "
        r"of another shape: .*lateral2\.weight \(32 x 64 x 1 x 1, should be 64 x 64 x 1 x 1\)",
    ):
        copy_into(two_stages("mug", "car", seed=0), of(source, BACKGROUND, "mug", "car"))


def test_the_first_few_are_named_and_the_others_counted() -> None:
    detector = two_stages("mug", seed=0)
    nothing = LoadedWeights("leocod", "the file", {}, (BACKGROUND, "mug"))

    with pytest.raises(InvalidData, match=f"and {len(detector.model.state_dict()) - 5} more"):
        copy_into(detector, nothing)


def test_a_misfit_leaves_the_detector_as_it_was() -> None:
    detector, source = two_stages("mug", seed=0), two_stages("mug", seed=1)
    before = detector.state_dict()["weights"]
    del source.model.roi_heads.box_head.fc7

    with pytest.raises(InvalidData):
        copy_into(detector, of(source, BACKGROUND, "mug"))

    assert all(torch.equal(value, before[name]) for name, value in detector.model.state_dict().items())


def test_values_that_are_not_finite_are_named() -> None:
    broken = {"backbone.output.bias": torch.full((64,), torch.nan)}
    source = two_stages("mug", seed=0)

    with pytest.raises(InvalidData, match=r"not finite numbers: backbone\.output\.bias"):
        copy_into(two_stages("mug", seed=0), of(source, BACKGROUND, "mug", **broken))


@pytest.mark.parametrize("names", [(), ("mug",), ("mug", "car", "cup")])
@pytest.mark.parametrize("background", [(), (BACKGROUND,)], ids=["", "background"])
def test_as_many_names_as_rows_are_needed(names: tuple[str, ...], background: tuple[str, ...]) -> None:
    with pytest.raises(InvalidData, match=rf"rows for 2 classes but there are {len(names)} class names"):
        copy_into(two_stages("mug", seed=0), of(two_stages("mug", "car", seed=0), *background, *names))


def test_half_precision_is_widened() -> None:
    source, detector = two_stages("mug", seed=0), two_stages("mug", seed=1)
    source.model.half()

    copy_into(detector, of(source, BACKGROUND, "mug"))

    assert detector.model.backbone.output.weight.dtype == torch.float32
    assert torch.equal(detector.model.backbone.output.weight, source.model.backbone.output.weight.float())


def test_odd_names_of_tensors_are_told_in_one_short_line() -> None:
    detector = two_stages("mug", seed=0)
    odd = {"a\nb": torch.ones(1), "x" * 5000: torch.ones(1)}

    with pytest.raises(InvalidData, match=r"unknown: a\\nb, x+\.\.\.") as told:
        copy_into(detector, of(detector, BACKGROUND, "mug", **odd))
    assert len(str(told.value)) < 400
