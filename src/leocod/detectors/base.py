"""What a detector answers: two verbs, loss and predict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from leocod.find import Kind
from leocod.networks.network import Precision
from leocod.settings import Settings
from leocod.types import Detections, Images, Labels


@runtime_checkable
class Detector(Protocol):
    """Finds objects in images, and says how wrong it is about labelled ones.

    A class in `detectors/<name>.py` also has `Options`, a Settings class, and is built as
    `Detector(classes, options, seed=...)`; `known_classes(options)` names the classes of its starting weights, for a
    class list that grows.
    """

    Options: ClassVar[type[Settings]]

    def __init__(self, classes: Sequence[str], options: Any, *, seed: int = 0) -> None: ...

    @staticmethod
    def known_classes(options: Any) -> tuple[str, ...]:
        """The classes that its starting weights know."""
        ...

    classes: tuple[str, ...]
    learning_rate: float
    """The rate at which this network learns well online."""
    precision: Precision
    """The numbers it computes with; its weights are float32 all the same."""
    frames_at_once: int | None
    """Frames that fit through it together; None: as many as there are. Losses of one size do not depend on it."""

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Named losses, one value a frame, in training mode, with the labels' weights applied.

        Their mean over the frames is the loss of the batch. A frame's losses depend on the frame, its labels and its
        seed, for what is drawn by chance, and not on the frames beside it (but for the padding where their sizes
        differ): a batch may be learnt in parts. Without seeds the draw is always the same. Where labels hold logits
        and weigh them, `logits` is the mean squared distance of `class_logits` at the boxes from them.
        """
        ...

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images: no gradient, evaluation mode, and the mode put back."""
        ...

    def to(self, device: str, precision: Precision = "float32", frames_at_once: int | None = None) -> Self:
        """Move the network to a device; choose the numbers it computes with there, and how many frames at once."""
        ...

    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        """Add classes at the end of the list. Nothing that was learnt changes.

        Returns, for every parameter that has grown, where each of its old rows is now; they stay the same objects.
        """
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """The weights that training changes."""
        ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The same, with names."""
        ...

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        """What the classifier says of given boxes, an image at a time: boxes x outputs, background first."""
        ...

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        """How far this detector is from another one, as named losses, one value a frame.

        `classes` are those that the other one knows: what it says of others is of no interest.
        """
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning changes: weights, running statistics and class names."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        ...

    def clone(self) -> Self:
        """A separate detector with the same state."""
        ...

    def follow(self, other: Self, *, keep: float) -> None:
        """Move all floating-point state towards another's: own x keep + other's x (1 - keep). Copy the rest."""
        ...


DETECTORS: Kind[Detector] = Kind("detector", "leocod.detectors", ("loss", "predict"))
