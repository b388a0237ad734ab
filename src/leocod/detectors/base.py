"""What a detector answers: two verbs, loss and predict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from leocod.types import Detections, Images, Labels


@runtime_checkable
class Detector(Protocol):
    """Finds objects in images, and says how wrong it is about labelled ones.

    A class in `detectors/<name>.py` also has `Options`, a Settings class, and is built as
    `Detector(classes, options, seed=...)`.
    """

    classes: tuple[str, ...]
    learning_rate: float
    """The rate at which this network learns well online."""

    def loss(self, images: Images, labels: Sequence[Labels]) -> dict[str, Tensor]:
        """Named losses, one value a frame, in training mode, with the labels' weights applied.

        Their mean over the frames is the loss of the batch.
        """
        ...

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images: no gradient, evaluation mode, and the mode put back."""
        ...

    def to(self, device: str) -> Self:
        """Move the network to a device."""
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
        """Everything that learning changes: weights, running statistics and random state."""
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
