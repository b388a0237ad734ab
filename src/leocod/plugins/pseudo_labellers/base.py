"""What a pseudo-labeller is: it looks at the frames that nobody labelled, and detects what is in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leocod.find import Kind
from leocod.types import Detections, Frame, Images, LabelledFrame, Predict


@dataclass(frozen=True)
class PseudoLabelRequest:
    """What a pseudo-labeller may look at. No truth about the frames that it labels."""

    frames: Sequence[Frame]
    """The frames that nobody labelled, in their order. Or, for a check, one whose labels nobody here has seen yet."""
    labelled: Sequence[LabelledFrame]
    """What a person labelled in the same step. Nobody has learnt from it yet."""
    slow: Predict
    """The slow learner; the fast one where there is no slow one."""
    fast: Predict

    @cached_property
    def images(self) -> Images:
        """The pixels of the frames, height x width x 3 each."""
        return [frame.image() for frame in self.frames]


class PseudoLabeller(ABC):
    """Detects what is in frames that nobody labelled.

    A subclass in `plugins/pseudo_labellers/<name>.py` is built without arguments, once for each run. Of what it
    detects, the plug-in keeps what has a higher score than `efficient_cls.score_threshold`, each object once.
    """

    @abstractmethod
    def detect(self, request: PseudoLabelRequest) -> list[Detections]:
        """What is in each frame, the best first.

        Before each step it is also asked about a frame that a person has labelled, to check how right it is. Of this
        question it remembers nothing: its state is put back, as after a step with bad numbers, which is not learnt.
        """

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next request depends on, as plain values and copies."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Continue from a state."""


PSEUDO_LABELLERS: Kind[PseudoLabeller] = Kind(
    "pseudo-labeller", "leocod.plugins.pseudo_labellers", ("detect", "state_dict", "load_state_dict"), has_options=False
)
