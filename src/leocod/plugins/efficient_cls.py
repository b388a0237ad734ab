"""Efficient-CLS: a fast learner for the moment and a slow learner for the long run, around any strategy.

The fast learner is the wrapped strategy's detector, trained on labelled and replayed frames. The slow learner is its
moving average: people use it, and it writes pseudo labels for the frames that nobody labelled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from leocod.detectors.base import Detector
from leocod.evaluation.audit import check_labels
from leocod.events import PseudoLabelCheck
from leocod.learner import Learned
from leocod.plugins.augmentation import RotatedBoxes, augment
from leocod.plugins.confident_labels import discount, select_confident
from leocod.plugins.copies import put_copies
from leocod.plugins.labelled_share import share_update
from leocod.plugins.pseudo_label_monitor import PseudoLabelMonitor
from leocod.plugins.wrapper import Wrapper
from leocod.settings import Settings
from leocod.strategies.base import Strategy
from leocod.training import distributed
from leocod.types import Detections, Frame, Images, LabelledFrame, Labels, LossWeights, Step, list_classes

FrameLabeller = Callable[[Sequence[Frame]], Sequence[Labels]]
"""Who writes labels for unlabelled frames."""
Substitute = Callable[[Step, Sequence[LabelledFrame]], Sequence[LabelledFrame]]
"""What is trained on in the place of the pseudo-labelled frames of a step."""


class EfficientCLSOptions(Settings):
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
    """Learn in the places of the unlabelled frames: with what the slow learner is sure of there, or with what other
    options show instead. Off: only labelled and replayed frames are trained on."""
    labeller: Literal["slow", "fast", "mirrored", "both"] = "slow"
    """Who writes the pseudo labels."""
    score_threshold: float = Field(0.7, ge=0, le=1)
    """Pseudo labels are detections with a higher score."""
    unsure_above: float | None = Field(None, ge=0, le=1)
    """Detections with a lower score than the threshold but a higher one than this are neither labels nor background:
    regions over them are left out of the loss. Null, as in the paper: they are background."""
    nms_threshold: float = Field(0.5, gt=0, le=1)
    """Of two pseudo labels of one class that overlap more, the better one stays."""
    most_per_frame: int = Field(100, ge=1)
    """Pseudo labels in one frame, at most."""
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
    zoom: float = Field(0.9, gt=0, le=1)
    """The least part of each side of a frame that its augmentation keeps. 0.9, as in the paper: always 0.9."""
    colour: float = Field(0.0, ge=0, lt=1)
    """How much brightness, contrast and saturation change in the augmentation."""
    replay_views: bool = False
    """Augment the replayed frames, too."""
    context: float = Field(1.0, gt=0, le=1)
    """What the labeller's scores are multiplied by for classes that no labelled frame of the step shows: they are less
    likely to be around. Without labelled frames no class is discounted. 1, as in the paper: they count as they are."""
    empty_frames: bool | Literal["copies"] = True
    """Train also on unlabelled frames in which the labeller is sure of nothing, as if they were empty. False: leave out
    these frames. `copies`: show copies of the step's labelled frames in their place."""
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
    def _unsure_is_less_than_sure(self) -> Self:
        if self.unsure_above is not None and self.unsure_above >= self.score_threshold:
            raise ValueError(f"unsure_above is {self.unsure_above}: it should be less than score_threshold.")
        return self

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
        """`labeller` replaces the slow learner as the writer of pseudo labels."""
        super().__init__(strategy)
        self.options = options or EfficientCLSOptions()
        self.slow = strategy.detector.clone() if self.options.ema else strategy.detector
        self.random = np.random.default_rng(seed)
        self.steps_learned = 0
        self.monitor = PseudoLabelMonitor(self.options.watch_steps, self.options.flood)
        self.labeller = labeller or self._label_confident
        self._around: tuple[int, ...] = ()
        """The classes that the labelled frames around those that are being labelled show."""
        self.substitute: Substitute | None = None
        """Set by a diagnosis."""
        if self.options.replay_views:
            plain = strategy.sample_replay
            strategy.sample_replay = lambda: self._augment(plain())
        self.is_diagnosed = False
        """A diagnosis is about the unlabelled frames: nothing remembered takes their places."""

    @property
    def strategy(self) -> Strategy:
        """The wrapped strategy. Its detector is the fast learner."""
        return self.learner

    def learn(self, step: Step) -> Learned:
        began = time.perf_counter()
        remembered = self._recall(step)
        found = self.pseudo_label(step, but={frame.id for frame, _ in remembered})
        # Before the step is learnt: afterwards the labeller has seen the answer.
        compared = [(frame, labels) for frame, labels in step.labelled("human") if labels.complete]
        check = self._check_labeller(compared) if found else None
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

    def extend_classes(self, names: Sequence[str]) -> None:
        self.strategy.extend_classes(names)
        if self.options.ema:
            self.slow.extend_classes(names)

    def pseudo_label(self, step: Step, *, but: Collection[int] = ()) -> list[LabelledFrame]:
        """The unlabelled frames of the step, but those with these ids, with what the labeller is sure of."""
        frames = [frame for frame in step.unlabelled if frame.id not in but]
        if not self.options.pseudo_labels or not frames or self.steps_learned < self.options.warmup_steps:
            return []
        self._around = self._list_around(step.labelled("human"))
        return [self._as_pseudo(*pair) for pair in zip(frames, self.labeller(frames), strict=True)]

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
        shown = self._augment(taught) if self.options.augment else taught
        return step.with_labelled(share_update(step.labelled("human"), shown, self.options.labelled_share))

    def _augment(self, taught: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        return augment(taught, self.random, self.options.rotated_boxes, self.options.zoom, self.options.colour)

    def _check_labeller(self, labelled: Sequence[LabelledFrame]) -> PseudoLabelCheck | None:
        """What the labeller would have written on the first of these frames; None for a labeller from outside.

        One frame, so that it costs little. In a call of its own: a frame of another size beside them would pad the
        frames to label, and change the last digits of what is found there.
        """
        if self.labeller != self._label_confident or not labelled:
            return None
        (frame, given), *others = labelled
        # What the frame itself shows is not known of a frame that nobody has labelled.
        self._around = self._list_around(others)
        return check_labels(self._label_confident([frame])[0], given)

    def _list_around(self, labelled: Sequence[LabelledFrame]) -> tuple[int, ...]:
        """The classes that these frames show. Without a frame nothing is known, and no class counts as absent."""
        return list_classes(labels for _, labels in labelled) if labelled else tuple(range(len(self.classes)))

    def _label_confident(self, frames: Sequence[Frame]) -> list[Labels]:
        images = [frame.image() for frame in frames]
        if self.options.labeller == "mirrored":
            found = [_agree(a, _mirror(b, i.shape[1])) for a, b, i in zip(self.slow.predict(images), self.slow.predict([np.ascontiguousarray(i[:, ::-1]) for i in images]), images)]
        elif self.options.labeller == "both":
            found = [_agree(a, b) for a, b in zip(self.slow.predict(images), self.strategy.detector.predict(images))]
        else:
            detector = self.slow if self.options.labeller == "slow" else self.strategy.detector
            found = distributed.predict_sharded(detector.predict, images)
        return [self._to_labels(detections) for detections in found]

    def _to_labels(self, found: Detections) -> Labels:
        options = self.options
        return select_confident(
            discount(found, self._around, options.context),
            above=options.score_threshold,
            unsure_above=options.unsure_above,
            nms_threshold=options.nms_threshold,
            most=options.most_per_frame,
        )

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
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.extend_classes(state["slow"]["classes"][len(self.classes) :])
        self.strategy.load_state_dict(state["strategy"])
        self.slow.load_state_dict(state["slow"])
        self.random.bit_generator.state = state["random"]
        self.steps_learned = state["steps_learned"]
        self.monitor.load_state_dict(state["watch"])


def _mirror(found: Detections, width: int) -> Detections:
    boxes = found.boxes.copy()
    boxes[:, [0, 2]] = width - found.boxes[:, [2, 0]]
    return Detections(boxes, found.classes, found.scores)


def _agree(one: Detections, other: Detections) -> Detections:
    """Each detection with the mean of its score and of the best score of its class over it elsewhere; boxes averaged."""
    from leocod.boxes import pairwise_iou
    if not len(one) or not len(other):
        return Detections(one.boxes, one.classes, one.scores / 2)
    iou = pairwise_iou(one.boxes, other.boxes)
    iou[one.classes[:, None] != other.classes[None]] = 0
    fits = np.where(iou > 0.5, other.scores[None], 0)
    best = fits.argmax(axis=1)
    partner = fits.max(axis=1)
    boxes = np.where((partner > 0)[:, None], (one.boxes + other.boxes[best]) / 2, one.boxes).astype(np.float32)
    scores = ((one.scores + partner) / 2).astype(np.float32)
    order = np.argsort(-scores, kind="stable")
    return Detections(boxes[order], one.classes[order], scores[order])
