"""A strategy is a learner around one detector, with four hooks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig
from leocod.find import Kind
from leocod.learner import Learned
from leocod.memory.replay import ReplayMemory
from leocod.networks.distillation import has_logits
from leocod.settings import Settings
from leocod.stream.reshuffled import Shuffle
from leocod.training import distributed
from leocod.training.batch import Batch, average_losses
from leocod.training.gradients import (
    LossScale,
    NotFinite,
    copy_state,
    grow_rows,
    match_strides,
    refuse_gradient,
    refuse_loss,
)
from leocod.types import Detections, Images, LabelledFrame, Step


class StrategyOptions(Settings):
    """Options of every strategy."""

    recipe: Literal["released", "joint"] = "released"
    """How a step is trained on, and what is remembered of it. `released`: all as the authors' code does it, with two
    updates, first on the current frames, then on the replayed ones. `joint`: the paper's text, with one update on the
    mean of the two. `memory_intake` and `memory_replacement` follow the recipe, unless they are set."""
    rate_factor: float = Field(1.0, gt=0)
    """Times the detector's learning rate. A slow learner averages the noise of a larger rate out; without one, more
    than 1 costs accuracy."""
    rounds: int = Field(1, ge=1)
    """Times that each step is learnt from, with other replayed frames and another augmentation each time; it is
    remembered once. In the paper 1. A video of minutes, which has few steps, may need some more; with too many, the
    detector is sure of what is wrong. Training takes as many times as long."""


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
        self.weights = list(detector.parameters())
        # The paper's optimiser; the rate belongs to the detector, because it depends on the network.
        rate = detector.learning_rate * self.options.rate_factor
        self.optimizer = torch.optim.Adam(self.weights, lr=rate, fused=True)
        self.loss_scale = LossScale(on=detector.precision == "float16")
        self.show_again: Callable[[], Step] | None = None
        """Set by a plug-in that shows the frames of a step in another way at each round."""

    @property
    def memory(self) -> ReplayMemory | None:
        return None

    @property
    def classes(self) -> tuple[str, ...]:
        return self.detector.classes

    @property
    def deployed_detector(self) -> Detector:
        return self.detector

    @property
    def detectors(self) -> list[Detector]:
        """Every detector that it keeps: all have one class list. One that keeps others besides adds them."""
        return [self.detector]

    def remembered_frames(self) -> list[LabelledFrame]:
        return [] if self.memory is None else self.memory.frames

    def draw_remembered(self, count: int) -> list[LabelledFrame]:
        """So many remembered frames, with all of their labels, by chance. None where it replays no such frames."""
        return []

    def check(self, classes: int) -> None:
        """Raise if the options make no sense for a stream of so many classes."""

    def learn(self, step: Step) -> Learned:
        began, before = time.perf_counter(), self.trained_state()
        try:
            batches = (batch for shown in self.rounds(step) for batch in self.batches(shown))
            updates = [(self.count_frames(batch), self.update(batch)) for batch in batches]
            # Without pseudo labels: what must not be remembered is not in what the hook receives.
            self.remember(step.keep_source("human"))
        except NotFinite as problem:
            # Also what an earlier update of the step has changed: a step is learnt, or it is not.
            self.load_trained_state(before)
            return Learned({}, {"train": time.perf_counter() - began}, refused=str(problem))
        losses, sizes = average_losses([losses for _, losses in updates]), tuple(size for size, _ in updates)
        return Learned(losses, {"train": time.perf_counter() - began}, trained_on=sizes)

    def rounds(self, step: Step) -> Iterator[Step]:
        """The step as each round shows it. A later round is made when it begins: it depends on what was learnt."""
        yield step
        for _ in range(1, self.options.rounds):
            yield self.show_again() if self.show_again else step

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of the optimiser on one batch. Numbers that are not finite never reach it."""
        losses = self.backward(batch)
        self.constrain(batch)
        refuse_gradient(self.weights, batch.name)
        match_strides(self.weights)
        self.optimizer.step()
        return {f"{batch.name}/{name}": value for name, value in losses.items()}

    def backward(self, batch: Batch) -> dict[str, float]:
        """The losses of a batch by name, all finite. Their gradient takes the place of any before.

        As many frames at once as the detector takes, and those of other processes in these: the sum is the same.
        """
        seeded = batch.with_seeds(self.random)
        distributed.agree(f"The {batch.name} frames", lambda: seeded.digest)
        self.optimizer.zero_grad()
        losses: dict[str, Tensor] = {}
        for part in seeded.part(distributed.rank(), distributed.size()).parts(self.detector.frames_at_once):
            of_part = part.mean(self.detector.loss(part.images, part.labels, part.seeds)) | self.penalty(part)
            total = torch.stack(list(of_part.values())).sum()
            # Where no loss counts, there is nothing to learn.
            if total.requires_grad:
                (total * self.loss_scale.factor).backward()
            losses |= {name: losses.get(name, 0.0) + value.detach() for name, value in of_part.items()}
        # All at once: on a GPU each number that is asked for has to be waited for.
        values = torch.stack(list(losses.values())).tolist() if losses else []
        total_losses = distributed.add_up(dict(zip(losses, values, strict=True)), self.weights)
        self.loss_scale.unscale(self.weights)
        refuse_loss(total_losses, batch.name)
        # A part of the method would be missing without a word.
        if "logits" not in total_losses and any(has_logits(labels) for labels in batch.labels):
            raise InvalidConfig(
                f"{type(self).__name__} compares class logits, but the loss of this detector has no 'logits' (see "
                "Detector.loss)."
            )
        return total_losses

    def predict(self, images: Images) -> list[Detections]:
        return distributed.predict_sharded(self.detector.predict, images)

    def predict_fast(self, images: Images) -> list[Detections]:
        return self.predict(images)

    def extend_classes(self, names: Sequence[str]) -> None:
        self.grow(self.detector.extend_classes(names))

    def grow(self, moved: Mapping[str, Tensor]) -> None:
        """Fit what goes with the weights to weights that have grown; `moved` says where their old rows are now."""
        for name, value in self.detector.named_parameters():
            if name in moved:
                state = self.optimizer.state[value]
                state |= {key: grow_rows(one, moved[name], value) for key, one in state.items() if one.dim()}

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
        """What else the loss should say, by name.

        A batch may come in parts, whose losses add up. What is not about its frames counts by `batch.share`.
        """
        return {}

    def constrain(self, batch: Batch) -> None:
        """Change the gradients before they are applied."""

    def count_frames(self, batch: Batch) -> int:
        """Frames that the update on a batch trains on. More than its own where `constrain` adds some."""
        return len(batch.pairs)

    def remember(self, step: Step) -> None:
        """Keep what later steps need. Raise NotFinite, if at all, before anything is kept."""

    def by_recipe(self, **groups: Sequence[LabelledFrame]) -> Iterator[Batch]:
        """The groups as the recipe wants them: one update each, or all in one."""
        filled = {name: group for name, group in groups.items() if group}
        if self.options.recipe == "joint" and filled:
            yield Batch.mean_of("+".join(filled), *filled.values())
        else:
            for name, group in filled.items():
                yield Batch.mean_of(name, group)

    def trained_state(self) -> dict[str, Any]:
        """What an update changes, as it is now. A strategy in which updates change more adds that."""
        return {"detector": self.detector.state_dict(), "optimizer": copy_state(self.optimizer.state_dict())}

    def load_trained_state(self, state: Mapping[str, Any]) -> None:
        """Go back to such a state."""
        self.detector.load_state_dict(state["detector"])
        # The optimiser takes the tensors it is given for its own.
        self.optimizer.load_state_dict(copy_state(state["optimizer"]))

    def state_dict(self) -> dict[str, Any]:
        return {
            **self.trained_state(),
            "memory": self.memory.state_dict() if self.memory is not None else None,
            "random": self.random.bit_generator.state,
            "loss_scale": self.loss_scale.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.extend_classes(state["detector"]["classes"][len(self.classes) :])
        self.load_trained_state(state)
        if self.memory is not None:
            self.memory.load_state_dict(state["memory"])
        self.random.bit_generator.state = state["random"]
        self.loss_scale.load_state_dict(state["loss_scale"])


STRATEGIES: Kind[Strategy] = Kind("strategy", "leocod.strategies", ("learn", "predict"))
