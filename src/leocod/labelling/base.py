"""What a labeller is: it chooses the frames of a step that a person labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from leocod.find import Kind
from leocod.settings import Settings
from leocod.types import Detections, Frame


@dataclass(frozen=True)
class StreamInfo:
    """What a labeller may know of a stream before it begins. No truth."""

    name: str
    classes: tuple[str, ...]
    length: int | None
    """Steps; None where nobody knows."""
    published: Callable[[int], frozenset[int] | None]
    """Frames a step -> ids of the frames that a published choice labels at this cost; None: there is no such choice."""


@dataclass(frozen=True)
class LabelRequest:
    """What a labeller may look at to choose frames of one step. No truth."""

    step: int
    frames: Sequence[Frame]
    available: frozenset[int]
    """Ids of the frames that can be labelled: somebody knows what is in them."""
    predict: Callable[[Sequence[Frame]], list[Detections]]
    """What the learner detects in some of the frames by now; nothing in a frame that cannot be read."""


class LabellerOptions(Settings):
    """Options of every labeller."""

    per_step: int = Field(4, ge=0)
    """Labelled frames in each step of 16: 16, 8, 4, 2, 1 are the paper's annotation costs."""
    seed: int | None = Field(None, ge=0)
    """Seed of the choice. Null: from the experiment's seed."""


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
        """Ids of the frames to be labelled. Ids that are not available are ignored."""

    def describe(self) -> dict[str, Any]:
        """How frames are chosen, for the record of a run."""
        module = type(self).__module__
        name = module.removeprefix("leocod.labelling.")
        name = name if name != module else f"{module}:{type(self).__name__}"
        return {"name": name, **self.options.model_dump(mode="json"), "seed": self.seed}

    def state_dict(self) -> dict[str, Any]:
        """What the next choice depends on, besides the request: plain values, for a checkpoint."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Go on from a state."""


LABELLERS: Kind[Labeller] = Kind("labeller", "leocod.labelling", ("choose",))
