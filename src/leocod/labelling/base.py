"""What a labeller is: it chooses the frames of a step that a person labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from leocod.find import Kind
from leocod.settings import Settings
from leocod.types import Detections, Effort, Frame, Labels

RECENT = 512
"""Frames whose scores a labeller remembers, to tell a high score from a low one."""


@dataclass(frozen=True)
class StreamInfo:
    """What a labeller may know of a stream before it begins. No truth."""

    name: str
    classes: tuple[str, ...]
    length: int | None
    """Steps; None where nobody knows."""
    published: Callable[[int], frozenset[int] | None]
    """Frames a step -> ids of the frames that a published choice labels at this cost; None: there is no such choice."""


class LearnerView(Protocol):
    """What a labeller may ask the learner. Nothing is worked out before it is asked, and nothing changes."""

    def predict(self, frames: Sequence[Frame]) -> list[Detections]:
        """What people would get by now, from the slow learner where there is one; nothing in an unreadable frame."""
        ...

    def predict_fast(self, frames: Sequence[Frame]) -> list[Detections]:
        """What the fast learner detects; the same as `predict` where there is no slow one."""
        ...

    def describe(self, frames: Sequence[Frame]) -> NDArray[np.float32]:
        """Features of the deployed detector, frames x features: near where frames are alike. NaN: it is unreadable."""
        ...

    def describe_memory(self, most: int) -> NDArray[np.float32]:
        """The same for remembered frames, at most so many, evenly from the oldest to the newest."""
        ...


@dataclass(frozen=True)
class LabelRequest:
    """What a labeller may look at to choose frames of one step. No truth."""

    step: int
    frames: Sequence[Frame]
    available: frozenset[int]
    """Ids of the frames that can be labelled: somebody knows what is in them."""
    most: int
    """Frames that may be chosen now, by the budget."""
    learner: LearnerView
    """Answers questions about frames."""

    @property
    def candidates(self) -> list[Frame]:
        """The frames that can be labelled, in their order."""
        return [frame for frame in self.frames if frame.id in self.available]


class LabellerOptions(Settings):
    """Options of every labeller."""

    per_step: int | None = Field(4, ge=0)
    """Labelled frames in each step of 16: 16, 8, 4, 2, 1 are the paper's annotation costs. Null: `total` or `per_hour`
    is the budget."""
    total: int | None = Field(None, ge=0)
    """Labelled frames in the whole stream. Each step earns its part; what is not spent carries over."""
    per_hour: float | None = Field(None, ge=0)
    """Labelled frames in an hour of video. What is not spent carries over."""
    frames_per_second: float | None = Field(None, gt=0)
    """How fast frames come, for `per_hour`, where the stream has no clock."""
    delay: int = Field(0, ge=0)
    """Steps until a label comes. The stream holds the frame as long, and nobody learns from it. What is under way when
    the stream ends is never learnt."""
    boxes: int | None = Field(None, ge=0)
    """Boxes that a person draws in a frame at most, around any of the objects. Labels of a frame with more objects are
    not complete: the rest of it is not taught as background. Null: all."""
    seconds_per_frame: float = Field(3.0, ge=0)
    """Seconds of a person for each labelled frame, to estimate the cost."""
    seconds_per_box: float = Field(7.0, ge=0)
    """Seconds of a person for each box, to estimate the cost: 7 by clicks on the extreme points of the object
    (Papadopoulos et al., ICCV 2017), 25 by dragging corners (Su et al., AAAI workshops 2012)."""
    seed: int | None = Field(None, ge=0)
    """Seed of the choice. Null: from the experiment's seed."""

    @model_validator(mode="after")
    def _have_one_budget(self) -> Self:
        given = [name for name in ("per_step", "total", "per_hour") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{' and '.join(given) or 'no budget'}: exactly one of per_step, total and per_hour is the budget. Set "
                "the others to null"
            )
        return self

    def estimate_effort(self, labels: Labels) -> Effort:
        """What labels of a frame take a person."""
        return Effort(len(labels), self.seconds_per_frame + self.seconds_per_box * len(labels))


class Labeller(ABC):
    """Chooses which frames of a step a person labels. It never sees a label.

    A subclass in `labelling/<name>.py` is built as `Subclass(options, seed=..., stream=...)`. The benchmark reveals the
    labels of the chosen frames.
    """

    Options: ClassVar[type[LabellerOptions]] = LabellerOptions

    def __init__(self, options: Any = None, *, seed: int = 0, stream: StreamInfo | None = None) -> None:
        self.options = options or self.Options()
        self.seed = seed if self.options.seed is None else self.options.seed

    @abstractmethod
    def choose(self, request: LabelRequest) -> Iterable[int]:
        """Ids of the frames to be labelled, `request.most` of them or fewer. Ids that are not available are ignored."""

    @property
    def name(self) -> str:
        """As a config names it."""
        module = type(self).__module__
        name = module.removeprefix("leocod.labelling.")
        return name if name != module else f"{module}:{type(self).__name__}"

    def describe(self) -> dict[str, Any]:
        """How frames are chosen, for the record of a run."""
        return {"name": self.name, **self.options.model_dump(mode="json"), "seed": self.seed}

    def state_dict(self) -> dict[str, Any]:
        """What the next choice depends on, besides the request: plain values, for a checkpoint."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Go on from a state."""


class ScoringLabeller(Labeller):
    """Asks for the frames with the highest scores; of equal ones, for the first.

    Where labels carry over, a frame must also have one of the highest scores of the last frames: among so large a part
    of them as the budget allows of this step. A step in which nothing is worth asking for leaves its labels to later
    ones, which may then ask for a larger part; in the long run all are spent.
    """

    def __init__(self, options: Any = None, *, seed: int = 0, stream: StreamInfo | None = None) -> None:
        super().__init__(options, seed=seed, stream=stream)
        self._recent: deque[float] = deque(maxlen=RECENT)

    @abstractmethod
    def score(self, frames: Sequence[Frame], learner: LearnerView) -> Sequence[float] | NDArray[np.floating[Any]]:
        """How much is to be learnt from a label of each frame."""

    def choose(self, request: LabelRequest) -> Iterable[int]:
        frames = request.candidates
        if not frames or not request.most:
            return []
        scores = np.asarray(self.score(frames, request.learner), np.float64)
        best = np.argsort(-scores, kind="stable")[: request.most]
        if self.options.per_step is None:
            self._recent.extend(scores.tolist())
            part = math.ceil(min(request.most / len(frames), 1) * len(self._recent))
            best = best[scores[best] >= sorted(self._recent, reverse=True)[part - 1]]
        return [frames[number].id for number in sorted(best)]

    def state_dict(self) -> dict[str, Any]:
        return {"recent": list(self._recent)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._recent = deque(state.get("recent", ()), maxlen=RECENT)


LABELLERS: Kind[Labeller] = Kind("labeller", "leocod.labelling", ("choose",))
