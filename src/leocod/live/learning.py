"""The learner of a live run. It performs what the journal says, saves itself, and can go back and do it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torchvision.ops import nms

from leocod.benchmarks.live import LiveOptions
from leocod.errors import InvalidFrame
from leocod.evaluation.ap import Scorer
from leocod.files.run_directory import RunDirectory
from leocod.learner import Learned
from leocod.live.book import Book, GivenLabel
from leocod.live.checkpoints import Checkpoints
from leocod.live.frame_store import FrameStore
from leocod.live.journal import Entry
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.run.config import ExperimentConfig
from leocod.run.earlier import drop_start
from leocod.run.experiment import Seeds, build_strategy, wrap
from leocod.strategies.base import Strategy
from leocod.types import Detections, Frame, Images, LabelledFrame, Labels, Step

PERFORMED = frozenset({"step", "merge", "pin", "forget", "undo"})
"""Kinds of entries that change the learner."""

MOST_MEASURED = 200
"""Labels kept aside that a measurement looks at: the newest ones."""

PROPOSED_FROM = 0.3
"""Score from which a detection is offered to the person as a box to accept."""
SAME_THING = 0.6
"""Overlap (IoU) from which two boxes are of one thing."""

BATCH = 16
"""Frames that are detected together."""


class LiveLearner:
    """A strategy with its plug-in whose class list grows, driven by entries of the journal."""

    def __init__(self, directory: RunDirectory, config: ExperimentConfig, book: Book, store: FrameStore) -> None:
        self.directory = directory
        self.config = config
        self.book = book
        self.store = store
        self.learner = build_learner(config)
        self.step = -1
        """The step that was performed last."""
        self.learned = 0
        """Steps that were learnt."""
        self.labels_learned = 0
        self.taught: set[int] = set()
        """Labels that were learnt after a step with them had been refused."""
        self.merged: dict[int, int] = {}
        """Class -> the class that it was merged into, as far as the journal was performed."""
        self.accuracy: list[dict[str, Any]] = []
        """Measurements: `step`, `labels` given by then, `ap` in points."""
        self.ap_by_class: dict[int, float] = {}
        self.checkpoints = Checkpoints(directory.checkpoints, config.checkpoint.keep)

    @property
    def known_classes(self) -> tuple[str, ...]:
        """The classes of the start."""
        return self.learner.classes

    # -- performing the journal

    def perform(self, entry: Entry, frames: Mapping[int, Frame] | None = None) -> Learned | None:
        """Do what an entry says. `frames`: those of a step, where they are at hand. Returns what a step has taught."""
        memory = self.learner.memory
        match entry["kind"]:
            case "step":
                return self._learn(entry, frames or {})
            case "merge":
                self.merged[entry["class"]] = entry["into"]
                if memory is not None:
                    memory.merge_classes(entry["class"], entry["into"])
            case "pin" if memory is not None:
                (memory.pinned.add if entry["pinned"] else memory.pinned.discard)(entry["frame"])
            case "forget" if memory is not None:
                memory.remove(entry["frame"])
            case "undo" if memory is not None and not entry["goes_back"]:
                memory.remove(entry["frame"])
        return None

    def _learn(self, entry: Entry, at_hand: Mapping[int, Frame]) -> Learned | None:
        self.step = entry["step"]
        # A step that was refused may be learnt when it is performed again without a label that was taken back.
        known = [self.book.labels[number] for number in entry["labels"] if number in self.book.labels]
        given = [label for label in known if label.number not in self.taught]
        pairs = [pair for label in given if (pair := self.load_pair(label)) is not None]
        # A precaution: nobody corrects what it would teach itself.
        most = cast(LiveOptions, self.config.benchmark.options).steps_per_label * self.labels_learned
        if not pairs and self.learned >= most:
            return None
        # As many as there were: with an output more, the same step would teach something else.
        self.extend_classes(entry["classes"])
        unlabelled = [frame for number in entry["frames"] if (frame := self.load_frame(number, at_hand)) is not None]
        step = Step(
            entry["step"],
            (*unlabelled, *(frame for frame, _ in pairs)),
            {frame.id: labels for frame, labels in pairs},
        )
        learned = self.learner.learn(step)
        if not learned.refused:
            self.learned += 1
            self.labels_learned += len(pairs)
            self.taught |= {label.number for label in given if label.refusals}
        return learned

    def extend_classes(self, count: int | None = None) -> None:
        """Give the detectors an output for every class, or the first so many, and every output its name by now."""
        names = self.book.detector_names
        # Before there are more: a new class may have the name that another one had.
        for detector in self.learner.detectors:
            detector.classes = names[: len(detector.classes)]
        # One by one: its first weights then depend on its place in the list, and not on which others came with it.
        for name in names[len(self.learner.classes) : count]:
            self.learner.extend_classes([name])

    def load_pair(self, label: GivenLabel) -> LabelledFrame | None:
        """A labelled frame as a learner takes it; None where the frame is gone."""
        frame = self.load_frame(label.frame)
        return None if frame is None else (frame, self._to_labels(label))

    def load_frame(self, number: int, at_hand: Mapping[int, Frame] | None = None) -> Frame | None:
        """None for a frame that is gone: somebody may have removed the file, or a loss of power has damaged it."""
        try:
            return (at_hand or {}).get(number) or self.store.read(number)
        except InvalidFrame:
            return None

    def _to_labels(self, label: GivenLabel) -> Labels:
        """As a learner takes it, with the classes as they were when this point of the journal was reached."""
        classes = np.array([self.resolve(number) for number in label.classes])
        return Labels(np.array(label.boxes), classes, complete=label.complete)

    def resolve(self, number: int) -> int:
        """The class that a class has been merged into."""
        return self.resolve(self.merged[number]) if number in self.merged else number

    # -- detecting and measuring

    def predict(self, images: Images) -> list[Detections]:
        """What the deployed detector finds, in the classes that there are by now."""
        return [resolve_detections(found, self.resolve) for found in self.learner.predict(images)]

    def propose(self, images: Images) -> list[Detections]:
        """Boxes for a person to accept: one for each thing, by the name that is surest."""
        return [_keep_surest(found.above(PROPOSED_FROM)) for found in self.predict(images)]

    def measure(self, labels: Sequence[GivenLabel]) -> None:
        """AP50 on labels that are kept aside."""
        aside = [pair for label in labels[-MOST_MEASURED:] if (pair := self.load_pair(label))]
        if not aside:
            return
        self.extend_classes()
        truth = {frame.id: labels for frame, labels in aside}
        found: dict[int, Detections] = {}
        for first in range(0, len(aside), BATCH):
            part = [frame for frame, _ in aside[first : first + BATCH]]
            found |= dict(zip([frame.id for frame in part], self.predict([f.image() for f in part]), strict=True))
        scores = 100 * Scorer(truth, len(self.book.classes)).score(found)
        self.ap_by_class = {number: float(ap) for number, ap in enumerate(scores) if not np.isnan(ap)}
        if self.ap_by_class:
            mean = float(np.mean(list(self.ap_by_class.values())))
            self.accuracy.append({"step": self.step, "labels": self.book.given, "ap": round(mean, 2)})

    # -- saving and going back

    def save(self, position: int, *, forget_earlier: bool = False) -> Path:
        """Write a checkpoint of all entries before `position`, and remove the oldest ones, or all earlier ones."""
        self.extend_classes()
        return self.checkpoints.write(self._state(position), alone=forget_earlier)

    def _state(self, position: int) -> dict[str, Any]:
        return {
            "step": self.step,
            "finished": True,
            "classes": list(self.learner.classes),
            "steps": None,
            "known_classes": None,
            "config": self.config.model_dump(mode="json"),
            "learner": self.learner.state_dict(),
            "live": {
                "position": position,
                "merged": dict(self.merged),
                "learned": self.learned,
                "labels_learned": self.labels_learned,
                "taught": sorted(self.taught),
                "accuracy": [dict(point) for point in self.accuracy],
                "ap_by_class": dict(self.ap_by_class),
            },
            "torch_random": torch.get_rng_state(),
        }

    def load(self, state: Mapping[str, Any]) -> int:
        """Go back to a checkpoint. Returns the position in the journal from which to go on."""
        learner = build_learner(drop_start(self.config), state["learner"])
        self.learner = learner
        live = state["live"]
        self.step, self.merged = state["step"], dict(live["merged"])
        self.learned, self.labels_learned = live["learned"], live["labels_learned"]
        # Checkpoints of earlier versions have none.
        self.taught = set(live.get("taught", ()))
        self.accuracy = [dict(point) for point in live["accuracy"]]
        self.ap_by_class = dict(live["ap_by_class"])
        torch.set_rng_state(state["torch_random"])
        return int(live["position"])


def _keep_surest(found: Detections) -> Detections:
    kept = nms(torch.from_numpy(found.boxes), torch.from_numpy(found.scores), SAME_THING).numpy()
    return Detections(found.boxes[kept], found.classes[kept], found.scores[kept])


def resolve_detections(found: Detections, resolve: Any) -> Detections:
    """In the classes that there are by now."""
    classes = np.array([resolve(int(number)) for number in found.classes], np.int64)
    return Detections(found.boxes, classes, found.scores)


def build_learner(config: ExperimentConfig, state: Mapping[str, Any] | None = None) -> Strategy | EfficientCLS:
    """The learner that a config names: with the classes of its start, or with those of a state."""
    torch.set_num_threads(config.threads)
    names: Sequence[str]
    if state is None:
        names = config.detector.find().known_classes(config.detector.options)
    else:
        names = (state["slow"] if "slow" in state else state["detector"])["classes"]
    torch.manual_seed(Seeds.of(config.seed).torch)
    learner = cast(Strategy | EfficientCLS, wrap(config, build_strategy(config, names), names, None))
    if state is not None:
        learner.load_state_dict(state)
    return learner
