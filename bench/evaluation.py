"""What an evaluation costs: scoring against other code for the same figure, and evaluating against learning.

    .venv/bin/python bench/evaluation.py

1. Scoring: AP50 of frames x 100 detections x 20 classes. Ours begins with the detections, as a run has them, and counts
   everything. pycocotools and faster-coco-eval are asked for the same figure only (one IoU, one range of sizes, one
   number of detections), and begin with the objects of their own built; what building them takes is told beside.
2. An evaluation of the standard world, divided into detecting and scoring.
3. Evaluating in a run of the standard world: one evaluation by their number, against one step by theirs.

One process, all sides in turn, and the first round does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from faster_coco_eval import COCO, COCOeval_faster
from harness import ROOT, Spread, arguments, in_turn, record, table
from pycocotools.cocoeval import COCOeval

from leocod.evaluation.ap import MOST_DETECTIONS, Scorer
from leocod.run.config import load_config
from leocod.run.experiment import build
from leocod.run.layers import parse_override
from leocod.types import Detections, Image, Labels

# The reference of the tests is the reference here.
sys.path.insert(0, str(ROOT / "tests" / "evaluation"))
from pycocotools_reference import coco_of, dataset_of, means

OURS, PYCOCOTOOLS, FASTER = "leocod", "pycocotools", "faster-coco-eval"
BUILDING = ", building its objects"


def a_test_set(frames: int, detections: int, classes: int) -> tuple[dict[int, Detections], dict[int, Labels]]:
    """Some 8 objects a frame. Half of the detections are near one of them, a little or a lot, the rest anywhere."""
    random = np.random.default_rng(0)
    found, truth = {}, {}
    for frame in range(frames):
        objects = int(random.integers(1, 16))
        sides = random.uniform(20, 200, (objects, 2))
        boxes = _boxes(random.uniform(0, 400, (objects, 2)), sides)
        names = random.integers(0, classes, objects)
        truth[frame] = Labels(boxes, names)
        near, far = detections // 2, detections - detections // 2
        which = random.integers(0, objects, near)
        moves = 0.15 * random.normal(size=(2, near, 2)) * sides[which]
        close = _boxes(boxes[which, :2] + moves[0], np.maximum(sides[which] + moves[1], 1))
        anywhere = _boxes(random.uniform(0, 400, (far, 2)), random.uniform(20, 200, (far, 2)))
        scores = np.concatenate([random.beta(3, 2, near), random.beta(1, 4, far)]).astype(np.float32)
        best_first = np.argsort(-scores)
        found[frame] = Detections(
            np.concatenate([close, anywhere])[best_first],
            np.concatenate([names[which], random.integers(0, classes, far)])[best_first],
            scores[best_first],
        )
    return found, truth


def _boxes(corners: Any, sides: Any) -> Any:
    return np.concatenate([corners, corners + sides], axis=1).astype(np.float32)


def for_one_figure(evaluation: Any) -> Callable[[], list[float]]:
    """Makes a COCO evaluation compute AP50, and nothing besides."""
    evaluation.params.iouThrs = np.array([0.5])
    evaluation.params.maxDets = [MOST_DETECTIONS]
    evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]

    def evaluate() -> list[float]:
        evaluation.evaluate()
        evaluation.accumulate()
        return means(evaluation)

    return evaluate


def scoring(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Spread]]:
    """The same detections, scored by each: what was found, and the others' times in ours."""
    found, truth = a_test_set(options.frames, options.detections, options.classes)
    scorer = Scorer(truth, options.classes)
    built = [coco_of(marked, truth, options.classes) for marked in (truth, found)]
    faster = [COCO(dataset_of(marked, truth, options.classes)) for marked in (truth, found)]
    scorers: dict[str, Callable[[], Sequence[float]]] = {
        OURS: lambda: scorer.score(found),
        PYCOCOTOOLS: for_one_figure(COCOeval(*built, "bbox")),
        FASTER: for_one_figure(COCOeval_faster(*faster, "bbox", print_function=lambda *_: None)),
    }
    building = {
        PYCOCOTOOLS + BUILDING: lambda: coco_of(found, truth, options.classes),
        FASTER + BUILDING: lambda: COCO(dataset_of(found, truth, options.classes)),
    }
    # What stays, a dict for each box, is not to be looked through for garbage in every side's turn.
    gc.freeze()
    # pycocotools tells the terminal what it does.
    with contextlib.redirect_stdout(io.StringIO()):
        figures = {name: np.array(score()) for name, score in scorers.items()}
        seconds = in_turn({**scorers, **building}, rounds=options.rounds)
    gc.unfreeze()
    apart = {name: float(np.nanmax(np.abs(one - figures[PYCOCOTOOLS]))) for name, one in figures.items()}
    rows = [
        [name, taken.told(1e-3, 0), f"{apart[name]:.1g}" if name in apart else ""] for name, taken in seconds.items()
    ]
    head = f"scoring {options.frames} frames x {options.detections} detections, {options.classes} classes"
    print(table([head, "ms", "largest difference of an AP to pycocotools"], rows))
    return {
        "frames": options.frames,
        "detections in a frame": options.detections,
        "objects": sum(len(labels) for labels in truth.values()),
        "classes": options.classes,
        "seconds": {name: taken.kept() for name, taken in seconds.items()},
        "largest difference of an AP to pycocotools": apart,
        "mean AP": float(np.nanmean(figures[OURS])),
    }, {f"{name} / {OURS}": seconds[name].over(seconds[OURS]) for name in seconds if name != OURS}


def running(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Spread]]:
    """An evaluation of the standard world, its scoring alone, and a step, once the memory has filled; and shares."""
    layers = [parse_override(f"threads={options.threads}"), parse_override(f"evaluate.frames={options.test_frames}")]
    experiment = build(load_config(Path("standard.yaml"), layers))
    learner, evaluator, steps = experiment.learner, experiment.evaluator, experiment.stream.steps()
    for step in islice(steps, options.filling):
        learner.learn(step)
    coming = list(islice(steps, options.steps + 1))
    scorer = Scorer({frame.id: labels for frame, labels in evaluator.test}, len(evaluator.classes))
    inside: list[float] = []
    found: dict[int, Detections] = {}

    def predict(images: Sequence[Image]) -> list[Detections]:
        began = time.perf_counter()
        detections = learner.predict(images)
        inside[-1] += time.perf_counter() - began
        return detections

    def evaluate() -> None:
        inside.append(0.0)
        found.update(evaluator.evaluate(predict)[1])

    sides = {
        "evaluation": evaluate,
        "scoring": lambda: scorer.score(found),
        "step": lambda: learner.learn(coming.pop(0)),
    }
    seconds = in_turn(sides, rounds=options.steps)
    seconds["detecting"] = Spread(tuple(inside[-options.steps :]))
    whole, count = seconds["evaluation"], experiment.benchmark.steps
    evaluations = sum(evaluator.due(step) for step in range(count))
    parts = {name: seconds[name] for name in ("evaluation", "detecting", "scoring")}
    rows = [[name, taken.told(1e-3, 1), taken.over(whole).told(0.01)] for name, taken in parts.items()]
    print("\n" + table([f"the standard world, {len(evaluator.test)} test frames", "ms", "% of an evaluation"], rows))
    rows = [
        [name, number, seconds[name].told(), f"{number * seconds[name].median:.1f}"]
        for name, number in {"step": count, "evaluation": evaluations}.items()
    ]
    print("\n" + table(["in a run", "how many", "s each", "s together"], rows))
    share = [evaluations * one / count / step for one, step in zip(whole.values, seconds["step"].values, strict=True)]
    return {
        "test frames": len(evaluator.test),
        "detections in a frame": sum(len(one) for one in found.values()) / len(found),
        "seconds": {name: taken.kept() for name, taken in seconds.items()},
        "steps": count,
        "evaluations": evaluations,
    }, {"scoring / evaluation": seconds["scoring"].over(whole), "all evaluations / all steps": Spread(tuple(share))}


def main() -> None:
    """Measure, print, and keep."""
    # The first steps, in which the memory fills, do not count.
    options = arguments(
        __doc__, rounds=10, frames=2000, detections=100, classes=20, filling=40, steps=20, test_frames=400
    )
    scored, times = scoring(options)
    world, shares = running(options)
    print()
    for name, ratio in times.items():
        print(f"{name}: {ratio.told()}")
    for name, ratio in shares.items():
        print(f"{name}: {ratio.told(digits=4)}")
    content = {
        "rounds": options.rounds,
        "scoring": scored,
        "the standard world": world,
        **{name: ratio.kept() for name, ratio in {**times, **shares}.items()},
        "against": {name: version(name) for name in (PYCOCOTOOLS, FASTER)},
    }
    record(options, content)


if __name__ == "__main__":
    main()
