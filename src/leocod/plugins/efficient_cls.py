"""Efficient-CLS: a fast learner for the moment and a slow learner for the long run, around any strategy.

The fast learner is the wrapped strategy's detector, trained on labelled and replayed frames. The slow learner is its
moving average: people use it, and it writes pseudo labels for the frames that nobody labelled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from leocod.detectors.base import Detector
from leocod.evaluation.audit import check_labels
from leocod.events import PseudoLabelCheck
from leocod.learner import Learned
from leocod.plugins.augmentation import RotatedBoxes, augment
from leocod.plugins.confident_labels import ConfidentLabels, ConfidentLabelSettings
from leocod.plugins.copies import put_copies
from leocod.plugins.labelled_share import share_update
from leocod.plugins.pseudo_label_monitor import PseudoLabelMonitor
from leocod.plugins.pseudo_labellers.base import PseudoLabelRequest
from leocod.plugins.wrapper import Wrapper
from leocod.strategies.base import Strategy
from leocod.training import distributed
from leocod.types import Detections, Frame, Images, LabelledFrame, Labels, LossWeights, Predict, Step

FrameLabeller = Callable[[Sequence[Frame], Sequence[LabelledFrame]], Sequence[Labels]]
"""Who writes labels for unlabelled frames, beside what a person labelled in the same step."""
Substitute = Callable[[Step, Sequence[LabelledFrame]], Sequence[LabelledFrame]]
"""What is trained on in the place of the pseudo-labelled frames of a step."""


class EfficientCLSOptions(ConfidentLabelSettings):
    """Options of the plug-in."""

    ema: bool = True
    """Keep a slow learner. Off: the fast learner is used for everything."""
    keep: float = Field(0.99, ge=0, lt=1)
    """How much of itself the slow learner keeps at each step: slow = keep x slow + (1 - keep) x fast."""
    ema_warmup: bool = True
    """Follow the fast learner more closely while the stream is young: keep min(keep, (1 + t) / (10 + t)) after t steps,
    which is 0.93 after 120, 0.98 after 400 and reaches 0.99 after 890. A stream of some hundred steps would be over
    before the slow learner has moved. Not in the paper."""
    pseudo_labels: bool = True
    """Learn in the places of the unlabelled frames: with what the pseudo-labeller is sure of there, or with what other
    options show instead. Off: only labelled and replayed frames are trained on."""
    warmup_steps: int = Field(0, ge=0)
    """Steps before the first pseudo labels."""
    pseudo_weight: float = Field(1.0, ge=0)
    """How much a pseudo-labelled frame counts in every loss that it takes part in: the paper's lambda."""
    labelled_share: float | None = Field(None, gt=0, lt=1)
    """The share of the labelled frames in the update on the current frames, however many they are. Null, as in the
    paper: every frame counts the same, so 4 labelled frames of 16 have a share of 0.25."""
    proposal_loss: bool = False
    """Train the region proposals on pseudo-labelled frames too."""
    augment: bool = True
    """Crop, rotate and flip the pseudo-labelled frames."""
    rotated_boxes: RotatedBoxes = "corners"
    """The upright box of an object after a rotation: around the turned corners of its box, as in the paper; or around
    the turned `ellipse` in its box, which stays tight."""
    empty_frames: bool | Literal["copies"] = True
    """Train also on unlabelled frames in which the pseudo-labeller is sure of nothing, as if they were empty. False:
    leave out these frames. `copies`: show copies of the step's labelled frames in their place."""
    remembered_share: float = Field(0.0, ge=0, le=1)
    """The share of the unlabelled frames in whose place remembered frames are shown, augmented as pseudo-labelled ones
    are; only the others get pseudo labels. A strategy that replays no frames has none to show. 0, as in the paper."""
    watch_steps: int = Field(50, ge=1)
    """Steps over which pseudo labels are compared with labels: none at all, far too many, or mostly wrong ones raise a
    warning."""
    flood: float = Field(5.0, gt=1)
    """Far too many: so many times the objects that labelled frames show."""
    pause: bool = False
    """While there are none, or far too many, do not train on them."""

    @model_validator(mode="after")
    def _weigh_once(self) -> Self:
        if self.labelled_share is not None and self.pseudo_weight != 1:
            raise ValueError("labelled_share and pseudo_weight both weigh pseudo-labelled frames: leave one out.")
        return self


class EfficientCLS(Wrapper[Strategy]):
    """Efficient-CLS: adds a slow learner (EMA) and pseudo labels to any strategy.

    >>> from leocod.detectors.tiny import Tiny
    >>> from leocod.strategies.icarl import ICaRL
    >>> learner = EfficientCLS(ICaRL(Tiny(("mug", "book"))))
    >>> learner.predict([np.zeros((96, 128, 3), np.uint8)])[0].boxes.shape[1]
    4
    """

    def __init__(
        self,
        strategy: Strategy,
        options: EfficientCLSOptions | None = None,
        *,
        seed: int = 0,
        labeller: FrameLabeller | None = None,
    ) -> None:
        """`labeller` writes pseudo labels in the place of the pseudo-labeller that the options name."""
        super().__init__(strategy)
        self.options = options or EfficientCLSOptions()
        self.slow = strategy.detector.clone() if self.options.ema else strategy.detector
        self.random = np.random.default_rng(seed)
        self.steps_learned = 0
        self.monitor = PseudoLabelMonitor(self.options.watch_steps, self.options.flood)
        self.label_writer = ConfidentLabels(self.options)
        self.labeller = labeller or self._label_confident
        self.substitute: Substitute | None = None
        """Set by a diagnosis."""
        self.is_diagnosed = False
        """A diagnosis is about the unlabelled frames: nothing remembered takes their places."""

    @property
    def strategy(self) -> Strategy:
        """The wrapped strategy. Its detector is the fast learner."""
        return self.learner

    def learn(self, step: Step) -> Learned:
        began = time.perf_counter()
        remembered = self._recall(step)
        recalled = {frame.id for frame, _ in remembered}
        compared = [(frame, labels) for frame, labels in step.labelled("human") if labels.complete]
        # First of all: afterwards the learners, or the pseudo-labeller, have seen the answer.
        is_asked = bool(self._list_to_label(step, but=recalled))
        check = self._check_labeller(compared) if is_asked else None
        before = self.label_writer.pseudo_labeller.state_dict() if is_asked else {}
        found = self.pseudo_label(step, but=recalled)
        warnings = self.monitor.add(compared, found, check)
        paused = self.options.pause and self.monitor.alarm
        pseudo = [] if paused else [pair for pair in found if self.options.empty_frames or len(pair[1])]
        labelled = time.perf_counter()
        taught = self._choose_taught(step, pseudo)
        self.strategy.show_again = lambda: self._show(step, [*taught, *self._recall_others(remembered)])
        shown = self._show(step, [*taught, *remembered])
        prepared = time.perf_counter()
        try:
            learned = self.strategy.learn(shown)
        finally:
            # It holds the frames of the step, which only the memory may keep.
            self.strategy.show_again = None
        trained = time.perf_counter()
        if not learned.refused:
            self.consolidate()
        elif is_asked:
            # The pseudo-labeller forgets the step, as the strategy does.
            self.label_writer.pseudo_labeller.load_state_dict(before)
        return replace(
            learned,
            pseudo={frame.id: labels for frame, labels in found},
            warnings=(*learned.warnings, *warnings),
            check=check,
            seconds={
                **learned.seconds,
                "pseudo labels": labelled - began,
                "augment": prepared - labelled,
                "consolidate": time.perf_counter() - trained,
            },
        )

    def predict(self, images: Images) -> list[Detections]:
        return distributed.predict_sharded(self.slow.predict, images)

    @property
    def deployed_detector(self) -> Detector:
        return self.slow

    @property
    def detectors(self) -> list[Detector]:
        """Every detector of the strategy, and the slow learner."""
        return [*self.strategy.detectors, *([self.slow] if self.options.ema else [])]

    def extend_classes(self, names: Sequence[str]) -> None:
        self.strategy.extend_classes(names)
        if self.options.ema:
            self.slow.extend_classes(names)

    def pseudo_label(self, step: Step, *, but: Collection[int] = ()) -> list[LabelledFrame]:
        """The unlabelled frames of the step, but those with these ids, with what the pseudo-labeller is sure of."""
        if not (frames := self._list_to_label(step, but=but)):
            return []
        written = self.labeller(frames, step.labelled("human"))
        return [self._as_pseudo(*pair) for pair in zip(frames, written, strict=True)]

    def _list_to_label(self, step: Step, *, but: Collection[int]) -> list[Frame]:
        """The frames of the step that get pseudo labels."""
        if not self.options.pseudo_labels or self.steps_learned < self.options.warmup_steps:
            return []
        return [frame for frame in step.unlabelled if frame.id not in but]

    def _as_pseudo(self, frame: Frame, labels: Labels) -> LabelledFrame:
        weight = self.options.pseudo_weight
        weights = LossWeights(proposals=weight if self.options.proposal_loss else 0.0, boxes=weight, classes=weight)
        return frame, replace(labels, source="pseudo", weights=weights)

    def _recall(self, step: Step) -> list[LabelledFrame]:
        """Remembered frames in the place of some unlabelled ones, whose ids they have."""
        frames = step.unlabelled
        leaves_places = self.options.pseudo_labels and not self.is_diagnosed
        count = round(self.options.remembered_share * len(frames)) if leaves_places else 0
        if not (remembered := self.strategy.draw_remembered(count)):
            return []
        places = sorted(self.random.choice(len(frames), count, replace=False))
        return put_copies([self._as_pseudo(frames[place], Labels.none()) for place in places], remembered)

    def _recall_others(self, remembered: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        """Other remembered frames in the same places, for a later round."""
        return put_copies(remembered, self.strategy.draw_remembered(len(remembered)))

    def _choose_taught(self, step: Step, pseudo: Sequence[LabelledFrame]) -> Sequence[LabelledFrame]:
        # A diagnosis replaces all of them: copies in the place of what it empties would be another lesson.
        if self.substitute:
            return self.substitute(step, pseudo)
        if self.options.empty_frames == "copies":
            return put_copies(pseudo, step.labelled("human"), instead_of=lambda labels: not len(labels))
        return pseudo

    def _show(self, step: Step, taught: Sequence[LabelledFrame]) -> Step:
        """The step as one round learns from it, with an augmentation of its own."""
        shown = augment(taught, self.random, self.options.rotated_boxes) if self.options.augment else taught
        return step.with_labelled(share_update(step.labelled("human"), shown, self.options.labelled_share))

    def _check_labeller(self, labelled: Sequence[LabelledFrame]) -> PseudoLabelCheck | None:
        """What the pseudo-labeller would have written on the first of these frames; None for a labeller from outside.

        One frame, so that it costs little. In a call of its own: a frame of another size beside them would pad the
        frames to label, and change the last digits of what is found there.
        """
        if self.labeller != self._label_confident or not labelled:
            return None
        (frame, given), *others = labelled
        # What the frame itself shows is not known of a frame that nobody has labelled.
        [written] = self.label_writer.try_out(self._request([frame], others))
        return check_labels(written, given)

    def _label_confident(self, frames: Sequence[Frame], labelled: Sequence[LabelledFrame]) -> list[Labels]:
        return self.label_writer.write(self._request(frames, labelled))

    def _request(self, frames: Sequence[Frame], labelled: Sequence[LabelledFrame]) -> PseudoLabelRequest:
        slow, fast = _predict_with(self.slow), _predict_with(self.strategy.detector)
        return PseudoLabelRequest(frames, labelled, slow, fast)

    @torch.no_grad()
    def consolidate(self) -> None:
        """Move the slow learner towards the fast one: all floating-point state; the rest is copied.

        Both recipes do this at the end of a step. The authors' code does it at the start of the next one: the same for
        all that is learnt, but their evaluated slow learner lags a step behind.
        """
        self.steps_learned += 1
        if self.options.ema:
            self.slow.follow(self.strategy.detector, keep=self.keep_now)

    @property
    def keep_now(self) -> float:
        """How much of itself the slow learner keeps after the steps learnt so far."""
        steps = self.steps_learned
        return min(self.options.keep, (1 + steps) / (10 + steps)) if self.options.ema_warmup else self.options.keep

    def state_dict(self) -> dict[str, Any]:
        return {
            "strategy": self.strategy.state_dict(),
            "slow": self.slow.state_dict(),
            "random": self.random.bit_generator.state,
            "steps_learned": self.steps_learned,
            "watch": self.monitor.state_dict(),
            "pseudo_labeller": {
                "name": self.options.labeller,
                "state": self.label_writer.pseudo_labeller.state_dict(),
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.extend_classes(state["slow"]["classes"][len(self.classes) :])
        self.strategy.load_state_dict(state["strategy"])
        self.slow.load_state_dict(state["slow"])
        self.random.bit_generator.state = state["random"]
        self.steps_learned = state["steps_learned"]
        self.monitor.load_state_dict(state["watch"])
        # Older checkpoints have none: their pseudo-labellers kept nothing. A run that goes on may have chosen another.
        kept = state.get("pseudo_labeller", {})
        if kept.get("name") == self.options.labeller:
            self.label_writer.pseudo_labeller.load_state_dict(kept["state"])


def _predict_with(detector: Detector) -> Predict:
    return partial(distributed.predict_sharded, detector.predict)
