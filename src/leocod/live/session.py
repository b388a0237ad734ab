"""A live run: takes in steps of frames and what a person says of some of them, learns, saves, and takes back.

Two kinds of calls: `label`, `skip` and `describe` answer at once, from any thread; all others may take as long as a
step takes to learn and are made by one thread only.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import cast

from leocod.benchmarks.live import LiveOptions
from leocod.errors import InvalidConfig, InvalidData
from leocod.files.run_directory import RunDirectory
from leocod.labelling.base import Labeller, LabelRequest, StreamInfo
from leocod.live.book import Book, check_name
from leocod.live.deployed import Deployed
from leocod.live.drawn import DrawnObject, clip_boxes
from leocod.live.frame_store import FrameStore
from leocod.live.history import History
from leocod.live.journal import Entry, Journal
from leocod.live.learning import LiveLearner
from leocod.run.config import ExperimentConfig
from leocod.run.experiment import Seeds
from leocod.stream.budget import Budget
from leocod.stream.questions import Questions
from leocod.types import Detections, Frame, Image


@dataclass(frozen=True)
class Proposal:
    """What the detector finds in a frame that wants a label."""

    size: tuple[int, int]
    asked: float
    """When the frame was asked for."""
    found: Detections


class LiveSession:
    """Everything that a live run knows and does."""

    def __init__(
        self,
        directory: RunDirectory,
        config: ExperimentConfig,
        *,
        classes: Sequence[str] = (),
        tell: Callable[[str, str], None] = lambda level, text: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Begin in a directory, or go on with what its journal tells.

        `classes`: names to begin with, beside the start's. `tell` gets messages for a person, each with its level:
        info, warning or error.
        """
        self.directory = directory
        self.config = config
        self.options = cast(LiveOptions, config.benchmark.options)
        self.tell = tell
        self.clock = clock
        self.lock = RLock()
        self.journal = Journal(directory.path / "journal.jsonl")
        self.book = Book(most_requests=self.options.requests)
        self.store = FrameStore(directory.path / "frames", directory.path.resolve().name)
        self.learning = LiveLearner(directory, config, self.book, self.store)
        self.history = History(self.journal, self.book, self.learning, self.lock, tell)
        self.proposals: dict[int, Proposal] = {}
        self.last_seen: dict[int, float] = {}
        """Class -> when it was detected last."""
        self.step_seconds: deque[float] = deque(maxlen=20)
        self.remembered: list[tuple[int, tuple[int, ...]]] = []
        """Frames of the memory, newest first, with the numbers of the classes that they show."""
        self.has_forgotten = False
        """Whether a frame must be off the disk at the next checkpoint."""
        self._begin(classes)
        self.deployed = Deployed(self.learning.learner.deployed_detector)
        self.publish()
        self.labeller: Labeller = config.labels.build(
            seed=Seeds.of(config.seed).labels,
            stream=StreamInfo("live", tuple(self.book.detector_names), None, lambda per_step: None),
        )
        self.budget = Budget(self.labeller.options, None, has_clock=True)

    # -- beginning and going on

    def _begin(self, classes: Sequence[str]) -> None:
        # First, so that of a long journal only what may be performed again is kept.
        self.learning.checkpoints.find(warn=lambda text: self.tell("warning", text))
        corrections = [pair for pair in self.history.read() if pair[1]["kind"] in ("undo", "forget")]
        if not self.journal.length:
            names = self.learning.known_classes
            new = [name for name in map(check_name, classes) if name not in names]
            if len(set(new)) < len(new):
                raise InvalidConfig(f"--classes names '{next(n for n in new if new.count(n) > 1)}' twice.")
            self.history.note({"kind": "begin", "classes": [*names, *new], "from_start": len(names)})
        if self.journal.length == 1:
            # New, or ended before there was a step: what can be gone back to is the start.
            self.learning.extend_classes()
            self.learning.save(self.journal.length)
        else:
            self._restore(corrections)

    def _restore(self, corrections: Sequence[tuple[int, Entry]]) -> None:
        """The learner as it was: the newest checkpoint, and what was learnt after it once more."""
        checkpoints = self.learning.checkpoints
        checkpoints.remove_stale(corrections)
        if not self.history.go_back():
            self.history.repeat(0)
        # An earlier checkpoint may hold it, if the process ended before that was removed.
        oldest = checkpoints.oldest_position
        self.has_forgotten = any(entry["kind"] == "forget" and number >= oldest for number, entry in corrections)
        self.propose([one for frame in self.book.requests if (one := self.learning.load_frame(frame)) is not None])

    # -- what a person says: at once, from any thread

    def label(
        self,
        frame: int,
        objects: Sequence[DrawnObject],
        *,
        complete: bool = True,
        seconds: float = 0.0,
        key: str = "",
    ) -> int:
        """Take a label. When this returns its number, the label is on the disk. The next step learns from it."""
        with self.lock:
            if key and key in self.book.keys:
                return self.book.keys[key]
            if frame not in self.book.requests:
                raise InvalidData(f"Frame {frame} wants no label any more: it was labelled, skipped or replaced.")
            stored = self.learning.load_frame(frame)
            if stored is None:
                raise InvalidData(f"Frame {frame} is not on the disk any more, or is damaged. Skip it.")
            boxes = clip_boxes(objects, stored.size)
            numbers, new = self.book.number_names([check_name(one.name) for one in objects])
            number = self.book.next_label
            every = self.options.keep_aside
            self.store.make_durable(frame)
            self.history.note(
                {
                    "kind": "label",
                    "label": number,
                    "frame": frame,
                    "boxes": boxes,
                    "classes": numbers,
                    "new_classes": new,
                    "complete": complete,
                    "seconds": round(float(seconds), 3),
                    "time": self.clock(),
                    "key": key,
                    # Where not everything is labelled, a detection that is right may look wrong.
                    "kept_aside": bool(every and complete and number % every == 0),
                }
            )
            return number

    def skip(self, frame: int) -> None:
        """Do not ask for a frame any more."""
        with self.lock:
            if frame in self.book.requests:
                self.history.note({"kind": "skip", "frame": frame})

    # -- what takes time: by one thread

    def take_step(self, images: Sequence[Image], seconds: float | None = None) -> None:
        """Store the frames of a step, ask for the labels of some, and learn from all that is there.

        `seconds`: how long the step was, for a budget by the hour.
        """
        first = self.book.next_frame
        frames = [self.store.add(first + place, image) for place, image in enumerate(images)]
        asked = self._choose(frames, seconds)
        with self.lock:
            step = self.book.steps
            entry: Entry = {
                "kind": "step",
                "step": step,
                "frames": [frame.id for frame in frames if frame.id not in asked],
                "labels": [label.number for label in self.book.list_next()],
                "classes": len(self.book.classes),
                "asked": asked,
                "next_frame": first + len(frames),
            }
            self.history.note(entry)
        began = time.perf_counter()
        try:
            learned = self.history.perform(entry, {frame.id: frame for frame in frames})
        except Exception:
            # A part of the step may have been learnt.
            self.history.go_back()
            raise
        if learned is not None:
            self.step_seconds.append(time.perf_counter() - began)
            for warning in learned.warnings:
                self.tell("warning", warning)
            if learned.refused:
                self.tell("warning", f"Step {step + 1} was not learnt: {learned.refused}.")
            self.publish()
        self.propose([frame for frame in frames if frame.id in asked])
        if (step + 1) % self.options.measure_every == 0:
            with self.lock:
                aside = self.book.list_kept_aside()
            self.learning.measure(aside)
        if (step + 1) % self.config.checkpoint.every == 0:
            self.checkpoint()

    def _choose(self, frames: Sequence[Frame], seconds: float | None) -> list[int]:
        """The frames that the person is asked for, as the labeller chooses and the budget allows."""
        most = self.budget.allow(self.book.steps, len(frames), seconds)
        questions = Questions(self.labeller.name, self.learning.learner)
        everyone = frozenset(frame.id for frame in frames)
        chosen = self.labeller.choose(LabelRequest(self.book.steps, frames, everyone, most, questions))
        asked = [int(number) for number in chosen if number in everyone]
        self.budget.spend(len(asked))
        return asked

    def propose(self, frames: Sequence[Frame]) -> None:
        """Look for boxes in frames that want a label, so that the person need not draw them all."""
        found = self.learning.propose([frame.image() for frame in frames]) if frames else []
        with self.lock:
            self.proposals |= {
                frame.id: Proposal(frame.size, self.clock(), detections)
                for frame, detections in zip(frames, found, strict=True)
            }
            self.proposals = {frame: one for frame, one in self.proposals.items() if frame in self.book.requests}

    def checkpoint(self) -> Path:
        """Save everything, and remove what nothing needs any more."""
        with self.lock:
            position = self.journal.length
        path = self.learning.save(position, forget_earlier=self.has_forgotten)
        self.has_forgotten = False
        with self.lock:
            wanted = {label.frame for label in self.book.labels.values()} | set(self.book.requests)
            self.store.keep_only(wanted | self.history.forget_oldest())
        return path

    def publish(self) -> None:
        """Show what was learnt: to those who look at the picture, and to those who look at the memory."""
        self.deployed.update(self.learning.learner.deployed_detector)
        classes: dict[int, set[int]] = {}
        # A frame may be held more than once, each time with one of its classes.
        for frame, labels in self.learning.learner.remembered_frames():
            classes.setdefault(frame.id, set()).update(labels.classes.tolist())
        self.remembered = [(number, tuple(sorted(classes[number]))) for number in sorted(classes, reverse=True)]

    def close(self) -> None:
        """Save, and let go of the journal."""
        self.checkpoint()
        self.journal.close()
