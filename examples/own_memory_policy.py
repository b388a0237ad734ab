"""Memory policies of one's own: a shelf for empty frames too, and on every shelf the frames with the most boxes.

PYTHONPATH=examples leocod run --set strategy.memory_store=own_memory_policy:BalancedWithEmpty
PYTHONPATH=examples leocod run --set strategy.memory_replacement=own_memory_policy:MostBoxes
"""

from collections.abc import Sequence

import numpy as np

from leocod import Balanced, MemoryEntry, MemoryReplacement, Shelf

EMPTY = -1
"""Key of the shelf for frames that show nothing. The keys of the others are the numbers of their classes."""


class BalancedWithEmpty(Balanced):
    """Gives empty frames places of their own, as if "nothing here" were a class."""

    def choose_shelves(self, newcomer: MemoryEntry) -> Sequence[int]:
        return newcomer.classes or [EMPTY]


class MostBoxes(MemoryReplacement):
    """Keeps the frames with the most boxes: a newcomer takes the place of the entry with the fewest if it has more."""

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        counts = [len(entry.labels) for entry in shelf.entries]
        return counts.index(min(counts)) if counts and len(newcomer.labels) > min(counts) else None

    def choose_leaving(self, entries: Sequence[MemoryEntry], random: np.random.Generator) -> MemoryEntry:
        return min(entries, key=lambda entry: len(entry.labels))
