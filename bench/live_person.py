"""A simulated person at a live run: AP on frames held out, over labels spent, for each labeller.

    .venv/bin/python bench/live_person.py --labeller random --minutes 20 --seed 0

The stream is the built-in world at 10 frames a second. The person answers the oldest request, some seconds after it was
asked for, with some mistakes: boxes that are off by a little, objects that are missed, names that are wrong. Time is
simulated, so a session takes as long as its steps take to learn. The last two lines are the same labels given offline:
the start trained on them, as often as the live learner was, and then tested once. "offline" has all labels from the
first update on; "in order" has at each update those that had come by then. Figures go to results/live.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from harness import ROOT, record, table

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.evaluation.evaluator import Evaluator
from leocod.files.run_directory import RunDirectory
from leocod.live.drawn import DrawnObject
from leocod.live.learning import build_learner
from leocod.live.run import load_live_config
from leocod.live.session import LiveSession
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.training.batch import Batch
from leocod.types import Detections, Images, Labels, Predict

FPS = 10.0
STEP = 16 / FPS
UPDATES = 2
"""Updates of a step: one on its own frames, one on remembered ones."""
TESTED = 300
"""Held-out frames, evenly from the whole walk."""


@dataclass
class Person:
    """Answers after some seconds, with some mistakes."""

    names: tuple[str, ...]
    random: np.random.Generator
    seconds_per_frame: float = 3.0
    seconds_per_box: float = 2.0
    missed: float = 0.05
    wrong: float = 0.03
    offset: float = 0.04
    """Of a box's size, by which each of its sides may be off."""
    free_from: float = 0.0
    """When the person has finished with the last frame."""
    spent: float = field(default=0.0)

    def answer(self, truth: Labels) -> list[DrawnObject]:
        """What the person says is in a frame."""
        drawn = []
        for box, number in zip(truth.boxes.tolist(), truth.classes.tolist(), strict=True):
            if self.random.random() < self.missed:
                continue
            name = self.names[self.random.integers(len(self.names)) if self.random.random() < self.wrong else number]
            size = np.array([box[2] - box[0], box[3] - box[1]] * 2)
            moved = np.array(box) + self.random.normal(0, self.offset, 4) * size
            if moved[2] - moved[0] > 2 and moved[3] - moved[1] > 2:
                drawn.append(DrawnObject(tuple(moved.tolist()), name))
        return drawn

    def take_time(self, boxes: int, now: float) -> float:
        """Seconds that a frame takes; the person is busy until then."""
        seconds = self.seconds_per_frame + self.seconds_per_box * boxes
        self.free_from = now + seconds
        self.spent += seconds
        return seconds


def hold_session(labeller: str, minutes: float, seed: int, per_step: int) -> list[dict[str, Any]]:
    """One session: AP over time."""
    steps = int(minutes * 60 / STEP)
    world = Wander(WanderOptions(steps=steps), seed=seed)
    evaluator = Evaluator(world.test, world.classes, every=1, frames=TESTED)
    person = Person(world.classes, np.random.default_rng(seed))
    config = load_live_config(
        None,
        [{"benchmark": {"keep_aside": 0}, "labels": {"name": labeller, "per_step": per_step}, "seed": seed}],
    )
    points = []
    with TemporaryDirectory() as folder:
        session = LiveSession(RunDirectory(Path(folder)), config, classes=world.classes)
        truth: dict[int, Labels] = {}
        order = [session.book.find_class(name) for name in world.classes]
        points.append(measure(session, evaluator, order, labeller, seed, 0, person.spent))
        labels_by_update: list[int] = []
        for step in range(steps):
            pairs = world.frames_of(step)
            first = session.book.next_frame
            truth |= {first + place: labels for place, (_, labels) in enumerate(pairs)}
            session.take_step([frame.image() for frame, _ in pairs])
            updates = UPDATES * session.learning.learned - len(labels_by_update)
            labels_by_update += [session.learning.labels_learned] * updates
            now = (step + 1) * STEP
            while session.book.requests and person.free_from <= now:
                frame = next(iter(session.book.requests))
                answer = person.answer(truth[frame])
                seconds = person.take_time(len(answer), max(now - STEP, person.free_from))
                session.label(frame, answer, seconds=seconds)
            if (step + 1) % max(1, steps // 10) == 0:
                points.append(measure(session, evaluator, order, labeller, seed, step + 1, person.spent))
                print(points[-1], file=sys.stderr, flush=True)
            truth = {number: labels for number, labels in truth.items() if number in session.book.requests}
        for name, known in (
            ("offline", [len(session.book.labels)] * len(labels_by_update)),
            ("in order", labels_by_update),
        ):
            learner = learn_offline(session, known, seed)
            last = measure(session, evaluator, order, labeller, seed, steps, person.spent)
            ap = compute_ap(learner.predict, evaluator, order)
            points.append({**last, "labeller": f"{labeller}, {name}", "ap50": ap})
        session.journal.close()
    return points


def measure(
    session: LiveSession, evaluator: Evaluator, order: list[Any], labeller: str, seed: int, step: int, spent: float
) -> dict[str, Any]:
    """AP on the frames held out."""
    return {
        "labeller": labeller,
        "seed": seed,
        "minute": round(step * STEP / 60, 2),
        "step": step,
        "labels": session.book.given,
        "boxes": sum(len(label.boxes) for label in session.book.labels.values()),
        "person_seconds": round(spent),
        "ap50": compute_ap(session.learning.predict, evaluator, order),
    }


def compute_ap(predict: Predict, evaluator: Evaluator, order: list[Any]) -> float:
    """Mean AP50 in points. `order`: the learner's number of each class of the world."""
    back = {number: place for place, number in enumerate(order)}

    def translated(images: Images) -> list[Detections]:
        return [
            Detections(one.boxes, np.array([back[int(number)] for number in one.classes], np.int64), one.scores)
            for one in predict(images)
        ]

    by_class, _ = evaluator.evaluate(translated)
    return round(100 * float(np.mean([value for value in by_class.values() if value is not None])), 2)


def learn_offline(session: LiveSession, labels_by_update: list[int], seed: int) -> EfficientCLS:
    """The start, trained on the same labels: at each update 16 frames, drawn from the first so many labels."""
    learner = build_learner(session.config)
    assert isinstance(learner, EfficientCLS)
    learner.extend_classes(session.book.detector_names[len(learner.classes) :])
    pairs = [pair for label in session.book.labels.values() if (pair := session.learning.load_pair(label))]
    draw = np.random.default_rng(seed)
    for update, known in enumerate(labels_by_update, start=1):
        batch = [pairs[number] for number in draw.integers(min(known, len(pairs)), size=16)]
        learner.strategy.update(Batch.mean_of("current", batch))
        if update % UPDATES == 0:
            learner.consolidate()
    return learner


def summarise(folder: Path) -> str:
    """A table of all sessions whose figures are there: a line a labeller and seed."""
    heads = (
        "labeller",
        "seed",
        "labels",
        "boxes",
        "start",
        "lowest",
        "4 min",
        "10 min",
        "20 min",
        "offline",
        "in order",
    )
    rows = []
    for file in sorted(folder.glob("*.json")):
        *points, offline, in_order = json.loads(file.read_text())["points"]
        at = {round(point["minute"]): point["ap50"] for point in points}
        middle = [at.get(minute) for minute in (4, 10, 20)]
        last, lowest = points[-1], min(point["ap50"] for point in points)
        ends = (points[0]["ap50"], lowest, *middle, offline["ap50"], in_order["ap50"])
        rows.append([last["labeller"], last["seed"], last["labels"], last["boxes"], *ends])
    return table(heads, rows)


def main() -> None:
    """Hold a session and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labeller", default="random")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-step", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--show", type=Path, metavar="FOLDER", help="only show the figures of the sessions there")
    options = parser.parse_args()
    if options.show:
        print(summarise(options.show))
        return
    options.out = options.out or ROOT / "results" / "live" / f"{options.labeller}-seed{options.seed}.json"
    points = hold_session(options.labeller, options.minutes, options.seed, options.per_step)
    heads = ("labeller", "minute", "labels", "boxes", "person_seconds", "ap50")
    print(table(heads, [[point[head] for head in heads] for point in points]))
    live, offline, in_order = (point["ap50"] for point in points[-3:])
    print(f"AP50 live {live:.2f}, the same labels offline {offline:.2f}, offline in order {in_order:.2f}.")
    record(options, {"points": points})


if __name__ == "__main__":
    main()
