"""The few things that move through the system: frames, labels, detections, steps. Numpy only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from leocod.errors import InvalidFrame, InvalidLabels
from leocod.files.images import Image as Image
from leocod.files.images import read_pixels
from leocod.text import pluralize

Images = Sequence[Image]

Source = Literal["human", "pseudo", "nobody"]
"""Who gave labels. Nobody: what is in the frame is not known, which is not the same as nothing."""


class Picture(Protocol):
    """Pixels that are elsewhere, such as in a video, and are fetched when they are asked for."""

    def image(self) -> Image:
        """The pixels, or an InvalidFrame that says why there are none."""
        ...


@dataclass(frozen=True, eq=False)
class Frame:
    """One image of the video. Holds its pixels, or knows where they are."""

    id: int
    video: str
    index: int
    size: tuple[int, int]
    """Height and width in pixels."""
    content: Image | Path | Picture = field(repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.content, np.ndarray):
            # Everyone who gets the frame shares these pixels.
            object.__setattr__(self, "content", _seal(self.content))

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What comes from another process is sealed again.
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def bytes(self) -> int:
        """Of the pixels it holds; knowing where they are is as good as nothing."""
        return self.content.nbytes if isinstance(self.content, np.ndarray) else 0

    def load(self) -> Frame:
        """The same frame, holding its pixels, so that a file is decoded once and not at every use."""
        return self if isinstance(self.content, np.ndarray) else replace(self, content=self.image())

    def load_if_possible(self) -> Frame:
        """The same frame, holding its pixels unless they cannot be read."""
        try:
            return self.load()
        except InvalidFrame:
            return self

    def image(self) -> Image:
        """The pixels: height x width x 3, uint8, red first. An InvalidFrame names the file that cannot be read."""
        if isinstance(self.content, np.ndarray):
            pixels = self.content
        else:
            pixels = read_pixels(self.content) if isinstance(self.content, Path) else self.content.image()
        if pixels.shape != (*self.size, 3) or pixels.dtype != np.uint8:
            where = f" ({self.content})" if isinstance(self.content, Path) else ""
            raise InvalidFrame(
                f"Frame {self.id} of {self.video}{where}: expected {self.size[0]} x {self.size[1]} x 3 uint8 pixels, "
                f"got {' x '.join(map(str, pixels.shape))} {pixels.dtype}."
            )
        return pixels


def _seal(array: Any) -> Any:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class LossWeights:
    """How much the labels of a frame count in each part of the loss."""

    proposals: float = 1.0
    boxes: float = 1.0
    classes: float = 1.0
    background: float = 1.0
    """Of regions and anchors that show no object, beside the weights above. 0: labels that do not name every object."""
    logits: float = 0.0
    """Of the distance to the logits that the labels hold."""

    @staticmethod
    def all(weight: float, *, background: float = 1.0) -> LossWeights:
        """The same for every part."""
        return LossWeights(weight, weight, weight, background)


@dataclass(frozen=True, eq=False)
class Labels:
    """The boxes and classes of one frame, and who gave them.

    Boxes are pixel corners (x1, y1, x2, y2) of the original image, classes are positions in the class list.
    No boxes at all is a label too: "nothing here".
    """

    boxes: NDArray[np.float32]
    classes: NDArray[np.int64]
    source: Source = "human"
    weights: LossWeights = LossWeights()
    unsure: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 4), np.float32))
    """Boxes of what may or may not be there: regions over them are neither learnt as a class nor as background."""
    logits: NDArray[np.float32] | None = None
    """Boxes x outputs: what a detector's classifier said of each box, background first, when it was asked to."""
    complete: bool = True
    """Whether every object has a box. If not, the rest of the frame is not taught as background, now or when it is
    replayed, and nothing is measured against it."""
    among: frozenset[int] | None = None
    """The classes that the frame teaches anything about, beside the background: the outputs of all others are left out
    of its loss. None: all classes."""

    def __post_init__(self) -> None:
        # Copies that cannot be written to: a learner that changed its labels would change the truth.
        object.__setattr__(self, "boxes", _seal(np.array(self.boxes, dtype=np.float32).reshape(-1, 4)))
        object.__setattr__(self, "classes", _seal(np.array(self.classes, dtype=np.int64).reshape(-1)))
        object.__setattr__(self, "unsure", _seal(np.array(self.unsure, dtype=np.float32).reshape(-1, 4)))
        if len(self.boxes) != len(self.classes):
            raise InvalidLabels(f"{pluralize(len(self.boxes), 'box')} but {pluralize(len(self.classes), 'class')}.")
        if self.logits is not None:
            object.__setattr__(self, "logits", _seal(np.array(self.logits, dtype=np.float32)))
            if self.logits.ndim != 2 or len(self.logits) != len(self.boxes):
                raise InvalidLabels(f"{pluralize(len(self.boxes), 'box')} but logits of shape {self.logits.shape}.")
        wrong = ~(np.isfinite(self.boxes).all(axis=1) & (self.boxes[:, 2:] > self.boxes[:, :2]).all(axis=1))
        if wrong.any():
            number = int(np.flatnonzero(wrong)[0])
            raise InvalidLabels(
                f"Box {number} is {self.boxes[number].tolist()} (x1, y1, x2, y2): corners must be finite, with x1 < x2 "
                "and y1 < y2."
            )
        if self.among is not None and not self.among.issuperset(self.classes.tolist()):
            raise InvalidLabels(f"Classes {sorted(set(self.classes.tolist()))} are not among {sorted(self.among)}.")
        if (self.classes < 0).any():
            raise InvalidLabels(f"Class {int(self.classes.min())} is negative.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What comes from another process is sealed again.
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def bytes(self) -> int:
        """Of all that is held."""
        return sum(held.nbytes for held in (self.boxes, self.classes, self.unsure, self.logits) if held is not None)

    @staticmethod
    def none() -> Labels:
        """A frame with nothing in it."""
        return Labels(np.zeros((0, 4), np.float32), np.zeros(0, np.int64))

    @staticmethod
    def unknown() -> Labels:
        """A frame that nobody has labelled: what is in it is not known."""
        return replace(Labels.none(), source="nobody")

    @property
    def known(self) -> bool:
        """Whether anybody has labelled the frame."""
        return self.source != "nobody"


def list_classes(labels: Iterable[Labels]) -> tuple[int, ...]:
    """Every class that the labels name, once, in ascending order."""
    classes = [one.classes for one in labels]
    return tuple(np.unique(np.concatenate(classes)).tolist()) if classes else ()


class Effort(NamedTuple):
    """What the labels of a frame took a person."""

    boxes: int
    seconds: float
    """Measured, or estimated where nobody measures."""


@dataclass(frozen=True, eq=False)
class Detections:
    """What a detector found in one frame, best score first."""

    boxes: NDArray[np.float32]
    classes: NDArray[np.int64]
    scores: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.boxes)

    @staticmethod
    def none() -> Detections:
        """Nothing was found."""
        return Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32))

    def above(self, threshold: float) -> Detections:
        """The detections with a score above the threshold."""
        keep = self.scores > threshold
        return Detections(self.boxes[keep], self.classes[keep], self.scores[keep])


LabelledFrame = tuple[Frame, Labels]

Predict = Callable[[Images], list[Detections]]
"""What a learner answers about images by now."""


@dataclass(frozen=True, eq=False)
class Step:
    """The frames that arrive together, and the labels revealed for some of them.

    Nothing a learner must not know is in here: hidden truth cannot leak from where it is not.
    """

    index: int
    frames: tuple[Frame, ...]
    labels: Mapping[int, Labels]
    """Frame id -> labels, for the revealed ones only."""

    def __post_init__(self) -> None:
        strangers = set(self.labels) - {frame.id for frame in self.frames}
        if strangers:
            raise InvalidLabels(f"Step {self.index}: labels for frames {sorted(strangers)}, which are not in the step.")
        if unknown := sorted(frame for frame, labels in self.labels.items() if not labels.known):
            raise InvalidLabels(f"Step {self.index}: nobody has labelled frames {unknown}, so they cannot be revealed.")
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))

    def labelled(self, source: Source | None = None) -> list[LabelledFrame]:
        """Frames with their labels; of one source, or of any."""
        pairs = [(frame, self.labels[frame.id]) for frame in self.frames if frame.id in self.labels]
        return [(frame, labels) for frame, labels in pairs if source is None or labels.source == source]

    @property
    def unlabelled(self) -> list[Frame]:
        """Frames without labels."""
        return [frame for frame in self.frames if frame.id not in self.labels]

    def keep_source(self, source: Source) -> Step:
        """A new step with the labels of one source only; its other frames have none."""
        return replace(self, labels={frame.id: labels for frame, labels in self.labelled(source)})

    def with_labelled(self, pairs: Sequence[LabelledFrame]) -> Step:
        """A new step in which these frames, labelled, take the place of the frames with the same ids."""
        changed = {frame.id: frame for frame, _ in pairs}
        return replace(
            self,
            frames=tuple(changed.get(frame.id, frame) for frame in self.frames),
            labels={**self.labels, **{frame.id: labels for frame, labels in pairs}},
        )
