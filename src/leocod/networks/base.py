"""A torch module as a detector: state, device, precision, and classes that are added later."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from leocod.errors import InvalidConfig, InvalidData
from leocod.types import Detections, Images, Labels

Precision = Literal["float32", "bfloat16", "float16"]
Answer = TypeVar("Answer")

BACKGROUND_ROW = -1
"""The background among class numbers, where rows of a class layer are asked for."""


@dataclass(frozen=True)
class ClassLayer:
    """A layer with outputs for each class. Its rows, in every group: the background, then `each` for every class."""

    name: str
    """As `nn.Module.get_submodule` takes it."""
    each: int = 1
    background: int = 0
    groups: int = 1
    spread: float = 0.01
    """Standard deviation of the weights of a new class."""
    bias: float = 0.0
    """Of a new class."""

    def count_rows(self, classes: int) -> int:
        """Rows that so many classes need."""
        return self.groups * (self.background + classes * self.each)

    def find_rows(self, numbers: Sequence[int], classes: int) -> Tensor:
        """The rows of these classes, in a layer of so many. BACKGROUND_ROW stands for the background."""
        inside: list[int] = []
        for number in numbers:
            first = self.background + number * self.each
            inside += range(self.background) if number == BACKGROUND_ROW else range(first, first + self.each)
        starts = torch.arange(self.groups) * (self.background + classes * self.each)
        return (starts[:, None] + torch.tensor(inside, dtype=torch.int64)).flatten()


@dataclass(frozen=True)
class BackboneLayout:
    """How a torchvision classifier fits into a network: what loading weights from elsewhere needs to know."""

    architecture: str
    """As messages name the network."""
    stages: Mapping[str, str]
    """Prefix of a name in the classifier -> prefix in this network; the longest one that fits counts."""
    image_mean: Sequence[float]
    image_std: Sequence[float]
    """Pixels are normalised by these, as parts of 255, red first."""
    stride_in_1x1: bool | None = None
    """Whether the first convolution of a block halves the size; None where the network has no such choice."""

    def place(self, name: str) -> str:
        """The name of a classifier's tensor in this network; the same name where it has no place."""
        prefix = max((prefix for prefix in self.stages if name.startswith(prefix)), key=len, default="")
        return self.stages.get(prefix, "") + name.removeprefix(prefix)


class ReportingLimits(NamedTuple):
    """Where a detector stops reporting detections."""

    score: float = 0.0
    """Only detections with a higher score are reported."""
    most: int | None = None
    """The most detections in an image, the best ones; None: no limit."""


class BaseDetector(ABC):
    """A torch module as a detector: everything but its losses and what it detects.

    A subclass has `Options`, makes its module in `__init__`, and defines `loss`, `detect` and `class_layers`. The other
    methods have defaults; those that not every detector can have say so in an error.
    """

    frames_at_once: int | None = None
    """Frames that go through the network together; None: as many as there are."""
    backbone_layout: BackboneLayout | None = None
    """Where it has the stages of a torchvision classifier; None: it is not built around one."""

    def __init__(self, model: nn.Module, classes: Sequence[str], *, learning_rate: float, seed: int = 0) -> None:
        self.model: Any = model.train()
        self.classes = tuple(classes)
        self.learning_rate = learning_rate
        self.seed = seed
        self.precision: Precision = "float32"

    @staticmethod
    def known_classes(options: Any) -> tuple[str, ...]:
        """The classes that its starting weights know."""
        return ()

    # -- what a subclass defines

    @abstractmethod
    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Named losses, one value a frame, in training mode, with the labels' weights applied."""

    @abstractmethod
    def detect(self, images: Images) -> list[Detections]:
        """What is in the images. `predict` calls it in evaluation mode and without gradients."""

    @abstractmethod
    def class_layers(self) -> Sequence[ClassLayer]:
        """Every layer that has outputs for each class."""

    # -- what a subclass may define

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        raise self._lacks("class_logits")

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        raise self._lacks("distillation")

    def region_head_parameters(self) -> dict[str, nn.Parameter]:
        """The learnt weights of the head that classifies regions, first layer first; empty: it has no such head."""
        return {}

    def reporting_limits(self) -> ReportingLimits:
        """Where it stops reporting detections."""
        return ReportingLimits()

    def _lacks(self, method: str) -> InvalidConfig:
        return InvalidConfig(
            f"The detector {type(self).__name__} does not define `{method}`, which this strategy needs. "
            "Choose another strategy or detector."
        )

    # -- predicting

    def predict(self, images: Images) -> list[Detections]:
        return self.infer(self.detect, images)

    def infer(self, ask: Callable[[Images], Sequence[Answer]], images: Images) -> list[Answer]:
        """Ask about images in evaluation mode and without gradients, as many at once as the detector takes."""
        if not images:
            return []
        was_training = self.model.training
        self.model.eval()
        size = self.frames_at_once or len(images)
        try:
            with torch.inference_mode(), self.autocast():
                batches = [ask(images[first : first + size]) for first in range(0, len(images), size)]
            return [answer for batch in batches for answer in batch]
        finally:
            self.model.train(was_training)

    def to(self, device: str, precision: Precision = "float32", frames_at_once: int | None = None) -> Self:
        self.model.to(device)
        self.precision = precision
        self.frames_at_once = frames_at_once or self.frames_at_once
        return self

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def autocast(self) -> torch.autocast:
        """Computes products of matrices in the chosen precision; weights, boxes and losses stay float32."""
        low = torch.float16 if self.precision == "float16" else torch.bfloat16
        return torch.autocast(self.device.type, dtype=low, enabled=self.precision != "float32")

    # -- state

    def parameters(self) -> Iterator[nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    def state_dict(self) -> dict[str, Any]:
        weights = {name: value.clone() for name, value in self.model.state_dict().items()}
        return {"weights": weights, "classes": list(self.classes)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        known, saved = list(self.classes), list(state["classes"])
        if saved[: len(known)] != known:
            raise InvalidData(
                f"A state for the classes {_list_classes(saved)} cannot be loaded for {_list_classes(known)}."
            )
        self.extend_classes(saved[len(known) :])
        self.model.load_state_dict(state["weights"])

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.model = copy.deepcopy(self.model)
        return twin

    @torch.no_grad()
    def follow(self, other: Self, *, keep: float) -> None:
        """Move all floating-point state towards the other's: own x keep + other's x (1 - keep); copy the rest."""
        others = other.model.state_dict()
        pairs = [(value, others[name]) for name, value in self.model.state_dict().items()]
        moving = [pair for pair in pairs if pair[0].is_floating_point()]
        torch._foreach_lerp_([value for value, _ in moving], [goal for _, goal in moving], 1 - keep)
        for value, goal in pairs:
            if not value.is_floating_point():
                value.copy_(goal)

    # -- classes that are added later

    @torch.no_grad()
    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        """Add classes at the end of the list. Nothing that was learnt changes.

        Returns, for every parameter that has grown, where each of its old rows is now. The parameters stay the same
        objects, so that an optimiser keeps hold of them. No loss may be waiting for its gradient.
        """
        if not names:
            return {}
        repeated = [name for name in names if name in self.classes or list(names).count(name) > 1]
        if repeated:
            raise InvalidData(f"The class '{repeated[0]}' is there already.")
        # Depends on the place in the list alone: fast and slow learner get the same rows, and so does every process.
        random = torch.Generator().manual_seed(self.seed + len(self.classes))
        old, new = len(self.classes), len(self.classes) + len(names)
        moved: dict[str, Tensor] = {}
        for description in self.class_layers():
            layer = self.model.get_submodule(description.name)
            where, length = description.find_rows([BACKGROUND_ROW, *range(old)], new), description.count_rows(new)
            for name, parameter in layer.named_parameters(recurse=False):
                rows = torch.empty(length, *parameter.shape[1:])
                if name == "bias":
                    rows.fill_(description.bias)
                else:
                    rows.normal_(0, description.spread, generator=random)
                rows = rows.to(parameter)
                rows[where.to(parameter.device)] = parameter
                parameter.data, parameter.grad = rows, None
                moved[f"{description.name}.{name}"] = where
            for attribute in ("out_features", "out_channels"):
                if hasattr(layer, attribute):
                    setattr(layer, attribute, length)
        self.classes = (*self.classes, *names)
        return moved


@contextmanager
def fork_rng(seed: int) -> Iterator[None]:
    """In here torch draws from a seed. Afterwards its global randomness is as before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _list_classes(classes: Sequence[str]) -> str:
    return ", ".join(classes[:5]) + (" ..." if len(classes) > 5 else "") if classes else "(none)"
