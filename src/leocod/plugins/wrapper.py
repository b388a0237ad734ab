"""A learner around another learner: whatever it does not change goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from leocod.detectors.base import Detector
from leocod.learner import Learned, Learner
from leocod.memory.replay import ReplayMemory
from leocod.types import Detections, Images, LabelledFrame, Step

Inner = TypeVar("Inner", bound=Learner)


class Wrapper(Generic[Inner]):
    """Passes every call on to the learner inside. A plug-in overrides the calls that it changes."""

    def __init__(self, learner: Inner) -> None:
        self.learner = learner

    @property
    def single_pass(self) -> bool:
        return self.learner.single_pass

    @property
    def memory(self) -> ReplayMemory | None:
        return self.learner.memory

    @property
    def classes(self) -> tuple[str, ...]:
        return self.learner.classes

    @property
    def deployed_detector(self) -> Detector:
        return self.learner.deployed_detector

    def remembered_frames(self) -> list[LabelledFrame]:
        return self.learner.remembered_frames()

    def learn(self, step: Step) -> Learned:
        return self.learner.learn(step)

    def predict(self, images: Images) -> list[Detections]:
        return self.learner.predict(images)

    def predict_fast(self, images: Images) -> list[Detections]:
        return self.learner.predict_fast(images)

    def extend_classes(self, names: Sequence[str]) -> None:
        self.learner.extend_classes(names)

    def state_dict(self) -> dict[str, Any]:
        return self.learner.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.learner.load_state_dict(state)
