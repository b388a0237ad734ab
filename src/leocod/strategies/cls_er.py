"""CLS-ER: a quick and a slow moving average of the detector tell it what they think of remembered frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from leocod.detectors.base import Detector
from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import ReplayOptions, ReplayStrategy, ask_logits
from leocod.training import distributed
from leocod.training.batch import Batch
from leocod.types import Detections, Images, LabelledFrame, Step


class CLSEROptions(ReplayOptions):
    """Options of CLS-ER, with the authors' defaults."""

    consistency: float = Field(0.1, ge=0)
    """Weight of the squared distance to the class logits of the better of the two averages."""
    plastic_keep: float = Field(0.999, ge=0, lt=1)
    """How much of itself the quick average keeps when it follows, once there were enough steps: before, 1 - 1 / (t + 1)
    after t steps."""
    plastic_chance: float = Field(0.9, ge=0, le=1)
    """How often it follows."""
    stable_keep: float = Field(0.999, ge=0, lt=1)
    """The same of the slow average."""
    stable_chance: float = Field(0.7, ge=0, le=1)
    """How often the slow average follows: less often than the quick one."""


class CLSER(ReplayStrategy):
    """Replays labels, and holds the class logits at the remembered boxes to those of the better of two averages.

    For each box the better one is that which is surer of the true class. People use the slow average. In Efficient-CLS
    they use its slow learner, and the averages only teach.

    Arani et al., Learning Fast, Learning Slow: A General Continual Learning Method based on Complementary Learning
    System, ICLR 2022.
    """

    Options: ClassVar[type[StrategyOptions]] = CLSEROptions
    options: CLSEROptions

    def __init__(self, detector: Detector, options: CLSEROptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        self.plastic, self.stable = detector.clone(), detector.clone()
        self.steps_learned = 0

    @property
    def deployed_detector(self) -> Detector:
        return self.stable

    @property
    def detectors(self) -> list[Detector]:
        return [*super().detectors, self.plastic, self.stable]

    def predict(self, images: Images) -> list[Detections]:
        return distributed.predict_sharded(self.stable.predict, images)

    def predict_fast(self, images: Images) -> list[Detections]:
        return distributed.predict_sharded(self.detector.predict, images)

    def batches(self, step: Step) -> Iterator[Batch]:
        yield from self.by_recipe(current=step.labelled(), replay=self._teach(self.sample_replay()))

    def _teach(self, pairs: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        """The frames with the logits that the better average has at their boxes."""
        plastic, stable = (ask_logits(teacher, pairs) for teacher in (self.plastic, self.stable))
        return [
            (
                frame,
                replace(
                    labels,
                    logits=_choose_better(quick, slow, labels.classes).cpu().numpy(),
                    weights=replace(labels.weights, logits=self.options.consistency),
                ),
            )
            for (frame, labels), quick, slow in zip(pairs, plastic, stable, strict=True)
        ]

    def remember(self, step: Step) -> None:
        super().remember(step)
        self.steps_learned += 1
        options, warm = self.options, 1 - 1 / (self.steps_learned + 1)
        for average, keep, chance in (
            (self.plastic, options.plastic_keep, options.plastic_chance),
            (self.stable, options.stable_keep, options.stable_chance),
        ):
            if self.random.random() < chance:
                average.follow(self.detector, keep=min(keep, warm))

    def extend_classes(self, names: Sequence[str]) -> None:
        super().extend_classes(names)
        for average in (self.plastic, self.stable):
            average.extend_classes(names)

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "plastic": self.plastic.state_dict(),
            "stable": self.stable.state_dict(),
            "steps_learned": self.steps_learned,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.plastic.load_state_dict(state["plastic"])
        self.stable.load_state_dict(state["stable"])
        self.steps_learned = state["steps_learned"]


def _choose_better(quick: Tensor, slow: Tensor, classes: NDArray[np.int64]) -> Tensor:
    """For each box, the logits that are surer of its class."""
    places = torch.arange(len(classes)), torch.from_numpy(classes.copy()) + 1
    is_quick = quick.softmax(dim=1)[places] > slow.softmax(dim=1)[places]
    return torch.where(is_quick[:, None], quick, slow)
