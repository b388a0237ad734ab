"""Every tensor is accounted for; of class layers, the rows of classes of the same name are taken."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torchvision.models.detection import retinanet_resnet50_fpn

from leocod.detectors.tiny import TinyOptions, tiny_model
from leocod.errors import InvalidData
from leocod.weights.fitting import LoadedWeights, copy_into, count_rows, rows_for
from leocod.weights.names import BACKGROUND

BOXES_OF_ANCHORS = "head.regression_head.bbox_reg.bias"


def two_stages(classes: int, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return tiny_model(classes, TinyOptions(weights=None))


class OneStage(nn.Module):
    """The class layer of a RetinaNet with 2 anchors a cell and 3 features, under its name."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.head = nn.Module()
        self.head.classification_head = nn.Module()
        self.head.classification_head.cls_logits = nn.Conv2d(3, 2 * classes, 3)
        self.head.regression_head = nn.Module()
        self.head.regression_head.bbox_reg = nn.Conv2d(3, 2 * 4, 3)


def of(model: nn.Module, *rows: str, **changes: torch.Tensor) -> LoadedWeights:
    return LoadedWeights("leocod", "the file", {**model.state_dict(), **changes}, rows)


def test_rows_of_the_same_name_are_taken_and_the_others_stay() -> None:
    source, fresh, model = two_stages(2, seed=0), two_stages(3, seed=1), two_stages(3, seed=1)

    copy_into(model, ("book", "Car", "mug"), of(source, BACKGROUND, "mug", "car"))

    scores, old, new = (one.roi_heads.box_predictor.cls_score.weight for one in (model, source, fresh))
    assert torch.equal(scores, torch.stack([old[0], new[1], old[2], old[1]]))
    boxes, old, new = (one.roi_heads.box_predictor.bbox_pred.bias for one in (model, source, fresh))
    assert torch.equal(boxes, torch.cat([old[0:4], new[4:8], old[8:12], old[4:8]]))
    assert torch.equal(model.backbone.output.weight, source.backbone.output.weight)


def test_rows_of_one_stage_are_taken_for_every_anchor() -> None:
    torch.manual_seed(0)
    source, model = OneStage(2), OneStage(3)
    before = model.head.classification_head.cls_logits.bias.detach().clone()

    copy_into(model, ("book", "car", "mug"), of(source, "mug", "car"))

    bias, old = (one.head.classification_head.cls_logits.bias for one in (model, source))
    assert torch.equal(bias, torch.stack([before[0], old[1], old[0], before[3], old[3], old[2]]))
    weight, old = (one.head.classification_head.cls_logits.weight for one in (model, source))
    assert torch.equal(weight[[1, 2, 4, 5]], old[[1, 0, 3, 2]])
    assert torch.equal(model.head.regression_head.bbox_reg.weight, source.head.regression_head.bbox_reg.weight)


def test_a_network_without_classes_takes_all_but_rows() -> None:
    source, model = OneStage(2), OneStage(1)
    layer = model.head.classification_head.cls_logits
    layer.weight, layer.bias = nn.Parameter(layer.weight[:0]), nn.Parameter(layer.bias[:0])

    copy_into(model, (), of(source, "mug", "car"))

    assert torch.equal(model.head.regression_head.bbox_reg.weight, source.head.regression_head.bbox_reg.weight)
    assert len(layer.bias) == 0


def test_the_rows_of_a_network_are_counted_by_its_kind() -> None:
    two, one = two_stages(2, seed=0).state_dict(), OneStage(2).state_dict()

    assert rows_for(two, ("mug", "car")) == (BACKGROUND, "mug", "car")
    assert rows_for(one, ("mug", "car")) == ("mug", "car")
    assert (count_rows(two), count_rows(one), count_rows({})) == (3, 2, None)


def test_the_names_here_are_those_of_torchvisions_retinanet() -> None:
    with torch.device("meta"):
        theirs = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=7).state_dict()

    assert set(OneStage(7).state_dict()) <= set(theirs)
    assert count_rows(theirs) == 7


def test_tensors_that_do_not_fit_are_named() -> None:
    source = two_stages(2, seed=0)
    source.backbone.lateral2 = nn.Conv2d(64, 32, 1)
    source.backbone.extra = nn.Conv2d(1, 1, 1)
    del source.backbone.stage3.shortcut

    with pytest.raises(
        InvalidData,
        match=r"the file does not fit this detector\. Tensors missing: backbone\.stage3\.shortcut.*; "
        r"unknown: backbone\.extra.*; "
        r"of another shape: .*lateral2\.weight \(32 x 64 x 1 x 1, should be 64 x 64 x 1 x 1\)",
    ):
        copy_into(two_stages(2, seed=0), ("mug", "car"), of(source, BACKGROUND, "mug", "car"))


def test_the_first_few_are_named_and_the_others_counted() -> None:
    model = two_stages(1, seed=0)
    nothing = LoadedWeights("leocod", "the file", {}, (BACKGROUND, "mug"))

    with pytest.raises(InvalidData, match=f"and {len(model.state_dict()) - 5} more"):
        copy_into(model, ("mug",), nothing)


def test_a_misfit_leaves_the_model_as_it_was() -> None:
    model, before = two_stages(1, seed=0), two_stages(1, seed=0)
    source = two_stages(1, seed=1)
    del source.roi_heads.box_head.fc7

    with pytest.raises(InvalidData):
        copy_into(model, ("mug",), of(source, BACKGROUND, "mug"))

    assert all(torch.equal(value, before.state_dict()[name]) for name, value in model.state_dict().items())


def test_values_that_are_not_finite_are_named() -> None:
    broken = {"backbone.output.bias": torch.full((64,), torch.nan)}
    source = two_stages(1, seed=0)

    with pytest.raises(InvalidData, match=r"not finite numbers: backbone\.output\.bias"):
        copy_into(two_stages(1, seed=0), ("mug",), of(source, BACKGROUND, "mug", **broken))


@pytest.mark.parametrize("rows", [(BACKGROUND, "mug"), (BACKGROUND, "mug", "car", "cup")])
def test_as_many_names_as_rows_are_needed(rows: tuple[str, ...]) -> None:
    with pytest.raises(InvalidData, match=rf"rows for 3 classes but there are {len(rows)} names"):
        copy_into(two_stages(1, seed=0), ("mug",), of(two_stages(2, seed=0), *rows))


def test_half_precision_is_widened() -> None:
    source = two_stages(1, seed=0).half()
    model = two_stages(1, seed=1)

    copy_into(model, ("mug",), of(source, BACKGROUND, "mug"))

    assert model.backbone.output.weight.dtype == torch.float32
    assert torch.equal(model.backbone.output.weight, source.backbone.output.weight.float())


def test_a_number_in_place_of_a_class_layer_has_no_rows() -> None:
    number = torch.tensor(1.0)

    assert count_rows({"roi_heads.box_predictor.cls_score.weight": number}) == 0
    assert count_rows({"head.classification_head.cls_logits.weight": number}) == 0
    assert count_rows({"head.classification_head.cls_logits.weight": torch.ones(6), BOXES_OF_ANCHORS: number}) == 6


def test_odd_names_of_tensors_are_told_in_one_short_line() -> None:
    model = two_stages(1, seed=0)

    with pytest.raises(InvalidData, match=r"unknown: a\\nb, x+\.\.\.") as told:
        copy_into(model, ("mug",), of(model, BACKGROUND, "mug", **{"a\nb": torch.ones(1), "x" * 5000: torch.ones(1)}))
    assert len(str(told.value)) < 400
