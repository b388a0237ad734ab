"""Torchvision's weights, by name or as a file: whole detectors, and ImageNet classifiers for the backbone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models import get_model_weights, get_weight
from torchvision.models.detection import FasterRCNN_ResNet50_FPN_Weights, RetinaNet_ResNet50_FPN_Weights
from torchvision.ops import FrozenBatchNorm2d

from leocod.errors import InvalidData
from leocod.text import one_line
from leocod.weights.fitting import BACKBONE, SCORES, LoadedWeights, count_rows
from leocod.weights.names import BACKGROUND, coco_rows

PREFIX = "torchvision:"
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
"""Of the images that torchvision trains on, as parts of 255, red first."""

_ENUM = re.compile(r"\w+_Weights\.\w+")
_TRAINED_WITHOUT_EPSILON = (FasterRCNN_ResNet50_FPN_Weights.COCO_V1, RetinaNet_ResNet50_FPN_Weights.COCO_V1)
_EPSILON_OF_MOBILENET_V3 = 1e-3
_OLD_NAMES = (
    (re.compile(r"(rpn\.head\.conv)\.(weight|bias)"), r"\1.0.0.\2"),
    (re.compile(r"(backbone\.fpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)"), r"\1.0.\2"),
)
_OLD_HEAD = re.compile(r"(head\.\w+_head\.conv)\.(\d{1,4})\.(weight|bias)")


def is_named(source: str) -> bool:
    """Whether it is a name of weights, not of a file."""
    return source.startswith(PREFIX) or _ENUM.fullmatch(source) is not None


def weights_of(source: str) -> Any:
    """The weights of a name: torchvision's own, or the best of a model."""
    name = source.removeprefix(PREFIX)
    try:
        return get_weight(name) if "." in name else get_model_weights(name).DEFAULT
    except (ValueError, KeyError) as error:
        raise InvalidData(
            f"torchvision has no weights '{name}'. Names are like ResNet50_Weights.IMAGENET1K_V1, or torchvision: and "
            "a model of `torchvision.models.list_models()`."
        ) from error


def fetched(weights: Any) -> Path:
    """The file of some weights, from torch's cache or from the network."""
    file = Path(torch.hub.get_dir()) / "checkpoints" / Path(weights.url).name
    if not file.is_file():
        digest = torch.hub.HASH_REGEX.search(file.name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(weights.url, str(file), digest and digest[1], progress=False)
        # No network is an OSError, a file that is not what its name says a RuntimeError.
        except (OSError, RuntimeError) as error:
            raise InvalidData(
                f"{weights} could not be fetched ({error}). Fetch {weights.url} elsewhere, and give its path as "
                f"`detector.weights`, or put it at {file}."
            ) from error
    return file


def classes_of_weights(weights: Any) -> tuple[str, ...]:
    """The rows of some weights' last layer; none for a classifier, whose last layer is not used."""
    categories = tuple(weights.meta.get("categories", ()))
    return categories if categories[:1] == (BACKGROUND,) else ()


def is_torchvision(names: Mapping[str, Any]) -> bool:
    """By the names of its detectors, ResNets and MobileNets."""
    return any(name in names for name in ("backbone.body.conv1.weight", "backbone.body.0.0.weight")) or is_classifier(
        names
    )


def is_classifier(names: Mapping[str, Any]) -> bool:
    """Whether it is a ResNet's or a MobileNet's whole state."""
    return {"conv1.weight", "fc.weight"} <= set(names) or {"features.0.0.weight", "features.0.1.weight"} <= set(names)


def from_torchvision(path: Path, content: Mapping[str, Tensor], names: Sequence[str] | None) -> LoadedWeights:
    """Under the names of today's torchvision, a classifier's body as a detector's."""
    # The count of batches is of use to a normalisation that learns; ours is frozen.
    tensors = {_new_name(name): value for name, value in content.items() if not name.endswith(".num_batches_tracked")}
    if is_classifier(content):
        body = {
            f"backbone.body.{name.removeprefix('features.')}": value
            for name, value in tensors.items()
            if not name.startswith(("fc.", "classifier."))
        }
        third = any(".block." in name for name in body)
        epsilon = _EPSILON_OF_MOBILENET_V3 if third else None
        return LoadedWeights(
            "torchvision", one_line(path), body, is_backbone=True, epsilon=epsilon, stride_in_1x1=False
        )
    without = path.name in {Path(weights.url).name for weights in _TRAINED_WITHOUT_EPSILON}
    rows = _rows(path, tensors, names)
    origin, epsilon = one_line(path), 0.0 if without else None
    return LoadedWeights("torchvision", origin, tensors, rows, epsilon=epsilon, stride_in_1x1=False)


def _new_name(name: str) -> str:
    """Names as torchvision has them since 0.14, which its older files do not."""
    for old, new in _OLD_NAMES:
        if old.fullmatch(name):
            return old.sub(new, name)
    if found := _OLD_HEAD.fullmatch(name):
        # Each convolution was followed by an activation, which had a number too.
        return f"{found[1]}.{int(found[2]) // 2}.0.{found[3]}"
    return name


def _rows(path: Path, tensors: Mapping[str, Tensor], names: Sequence[str] | None) -> tuple[str, ...]:
    count = count_rows(tensors)
    if count is None:
        raise InvalidData(
            f"{one_line(path)} has a backbone but no class layer. Give a whole detector or an ImageNet classifier."
        )
    if names is None and count == len(coco_rows()):
        return coco_rows()
    if names is None:
        raise InvalidData(
            f"{one_line(path)} does not name its classes ({count} outputs). Known without names are COCO's 91: give "
            "them, `leocod.weights.start(..., names=[...])`."
        )
    has_background = f"{SCORES}.weight" in tensors or count == len(names) + 1
    return (BACKGROUND, *names) if has_background and tuple(names[:1]) != (BACKGROUND,) else tuple(names)


def adapted(brought: LoadedWeights, model: nn.Module) -> LoadedWeights:
    """The same weights for this network: its stages in their places, its scale of pixels, its normalisation."""
    tensors = dict(brought.tensors)
    if brought.is_backbone:
        tensors = _placed(tensors, model.state_dict())
    _scale_input(brought.origin, tensors, model)
    if brought.epsilon is not None:
        _fold_epsilon(tensors, model, brought.epsilon)
    return replace(brought, tensors=tensors)


def _placed(tensors: dict[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A C4 network has its last stage in the head. Stages after a network's last one are left out."""
    body, head = BACKBONE
    if any(name.startswith(head) for name in own):
        last = f"{body}layer4."
        tensors = {
            head + name.removeprefix(last) if name.startswith(last) else name: value for name, value in tensors.items()
        }
    stages = [stage for name in own if (stage := _stage(name)) is not None]
    return {name: value for name, value in tensors.items() if (_stage(name) or 0) <= max(stages, default=0)}


def _stage(name: str) -> int | None:
    """The number of a body's stage: `layer3` of a ResNet, `3` of a MobileNet."""
    found = re.match(r"backbone\.body\.(?:layer)?(\d{1,4})\.", name)
    return int(found[1]) if found else None


def _scale_input(origin: str, tensors: dict[str, Tensor], model: nn.Module) -> None:
    """Torchvision divides pixels by their deviation; a network that does not has it in its first convolution."""
    network: Any = model
    mean, std = (torch.tensor(value) for value in (network.transform.image_mean, network.transform.image_std))
    if not torch.allclose(mean, torch.tensor(MEAN), atol=1e-4):
        raise InvalidData(f"{origin} was trained on images of mean {MEAN}, and this network takes {mean.tolist()}.")
    if torch.equal(std, torch.tensor(STD)):
        return
    for name in ("backbone.body.conv1.weight", "backbone.body.0.0.weight"):
        if name in tensors and tensors[name].dim() == 4 and tensors[name].shape[1:2] == std.shape:
            tensors[name] = tensors[name] * (std / torch.tensor(STD))[None, :, None, None]


def _fold_epsilon(tensors: dict[str, Tensor], model: nn.Module, epsilon: float) -> None:
    """Weights that give with this network's epsilon what they gave with their own."""
    for name, part in model.named_modules():
        weight, variance = f"{name}.weight", f"{name}.running_var"
        if not isinstance(part, FrozenBatchNorm2d) or part.eps == epsilon or not {weight, variance} <= tensors.keys():
            continue
        # What is of another shape does not fit, and will be told so.
        if tensors[weight].shape == tensors[variance].shape:
            # In double precision, and of a channel that never varied nothing can be made.
            wide = tensors[variance].double()
            ratio = ((wide + part.eps) / (wide + epsilon).clamp(min=1e-30)).sqrt()
            tensors[weight] = (tensors[weight].double() * ratio).to(tensors[weight].dtype)
