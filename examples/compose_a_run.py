"""Compose a run in Python: your own stream, learner and evaluator; directory, checkpoints and report as `leocod run`.

python examples/compose_a_run.py runs/composed     (once more: resumes the run where it was stopped)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import leocod as lc

WORLD = lc.Wander(lc.WanderOptions(steps=6), seed=0)


class Walk(lc.Steps):
    """A stream whose length nobody knows, in which a person labels the first two frames of a step."""

    def arrivals(self, start: int = 0, *, learner: lc.Learner | None = None) -> Iterator[lc.Arrival]:
        for index in range(start, WORLD.steps):
            truth = {frame.id: labels for frame, labels in WORLD.frames_of(index)}
            frames = tuple(frame for frame, _ in WORLD.frames_of(index))
            labels = {frame.id: truth[frame.id] for frame in frames[:2]}
            yield lc.Arrival(lc.Step(index, frames, labels), truth, revealed={index: tuple(labels)})


def run(out: Path, **options: Any) -> lc.Results | None:
    """Start the run, or resume it where its directory is there already."""
    learner = lc.EfficientCLS(lc.ICaRL(lc.Tiny(WORLD.classes)))
    evaluator = lc.Evaluator(WORLD.test, WORLD.classes, every=3)
    facts = lc.RunFacts("my walk", "icarl", efficient_cls=True, ema=True, pseudo_labels=True)
    parts = lc.Parts(Walk(), learner, evaluator, facts, **options)
    return (lc.resume_run if out.exists() else lc.start_run)(parts, out)


if __name__ == "__main__":
    print(run(Path(sys.argv[1])))
