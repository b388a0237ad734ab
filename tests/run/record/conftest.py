"""A short run, as its events tell it."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.events import (
    Evaluated,
    Event,
    PseudoLabelAudit,
    RunFinished,
    RunStarted,
    StepArrived,
    StepFinished,
    StepLearned,
    StreamEnded,
)
from leocod.types import Detections, Labels

CLASSES = ("mug", "chair", "dog")


def learned(step: int, present: tuple[int, ...]) -> StepLearned:
    return StepLearned(
        step=step,
        losses={"current/region_class": 0.5},
        labelled_ids=(10 * step,),
        present=present,
        labelled=present[:1],
        audit=PseudoLabelAudit(frames=3, labels=4, right=3, objects=6),
        memory_bytes=1000 * (step + 1),
        seconds={"stream": 0.25, "train": 0.5},
        pseudo={10 * step + 1: Labels(np.array([[0, 0, 5, 5]]), np.array([0]), "pseudo")},
    )


def evaluated(step: int, mug: float, chair: float) -> Evaluated:
    found = Detections(np.array([[1, 2, 4.5, 8]], np.float32), np.array([1]), np.array([0.9], np.float32))
    return Evaluated(step, {"mug": mug, "chair": chair, "dog": None}, 0.125, {7: found})


@pytest.fixture
def events() -> list[Event]:
    """Two steps, an evaluation after each; there is no dog among the test frames."""
    return [
        RunStarted("a run", CLASSES, steps=2, first_step=0),
        StepArrived(0),
        learned(0, (0, 1)),
        evaluated(0, mug=0.5, chair=0.25),
        StepFinished(0, seconds=1.5),
        StepArrived(1),
        learned(1, (1,)),
        evaluated(1, mug=0.25, chair=0.75),
        StepFinished(1, seconds=3.5),
        StreamEnded(2),
        RunFinished(2, seconds=4.0),
    ]
