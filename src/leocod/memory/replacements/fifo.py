"""First in, first out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import Entry, Shelf


class FIFO(MemoryReplacement):
    """Keeps the newest frames: every newcomer takes the place of the oldest entry."""

    def choose_place(self, shelf: Shelf, newcomer: Entry, random: np.random.Generator) -> int | None:
        return min(range(len(shelf.entries)), key=lambda place: shelf.entries[place].number, default=None)

    def choose_leaving(self, entries: Sequence[Entry], random: np.random.Generator) -> Entry:
        return entries[0]
