"""Memories, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from leocod.memory.replay import ReplayMemory
from leocod.memory.shelf import MemoryEntry, Shelf
from leocod.types import LabelledFrame


@pytest.fixture
def a_memory() -> Callable[..., ReplayMemory]:
    """A memory of a learner that knows two classes, unless it is said otherwise."""

    def make(seed: int = 0, **options: Any) -> ReplayMemory:
        return ReplayMemory(**{"classes": 2, **options}, seed=seed)

    return make


@pytest.fixture
def ids() -> Callable[[Sequence[LabelledFrame]], list[int]]:
    """Frame ids of labelled frames."""
    return lambda pairs: [frame.id for frame, _ in pairs]


@pytest.fixture
def numbers() -> Callable[[ReplayMemory], dict[int, list[int]]]:
    """Numbers of the entries on each shelf of a memory."""
    return lambda memory: {key: [entry.number for entry in shelf.entries] for key, shelf in memory.shelves.items()}


@pytest.fixture
def a_shelf(a_frame: Callable[..., LabelledFrame]) -> Callable[..., Shelf]:
    """A shelf with entries of these numbers, in this order."""

    def make(*numbers: int, offered: int = 0) -> Shelf:
        return Shelf([MemoryEntry(number, *a_frame(number)) for number in numbers], offered or len(numbers) + 1)

    return make


@pytest.fixture
def a_newcomer(a_frame: Callable[..., LabelledFrame]) -> Callable[..., MemoryEntry]:
    """An entry that stands on no shelf yet."""
    return lambda number=100, classes=(0,): MemoryEntry(number, *a_frame(number, classes))
