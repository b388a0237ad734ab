"""Torchvision's weights, by name or as a file: whole detectors, and ImageNet classifiers for the backbone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torchvision.models import get_model_weights, get_weight
from torchvision.models.detection import FasterRCNN_ResNet50_FPN_Weights, RetinaNet_ResNet50_FPN_Weights
from torchvision.ops import FrozenBatchNorm2d

from leocod.errors import InvalidData
from leocod.networks.base import BackboneLayout, BaseDetector
from leocod.text import one_line
from leocod.weights.fitting import LoadedWeights
from leocod.weights.names import BACKGROUND, COCO_ROWS

PREFIX = "torchvision:"
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
"""Mean and deviation of the pixels that torchvision trains on, as parts of 255, red first."""

SCORES = "roi_heads.box_predictor.cls_score.weight"
LOGITS = "head.classification_head.cls_logits.weight"
ANCHOR_BOXES = "head.regression_head.bbox_reg.bias"
"""Of Faster R-CNN, the class scores; of RetinaNet, the class scores and the boxes of all anchors of a cell."""

_ENUM = re.compile(r"\w+_Weights\.\w+")
_TRAINED_WITHOUT_EPSILON = (FasterRCNN_ResNet50_FPN_Weights.COCO_V1, RetinaNet_ResNet50_FPN_Weights.COCO_V1)
_EPSILON_OF_MOBILENET_V3 = 1e-3
_OLD_NAMES = (
    (re.compile(r"(rpn\.head\.conv)\.(weight|bias)"), r"\1.0.0.\2"),
    (re.compile(r"(backbone\.fpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)"), r"\1.0.\2"),
)
_OLD_HEAD = re.compile(r"(head\.\w+_head\.conv)\.(\d{1,4})\.(weight|bias)")


def is_weights_name(source: str) -> bool:
    """Whether it names weights of torchvision, and not a file."""
    return source.startswith(PREFIX) or _ENUM.fullmatch(source) is not None


def find_weights(source: str) -> Any:
    """The weights of that name, or the best ones of the model of that name."""
    name = source.removeprefix(PREFIX)
    try:
        return get_weight(name) if "." in name else get_model_weights(name).DEFAULT
    except (ValueError, KeyError) as error:
        raise InvalidData(
            f"torchvision has no weights '{name}'. Names are like ResNet50_Weights.IMAGENET1K_V1, or torchvision: and "
            "a model of `torchvision.models.list_models()`."
        ) from error


def download(weights: Any) -> Path:
    """The file of these weights in torch's cache; downloaded if it is not there."""
    file = Path(torch.hub.get_dir()) / "checkpoints" / Path(weights.url).name
    if not file.is_file():
        digest = torch.hub.HASH_REGEX.search(file.name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(weights.url, str(file), digest and digest[1], progress=False)
        # Without a network it is an OSError, for a file with another digest a RuntimeError.
        except (OSError, RuntimeError) as error:
            raise InvalidData(
                f"{weights} could not be downloaded ({error}). Download {weights.url} elsewhere, and give its path as "
                f"`detector.weights`, or put it at {file}."
            ) from error
    return file


def read_rows(weights: Any) -> tuple[str, ...]:
    """The rows of the class layer, by the weights' description; none for a classifier, whose last layer is not used."""
    categories = tuple(weights.meta.get("categories", ()))
    return categories if categories[:1] == (BACKGROUND,) else ()


def is_torchvision(names: Mapping[str, Any]) -> bool:
    """Whether the tensors have the names of torchvision's detectors, ResNets or MobileNets."""
    return any(name in names for name in ("backbone.body.conv1.weight", "backbone.body.0.0.weight")) or is_classifier(
        names
    )


def is_classifier(names: Mapping[str, Any]) -> bool:
    """Whether it is the whole state of a ResNet or a MobileNet."""
    return {"conv1.weight", "fc.weight"} <= set(names) or {"features.0.0.weight", "features.0.1.weight"} <= set(names)


def convert_torchvision(path: Path, content: Mapping[str, Tensor], names: Sequence[str] | None) -> LoadedWeights:
    """Convert to the names of today's torchvision. A classifier keeps its own names, but for `features.`."""
    origin = one_line(path)
    # The count of batches is of use to a normalisation that learns; ours is frozen.
    tensors = {
        _update_name(name): value for name, value in content.items() if not name.endswith(".num_batches_tracked")
    }
    if is_classifier(content):
        body = {
            name.removeprefix("features."): value
            for name, value in tensors.items()
            if not name.startswith(("fc.", "classifier."))
        }
        is_mobilenet_v3 = any(".block." in name for name in body)
        epsilon = _EPSILON_OF_MOBILENET_V3 if is_mobilenet_v3 else None
        return LoadedWeights("torchvision", origin, body, is_backbone=True, epsilon=epsilon, stride_in_1x1=False)
    without_epsilon = path.name in {Path(weights.url).name for weights in _TRAINED_WITHOUT_EPSILON}
    rows = _name_rows(path, tensors, names)
    epsilon = 0.0 if without_epsilon else None
    return LoadedWeights("torchvision", origin, tensors, rows, epsilon=epsilon, stride_in_1x1=False)


def _update_name(name: str) -> str:
    """The name that torchvision uses since 0.14, for one from an older file."""
    for old, new in _OLD_NAMES:
        if old.fullmatch(name):
            return old.sub(new, name)
    if match := _OLD_HEAD.fullmatch(name):
        # Each convolution was followed by an activation, which had a number too.
        return f"{match[1]}.{int(match[2]) // 2}.0.{match[3]}"
    return name


def count_rows(tensors: Mapping[str, Tensor]) -> int | None:
    """How many classes a detector's class layer has rows for, the background counted where it has a row."""
    if SCORES in tensors:
        return _length(tensors[SCORES])
    if LOGITS in tensors:
        anchors = _length(tensors[ANCHOR_BOXES]) // 4 if ANCHOR_BOXES in tensors else 0
        return _length(tensors[LOGITS]) // max(1, anchors)
    return None


def _length(value: Tensor) -> int:
    # A file may have a single number in place of a layer.
    return value.shape[0] if value.dim() else 0


def _name_rows(path: Path, tensors: Mapping[str, Tensor], names: Sequence[str] | None) -> tuple[str, ...]:
    count = count_rows(tensors)
    if count is None:
        raise InvalidData(
            f"{one_line(path)} has a backbone but no class layer. Give a whole detector or an ImageNet classifier."
        )
    if names is None and count == len(COCO_ROWS):
        return COCO_ROWS
    if names is None:
        raise InvalidData(
            f"{one_line(path)} does not name its classes ({count} outputs). Without names, only COCO's 91 outputs are "
            "known. Name the classes: `leocod.weights.load_weights(..., names=[...])`."
        )
    has_background = SCORES in tensors or count == len(names) + 1
    return (BACKGROUND, *names) if has_background and tuple(names[:1]) != (BACKGROUND,) else tuple(names)


def adapt(loaded: LoadedWeights, detector: BaseDetector) -> LoadedWeights:
    """The same weights for this network: its stages in their places, its scale of pixels, its normalisation."""
    layout = detector.backbone_layout
    if layout is None:
        raise InvalidData(
            f"{loaded.origin} is a network of torchvision, and {type(detector).__name__} is not built around one. "
            "Use weights that leocod wrote for this detector."
        )
    tensors = dict(loaded.tensors)
    if loaded.is_backbone:
        tensors = _place_stages(tensors, layout, detector.model.state_dict())
    _scale_input(loaded.origin, tensors, layout)
    if loaded.epsilon is not None:
        _convert_epsilon(tensors, detector, loaded.epsilon)
    return replace(loaded, tensors=tensors)


def _place_stages(
    tensors: Mapping[str, Tensor], layout: BackboneLayout, state: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Give a classifier's tensors their names in the network. Stages after the network's last one are left out."""
    known = [
        prefix + name.removeprefix(place)
        for name in state
        for prefix, place in layout.stages.items()
        if name.startswith(place)
    ]
    last = max(map(_find_stage, known), default=0)
    return {layout.place(name): value for name, value in tensors.items() if _find_stage(name) <= last}


def _find_stage(name: str) -> int:
    """The number of a classifier's stage: `layer3` of a ResNet, `3` of a MobileNet; 0 for what comes before."""
    match = re.match(r"(?:layer)?(\d{1,4})\.", name)
    return int(match[1]) if match else 0


def _scale_input(origin: str, tensors: dict[str, Tensor], layout: BackboneLayout) -> None:
    """torchvision divides pixels by their deviation. A network that does not gets it into its first convolution."""
    mean, std = torch.tensor(layout.image_mean), torch.tensor(layout.image_std)
    if not torch.allclose(mean, torch.tensor(MEAN), atol=1e-4):
        raise InvalidData(f"{origin} was trained on images of mean {MEAN}, and this network takes {mean.tolist()}.")
    if torch.equal(std, torch.tensor(STD)):
        return
    for name in map(layout.place, ("conv1.weight", "0.0.weight")):
        if name in tensors and tensors[name].dim() == 4 and tensors[name].shape[1:2] == std.shape:
            tensors[name] = tensors[name] * (std / torch.tensor(STD))[None, :, None, None]


def _convert_epsilon(tensors: dict[str, Tensor], detector: BaseDetector, epsilon: float) -> None:
    """Change weights so that they compute with this network's epsilon what they computed with another one."""
    for name, layer in detector.model.named_modules():
        weight, variance = f"{name}.weight", f"{name}.running_var"
        if not isinstance(layer, FrozenBatchNorm2d) or layer.eps == epsilon or not {weight, variance} <= tensors.keys():
            continue
        # A tensor of another shape does not fit; the error comes later.
        if tensors[weight].shape == tensors[variance].shape:
            # In double precision; the limit is for channels that never varied.
            wide = tensors[variance].double()
            ratio = ((wide + layer.eps) / (wide + epsilon).clamp(min=1e-30)).sqrt()
            tensors[weight] = (tensors[weight].double() * ratio).to(tensors[weight].dtype)
