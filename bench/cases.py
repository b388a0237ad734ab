"""What the benchmarks of a step learn: three detectors, and how many frames a step has for each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from leocod.plugins.efficient_cls import EfficientCLS
from leocod.run.config import ExperimentConfig
from leocod.run.experiment import build
from leocod.types import Step


@dataclass(frozen=True)
class Case:
    """A detector, and how many frames a step has for it."""

    detector: dict[str, Any]
    labelled: int
    unlabelled: int
    replayed: int
    width: int
    height: int
    rounds: int
    """For every so many that were asked for, one: large networks take their time, and vary less."""


CASES = {
    "tiny": Case({"name": "tiny"}, 4, 12, 16, 128, 96, rounds=1),
    "mobilenet_v2-fpn": Case(
        {"name": "faster_rcnn", "backbone": "mobilenet_v2-fpn", "short_side": 320}, 2, 2, 4, 640, 480, rounds=4
    ),
    "resnet50-c4": Case(
        {"name": "faster_rcnn", "backbone": "resnet50-c4", "short_side": 160, "regions": 64, "proposals": 100}
        | {"proposals_at_test": 100},
        *(1, 1, 2, 640, 480),
        rounds=4,
    ),
}
STEPS = 8
"""Different steps that are learnt in turn."""
FILLING = 40
"""Steps whose labelled frames fill the memory beforehand."""


def learner_of(case: Case) -> tuple[EfficientCLS, list[Step]]:
    """A learner with a filled memory, and steps to learn."""
    walk = {"frames_per_step": case.labelled + case.unlabelled, "width": case.width, "height": case.height}
    experiment = build(
        ExperimentConfig.model_validate(
            {
                "benchmark": {"name": "wander", "steps": FILLING + STEPS, **walk},
                "labels": {"per_step": case.labelled},
                "detector": case.detector,
                "strategy": {"name": "icarl", "replay_per_step": case.replayed},
                "seed": 100,
            }
        )
    )
    learner: Any = experiment.learner
    arriving = experiment.stream.steps()
    for step in islice(arriving, FILLING):
        learner.strategy.remember(step)
    return learner, list(arriving)
