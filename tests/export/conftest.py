"""A detector that has learnt something, and frames that it finds things in."""

from __future__ import annotations

import pytest
import torch

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.detectors.tiny import Tiny
from leocod.types import Image


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Random numbers that a test draws from torch are the same in every run and every order."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def frames() -> list[Image]:
    world = Wander(WanderOptions(edition="first", steps=8, places=3), seed=3)
    return [frame.image() for step in range(8) for frame, _ in list(world.frames_of(step))[::8]]


@pytest.fixture(scope="session")
def trained() -> Tiny:
    """With the shipped weights. Nobody may change it."""
    return Tiny(("mug", "chair", "book", "lamp", "car", "bench", "bottle", "plant"))
