"""What every detector does: `loss` to learn, `predict` to detect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from leocod.find import Kind
from leocod.networks.base import Precision
from leocod.settings import Settings
from leocod.types import Detections, Images, Labels


@runtime_checkable
class Detector(Protocol):
    """Detects objects in images, and computes losses for labelled ones.

    A class in `detectors/<name>.py` has `Options`, a Settings class, and is built as
    `Detector(classes, options, seed=...)`. `leocod.networks.base.BaseDetector` does for a torch module all but `loss`,
    `detect` and `class_layers`.
    """

    Options: ClassVar[type[Settings]]

    def __init__(self, classes: Sequence[str], options: Any, *, seed: int = 0) -> None: ...

    @staticmethod
    def known_classes(options: Any) -> tuple[str, ...]:
        """The classes that its starting weights know, for a class list that grows."""
        ...

    classes: tuple[str, ...]
    learning_rate: float
    """The learning rate at which this network learns well online."""
    precision: Precision
    """The numbers that it computes with; its weights are always float32."""
    frames_at_once: int | None
    """Frames that go through the network together; None: as many as there are. Losses depend on it by rounding only."""

    def loss(self, images: Images, labels: Sequence[Labels], seeds: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Named losses, one value a frame, in training mode, with the labels' weights applied.

        The mean over the frames is the loss of the batch. A frame's losses depend on the frame, its labels and its seed
        (for what is drawn by chance) and not on the frames beside it, except for padding where sizes differ: a batch
        may be learnt in parts. Without seeds the draw is always the same. Where labels hold logits that have a weight,
        the loss `logits` is the mean squared distance of `class_logits` at the boxes from them. Where labels are not
        complete, nothing is taught as background. Where they say among which classes they are, the outputs of all other
        classes are left out of the loss.
        """
        ...

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images, best score first. Computes no gradients and leaves the detector as it was."""
        ...

    def to(self, device: str, precision: Precision = "float32", frames_at_once: int | None = None) -> Self:
        """Move the network to a device, and choose the precision and how many frames go through it together."""
        ...

    def extend_classes(self, names: Sequence[str]) -> dict[str, Tensor]:
        """Add classes at the end of the list. Nothing that was learnt changes.

        Returns where the old rows are now, for every parameter that has grown. Parameters stay the same objects.
        """
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """The weights that training changes."""
        ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The same, with names."""
        ...

    def class_logits(self, images: Images, boxes: Sequence[NDArray[np.float32]]) -> list[Tensor]:
        """The classifier's logits at given boxes, for each image: boxes x (background, then classes).

        A detector may raise InvalidConfig: then strategies that store logits cannot use it.
        """
        ...

    def distillation(
        self, images: Images, teacher: Self, *, classes: Sequence[int], temperature: float
    ) -> dict[str, Tensor]:
        """How far this detector is from a teacher, as named losses, one value a frame.

        `classes` are those that the teacher knows; others are not compared. A detector may raise InvalidConfig: then
        strategies that distil cannot use it.
        """
        ...

    def region_head_parameters(self) -> dict[str, nn.Parameter]:
        """The learnt weights of the head that classifies regions, first layer first; empty where there is none."""
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
        """Move all floating-point state towards the other's: own x keep + other's x (1 - keep). Copy the rest."""
        ...


@runtime_checkable
class ImageDescriber(Protocol):
    """A detector that can also describe whole images. Labellers that compare frames need one."""

    def describe(self, images: Images) -> NDArray[np.float32]:
        """What its features say of each image: images x features. Images that look alike have vectors that are near."""
        ...


DETECTORS: Kind[Detector] = Kind("detector", "leocod.detectors", ("loss", "predict"))
