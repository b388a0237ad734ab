"""Anything that learns answers two calls, learn and predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from leocod.detectors.base import Detector
from leocod.events import PseudoLabelCheck
from leocod.memory.replay import ReplayMemory
from leocod.types import Detections, Images, LabelledFrame, Labels, Step


@dataclass(frozen=True)
class Learned:
    """What a learner says about a step it has taken in."""

    losses: Mapping[str, float]
    seconds: Mapping[str, float]
    pseudo: Mapping[int, Labels] = field(default_factory=dict)
    """Frame id -> pseudo labels it wrote, as found in the frame (before any augmentation), for every unlabelled frame
    that its labeller looked at: also where there are none, and where they were not trained on."""
    refused: str | None = None
    """Why it has not learnt from the step and is as it was before: numbers that were not finite."""
    warnings: tuple[str, ...] = ()
    """What looks wrong, for a person to see."""
    trained_on: tuple[int, ...] = ()
    """Frames in each update of the weights, one number an update."""
    check: PseudoLabelCheck | None = None
    """What its labeller would have written on a labelled frame; None where it was not asked."""


class Learner(Protocol):
    """What the loop needs to know of anything that learns."""

    @property
    def single_pass(self) -> bool:
        """Whether every step comes once, in order. Only offline training says no."""
        ...

    @property
    def memory(self) -> ReplayMemory | None:
        """What it keeps for replay, if it does."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it can tell by now."""
        ...

    @property
    def deployed_detector(self) -> Detector:
        """The detector that people use: what `predict` asks."""
        ...

    def remembered_frames(self) -> list[LabelledFrame]:
        """The frames that it keeps, labelled as they came."""
        ...

    def learn(self, step: Step) -> Learned:
        """Take in one step. The step is not changed."""
        ...

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images, as well as it knows by now. Changes nothing."""
        ...

    def predict_fast(self, images: Images) -> list[Detections]:
        """The same, as the learner that is trained sees it: `predict`, unless a slow learner answers that."""
        ...

    def extend_classes(self, names: Sequence[str]) -> None:
        """Add classes at the end of the list, with all that goes with them. Nothing that was learnt changes."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on: a snapshot, which later steps do not change."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, exactly."""
        ...
