"""A learner answers two calls, learn and predict. A strategy is a learner around one detector, with four hooks."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leocod.benchmarks.base import Shuffle
from leocod.detectors.base import Detector
from leocod.memory import ReplayMemory
from leocod.settings import Settings
from leocod.types import Detections, Images, LabelledFrame, Labels, Step


@dataclass(frozen=True)
class Learned:
    """What a learner says about a step it has taken in."""

    losses: Mapping[str, float]
    seconds: Mapping[str, float]
    pseudo: Mapping[int, Labels] = field(default_factory=dict)
    """Frame id -> pseudo labels it gave, as found in the frame (before any augmentation)."""


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

    def learn(self, step: Step) -> Learned:
        """Take in one step. The step is not changed."""
        ...

    def predict(self, images: Images) -> list[Detections]:
        """What is in the images, as well as it knows by now. Changes nothing."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on: a snapshot, which later steps do not change."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, exactly."""
        ...


class StrategyOptions(Settings):
    """Options of every strategy."""

    recipe: Literal["released", "joint"] = "released"
    """How a step is trained on. `released` (the authors' code): two updates, first the current frames, then the
    replayed ones; at most 4 labelled frames enter the memory. `joint` (the paper's text): one update on the mean of the
    two; all labelled frames enter the memory."""


@dataclass(frozen=True)
class Batch:
    """Frames trained on in one update, and the share that each has in the loss."""

    name: str
    pairs: tuple[LabelledFrame, ...]
    shares: NDArray[np.float32]

    @property
    def images(self) -> Images:
        return [frame.image() for frame, _ in self.pairs]

    @property
    def labels(self) -> list[Labels]:
        return [labels for _, labels in self.pairs]

    @staticmethod
    def mean_of(name: str, *groups: Sequence[LabelledFrame]) -> Batch:
        """The mean of the groups' means: groups count the same, and so do frames within one. Empty ones don't count."""
        filled = [group for group in groups if group]
        shares = [np.full(len(group), 1 / (len(filled) * len(group)), np.float32) for group in filled]
        return Batch(name, tuple(pair for group in filled for pair in group), np.concatenate(shares))


class Strategy:
    """Learns one step at a time. As it stands: plain fine-tuning.

    The hooks, and the question that each answers:
    `batches` - what do we train on, in which order?
    `penalty` - what else should the loss say?
    `constrain` - may this gradient be applied as it is?
    `remember` - what do we keep from this step?
    """

    Options: ClassVar[type[StrategyOptions]] = StrategyOptions

    def __init__(self, detector: Detector, options: StrategyOptions | None = None, *, seed: int = 0) -> None:
        self.detector = detector
        self.options = options or self.Options()
        self.random = np.random.default_rng(seed)
        # The paper's optimiser; the rate belongs to the detector, because it depends on the network.
        self.optimizer = torch.optim.Adam(detector.parameters(), lr=detector.learning_rate, foreach=True)

    @property
    def memory(self) -> ReplayMemory | None:
        return None

    def learn(self, step: Step) -> Learned:
        began = time.perf_counter()
        updates = [self.update(batch) for batch in self.batches(step)]
        self.remember(step)
        return Learned(_mean_by_name(updates), {"train": time.perf_counter() - began})

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of the optimiser on one batch."""
        shares = torch.from_numpy(batch.shares)
        parts = self.detector.loss(batch.images, batch.labels)
        losses = {name: (value * shares.to(value.device)).sum() for name, value in parts.items()}
        losses |= self.penalty(batch)
        self.optimizer.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        self.constrain(batch)
        self.optimizer.step()
        return {f"{batch.name}/{name}": value.item() for name, value in losses.items()}

    def predict(self, images: Images) -> list[Detections]:
        return self.detector.predict(images)

    @property
    def shuffle(self) -> Shuffle | None:
        """How it wants the whole stream mixed. None, and so a single pass, for all but offline training."""
        return None

    @property
    def single_pass(self) -> bool:
        return self.shuffle is None

    def batches(self, step: Step) -> Iterator[Batch]:
        """What to train on, in order: the labelled frames of the step. Nothing where there is nothing."""
        yield from self.by_recipe(current=step.labelled())

    def penalty(self, batch: Batch) -> dict[str, Tensor]:
        """What else the loss should say, by name."""
        return {}

    def constrain(self, batch: Batch) -> None:
        """Change the gradients before they are applied."""

    def remember(self, step: Step) -> None:
        """Keep what later steps need."""

    def by_recipe(self, **groups: Sequence[LabelledFrame]) -> Iterator[Batch]:
        """The groups as the recipe wants them: one update each, or all in one."""
        filled = {name: group for name, group in groups.items() if group}
        if self.options.recipe == "joint" and filled:
            yield Batch.mean_of("+".join(filled), *filled.values())
        else:
            for name, group in filled.items():
                yield Batch.mean_of(name, group)

    def state_dict(self) -> dict[str, Any]:
        return {
            "detector": self.detector.state_dict(),
            "optimizer": copy.deepcopy(self.optimizer.state_dict()),
            "memory": self.memory.state_dict() if self.memory is not None else None,
            "random": self.random.bit_generator.state,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.detector.load_state_dict(state["detector"])
        # The optimiser takes the tensors it is given for its own.
        self.optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        if self.memory is not None:
            self.memory.load_state_dict(state["memory"])
        self.random.bit_generator.state = state["random"]


def _mean_by_name(updates: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each loss over the updates that have it."""
    names = dict.fromkeys(name for losses in updates for name in losses)
    return {name: float(np.mean([losses[name] for losses in updates if name in losses])) for name in names}
