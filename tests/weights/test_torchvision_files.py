"""Torchvision's state dicts: whole detectors, and ImageNet classifiers for the backbone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

import pytest
import torch
from torch import Tensor, nn
from torchvision.models import mobilenet_v2, mobilenet_v3_large, resnet18, resnet50
from torchvision.models.detection import (
    FasterRCNN_ResNet50_FPN_Weights,
    fasterrcnn_mobilenet_v3_large_320_fpn,
    fasterrcnn_resnet50_fpn,
    retinanet_resnet50_fpn,
)
from torchvision.ops import FrozenBatchNorm2d

from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions
from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidData
from leocod.networks.base import BackboneLayout
from leocod.networks.two_stage import TwoStage
from leocod.weights import load_weights, read_classes
from leocod.weights.names import COCO
from leocod.weights.torchvision_files import (
    convert_torchvision,
    count_rows,
    download,
    find_weights,
    is_weights_name,
)

ROOT = Path(__file__).parent.parent.parent
REAL = ROOT.parent / "shared" / "data" / "weights" / "mobilenet_v2-b0353104.pth"
CLASSES = ("mug", "person", "Dining_Table")
BOXES_OF_ANCHORS = "head.regression_head.bbox_reg.bias"
DETECTORS = {
    "resnet50-fpn": fasterrcnn_resnet50_fpn,
    "mobilenet_v3-320-fpn": fasterrcnn_mobilenet_v3_large_320_fpn,
}


def ours(backbone: str, **options: object) -> FasterRCNNDetector:
    settings = FasterRCNNOptions.model_validate({"backbone": backbone, "short_side": 64, **options})
    return FasterRCNNDetector(CLASSES, settings)


def quick(build: Callable[..., nn.Module], **options: object) -> nn.Module:
    """A model of torchvision whose numbers need only differ: its own careful draw takes seconds."""
    with torch.device("meta"):
        model = build(**options)
    model.to_empty(device="cpu")
    for value in model.state_dict().values():
        value.uniform_(0.5, 1.5) if value.is_floating_point() else value.zero_()
    return model


def lived(model: nn.Module) -> nn.Module:
    """With statistics that training could have left."""
    for part in model.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(std=0.1)
            part.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(part.weight, 0.5, 1.5)
    return model.eval()


def saved(path: Path, model: nn.Module) -> str:
    torch.save(model.state_dict(), path)
    return str(path)


@pytest.mark.parametrize("backbone", DETECTORS)
def test_a_whole_detector_gives_all_its_tensors_and_the_rows_of_its_classes(tmp_path: Path, backbone: str) -> None:
    theirs = quick(DETECTORS[backbone], weights=None, weights_backbone=None)
    detector = ours(backbone)
    before = {name: value.clone() for name, value in detector.model.state_dict().items()}

    load_weights(detector, saved(tmp_path / "whole.pth", theirs))

    state, given = detector.model.state_dict(), theirs.state_dict()
    predictor = "roi_heads.box_predictor."
    assert all(torch.equal(value, given[name]) for name, value in state.items() if not name.startswith(predictor))
    scores = f"{predictor}cls_score.weight"
    assert torch.equal(state[scores][[0, 2, 3]], given[scores][[0, 1, 67]])
    assert torch.equal(state[scores][1], before[scores][1])
    boxes = f"{predictor}bbox_pred.bias"
    assert torch.equal(state[boxes][12:], given[boxes][4 * 67 : 4 * 68])


def test_a_retinanet_gives_the_rows_of_its_classes_for_every_anchor(tmp_path: Path) -> None:
    theirs = quick(retinanet_resnet50_fpn, weights=None, weights_backbone=None)
    detector = RetinaNetDetector(CLASSES, RetinaNetOptions(short_side=64))
    file = saved(tmp_path / "whole.pth", theirs)

    load_weights(detector, file)

    name = "head.classification_head.cls_logits.weight"
    own, given = (one.state_dict()[name].unflatten(0, (9, -1)) for one in (detector.model, theirs))
    assert torch.equal(own[:, 1:], given[:, [1, 67]])
    assert not torch.equal(own[:, 0], given[:, 0])
    assert torch.equal(detector.model.backbone.body.conv1.weight, theirs.backbone.body.conv1.weight)
    assert read_classes(file) == COCO


def test_rows_are_counted_by_the_class_layer_and_by_the_anchors_of_a_cell() -> None:
    with torch.device("meta"):
        one = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=7).state_dict()
        two = fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=7).state_dict()
    number = torch.tensor(1.0)

    assert (count_rows(two), count_rows(one), count_rows({})) == (7, 7, None)
    assert count_rows({"roi_heads.box_predictor.cls_score.weight": number}) == 0
    assert count_rows({"head.classification_head.cls_logits.weight": number}) == 0
    assert count_rows({"head.classification_head.cls_logits.weight": torch.ones(6), BOXES_OF_ANCHORS: number}) == 6


def test_names_of_old_files_are_understood() -> None:
    with torch.device("meta"):
        state = retinanet_resnet50_fpn(weights=None, weights_backbone=None).state_dict()
    old: dict[str, Tensor] = {}
    for name, value in state.items():
        head, _, rest = name.partition("_head.conv.")
        if rest:
            number, _, kind = rest.partition(".0.")
            name = f"{head}_head.conv.{2 * int(number)}.{kind}"
        old[name.replace(".0.weight", ".weight").replace(".0.bias", ".bias") if ".fpn." in name else name] = value
    old["rpn.head.conv.weight"] = torch.zeros(1)

    loaded = convert_torchvision(Path("old.pth"), old, None)

    expected = {name for name in state if "num_batches" not in name} | {"rpn.head.conv.0.0.weight"}
    assert set(old) & set(state) != set(state)
    assert set(loaded.tensors) == expected


@pytest.mark.parametrize(
    ("backbone", "classifier"),
    [
        ("resnet18-fpn", resnet18),
        ("mobilenet_v2-fpn", mobilenet_v2),
    ],
)
def test_a_classifier_fills_the_body_and_leaves_the_rest(
    tmp_path: Path, backbone: str, classifier: Callable[..., nn.Module]
) -> None:
    theirs = quick(classifier, weights=None)
    detector = ours(backbone)
    before = {name: value.clone() for name, value in detector.model.state_dict().items()}
    file = saved(tmp_path / "classifier.pth", theirs)

    load_weights(detector, file)

    given = {name.removeprefix("features."): value for name, value in theirs.state_dict().items()}
    for name, value in detector.model.state_dict().items():
        inside = name.removeprefix("backbone.body.")
        assert torch.equal(value, before[name] if inside == name else given[inside]), name
    assert read_classes(file) == ()


def test_a_mobilenet_v3_computes_what_it_was_trained_to(tmp_path: Path) -> None:
    theirs = lived(mobilenet_v3_large(weights=None))
    detector = ours("mobilenet_v3-320-fpn")
    load_weights(detector, saved(tmp_path / "v3.pth", theirs))
    pixels = torch.rand(1, 3, 64, 64)

    with torch.inference_mode():
        expected = theirs.features(pixels)
        features = list(detector.model.eval().backbone.body(pixels).values())[-1]

    torch.testing.assert_close(features, expected, atol=1e-4, rtol=1e-4)


def test_a_classifier_becomes_a_c4_network(tmp_path: Path) -> None:
    theirs = lived(resnet50(weights=None))
    detector = ours("resnet50-c4", stride_in_1x1=False)
    load_weights(detector, saved(tmp_path / "r.pth", theirs))
    model, image = detector.model, torch.rand(3, 64, 64)

    with torch.inference_mode():
        mean, std = (torch.tensor(value)[:, None, None] for value in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        stem = theirs.maxpool(theirs.relu(theirs.bn1(theirs.conv1(((image - mean) / std)[None]))))
        expected = theirs.layer3(theirs.layer2(theirs.layer1(stem)))
        normalised = model.transform.normalize(image)[None]
        features = model.backbone(normalised)
        regions, last = model.roi_heads.box_head(expected), theirs.layer4(expected)

    torch.testing.assert_close(features, expected, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(regions, last.mean(dim=(2, 3)), atol=1e-3, rtol=1e-3)


def test_a_classifier_needs_its_own_stride_in_a_c4_network(tmp_path: Path) -> None:
    file = saved(tmp_path / "resnet18.pth", quick(resnet18, weights=None))
    detector = TwoStage(nn.Identity(), CLASSES, learning_rate=1.0)
    detector.backbone_layout = BackboneLayout("resnet50-c4", {"": "backbone.body."}, (), (), stride_in_1x1=True)

    with pytest.raises(InvalidData, match=r"resnet18\.pth was trained .*Set `detector\.stride_in_1x1=false`"):
        load_weights(detector, file)


def test_a_classifier_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path / "resnet18.pth", quick(resnet18, weights=None))

    with pytest.raises(
        InvalidData, match=r"resnet18\.pth does not fit .*missing: backbone\.body\.0\.0\.weight.*unknown"
    ):
        load_weights(ours("mobilenet_v2-fpn"), file)


def test_stages_after_the_networks_last_one_are_left_out(tmp_path: Path) -> None:
    theirs = quick(resnet18, weights=None)
    detector = ours("resnet18-fpn")
    del detector.model.backbone.body.layer4

    load_weights(detector, saved(tmp_path / "r.pth", theirs))

    assert torch.equal(detector.model.backbone.body.layer3[1].conv2.weight, theirs.layer3[1].conv2.weight)


def test_weights_that_were_trained_without_an_epsilon_compute_the_same_with_one(tmp_path: Path) -> None:
    file = tmp_path / Path(FasterRCNN_ResNet50_FPN_Weights.COCO_V1.url).name
    theirs = ours("resnet18-fpn")
    for part in theirs.model.modules():
        if isinstance(part, FrozenBatchNorm2d):
            # So small that an epsilon of 1e-5 would be felt.
            part.running_var.uniform_(1e-5, 1e-4)
            part.weight.fill_(1e-2)
            part.eps = 0.0
    detector = ours("resnet18-fpn")

    load_weights(detector, saved(file, theirs.model), names=CLASSES)

    pixels = torch.rand(1, 3, 64, 64)
    with torch.inference_mode():
        features, expected = (one.model.backbone.body(pixels)["0"] for one in (detector, theirs))
    torch.testing.assert_close(features, expected, atol=1e-4, rtol=1e-4)


def test_classes_that_are_not_cocos_must_be_named(tmp_path: Path) -> None:
    theirs = quick(fasterrcnn_mobilenet_v3_large_320_fpn, weights=None, weights_backbone=None, num_classes=3)
    file = saved(tmp_path / "own.pth", theirs)
    detector = ours("mobilenet_v3-320-fpn")

    with pytest.raises(InvalidData, match=r"own\.pth does not name its classes \(3 outputs\).*names="):
        load_weights(detector, file)
    load_weights(detector, file, names=["cup", "mug"])

    scores = detector.model.roi_heads.box_predictor.cls_score.weight
    assert torch.equal(scores[:2], theirs.roi_heads.box_predictor.cls_score.weight[[0, 2]])


def test_another_mean_of_pixels_is_refused(tmp_path: Path) -> None:
    detector = ours("resnet18-fpn")
    assert detector.backbone_layout is not None
    detector.backbone_layout = replace(detector.backbone_layout, image_mean=(0.5, 0.5, 0.5))

    with pytest.raises(InvalidData, match="trained on images of mean"):
        load_weights(detector, saved(tmp_path / "r.pth", quick(resnet18, weights=None)))


@pytest.mark.parametrize(
    ("build", "options"),
    [(resnet18, {}), (fasterrcnn_mobilenet_v3_large_320_fpn, {"weights_backbone": None})],
    ids=["a classifier", "a detector"],
)
def test_a_detector_that_is_not_built_around_torchvisions_networks_is_told_so(
    tmp_path: Path, build: Callable[..., nn.Module], options: dict[str, object]
) -> None:
    file = saved(tmp_path / "r.pth", quick(build, weights=None, **options))

    with pytest.raises(InvalidData, match=r"r\.pth is a network of torchvision, and Tiny is not built around one\."):
        load_weights(Tiny(CLASSES, TinyOptions(weights=None)), file)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("FasterRCNN_ResNet50_FPN_Weights.COCO_V1", "FasterRCNN_ResNet50_FPN_Weights.COCO_V1"),
        ("torchvision:MobileNet_V2_Weights.IMAGENET1K_V1", "MobileNet_V2_Weights.IMAGENET1K_V1"),
        ("torchvision:mobilenet_v3_large", "MobileNet_V3_Large_Weights.IMAGENET1K_V2"),
    ],
)
def test_weights_are_found_by_name(source: str, name: str) -> None:
    assert is_weights_name(source)
    assert str(find_weights(source)) == name


@pytest.mark.parametrize("source", ["Nothing_Weights.V1", "ResNet50_Weights.V9", "torchvision:nothing"])
def test_a_name_that_torchvision_does_not_know_is_told(source: str) -> None:
    with pytest.raises(InvalidData, match=rf"no weights '{source.removeprefix('torchvision:')}'"):
        find_weights(source)


def test_classes_of_named_weights_are_known_without_fetching_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))

    assert read_classes("FasterRCNN_ResNet50_FPN_Weights.COCO_V1") == COCO
    assert read_classes("torchvision:resnet18") == ()
    assert not list(tmp_path.iterdir())


def test_without_a_network_the_file_to_fetch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise URLError("no route to host")

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(torch.hub, "download_url_to_file", unreachable)

    with pytest.raises(InvalidData, match=r"no route to host.*Download https://\S+/resnet18-\w+\.pth elsewhere.* path"):
        download(find_weights("ResNet18_Weights.IMAGENET1K_V1"))


def test_a_file_in_torchs_cache_is_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = quick(resnet18, weights=None)
    weights = find_weights("ResNet18_Weights.IMAGENET1K_V1")
    cache = tmp_path / "hub" / "checkpoints"
    cache.mkdir(parents=True)
    saved(cache / Path(weights.url).name, theirs)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    detector = ours("resnet18-fpn")

    load_weights(detector, "ResNet18_Weights.IMAGENET1K_V1")

    assert torch.equal(detector.model.backbone.body.conv1.weight, theirs.conv1.weight)


@pytest.mark.skipif(not REAL.is_file(), reason=f"needs {REAL.name}, torchvision's own file, which is not here")
def test_torchvisions_own_mobilenet_v2_computes_in_our_network_what_it_computes_there(tmp_path: Path) -> None:
    theirs = mobilenet_v2(weights=None)
    theirs.load_state_dict(torch.load(REAL, weights_only=True))
    detector = ours("mobilenet_v2-fpn")
    file = shutil.copy(REAL, tmp_path)

    load_weights(detector, str(file))

    pixels = torch.rand(2, 3, 96, 96)
    with torch.inference_mode():
        features = list(detector.model.backbone.body(pixels).values())[-1]
        expected = theirs.eval().features(pixels)
    torch.testing.assert_close(features, expected, atol=1e-4, rtol=1e-4)


def test_a_name_with_a_number_of_thousands_of_digits_is_told_as_unknown(tmp_path: Path) -> None:
    number = "7" * 5000
    state = quick(resnet18).state_dict()
    names = [f"backbone.body.layer{number}.0.weight", f"head.a_head.conv.{number}.bias"]
    torch.save({**state, **{name: torch.ones(1) for name in names}}, tmp_path / "odd.pth")

    with pytest.raises(InvalidData, match=r"odd\.pth does not fit this detector") as told:
        load_weights(ours("resnet50-fpn"), str(tmp_path / "odd.pth"))
    assert len(str(told.value)) < len(str(tmp_path)) + 2000


def test_variances_of_another_shape_are_told(tmp_path: Path) -> None:
    state = quick(mobilenet_v3_large).state_dict()
    state["features.0.1.running_var"] = torch.ones(3, 1)
    torch.save(state, tmp_path / "odd.pth")

    with pytest.raises(InvalidData, match=r"of another shape: backbone\.body\.0\.1\.running_var \(3 x 1"):
        load_weights(ours("mobilenet_v3-320-fpn"), str(tmp_path / "odd.pth"))
