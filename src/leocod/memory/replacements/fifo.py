"""First in, first out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import MemoryEntry, Shelf


class FIFO(MemoryReplacement):
    """Keeps the newest frames: every newcomer takes the place of the oldest entry."""

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        return min(range(len(shelf.entries)), key=lambda place: shelf.entries[place].number, default=None)

    def choose_leaving(self, entries: Sequence[MemoryEntry], random: np.random.Generator) -> MemoryEntry:
        return entries[0]
