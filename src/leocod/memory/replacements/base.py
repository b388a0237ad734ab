"""A replacement rule decides who stays when a shelf is full."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from leocod.find import Kind
from leocod.memory.shelf import MemoryEntry, Shelf


class MemoryReplacement(ABC):
    """Compares a newcomer with the entries of a full shelf. It keeps nothing itself: a checkpoint does not save it.

    Whatever it draws by chance, it draws from the generator that it is given: a resumed run draws the same.
    """

    @abstractmethod
    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        """The place on the full shelf that the newcomer takes. None: it is turned away.

        A shelf can be full with no entry: when it has no place at all, or when all of its frames are pinned.
        """

    def choose_leaving(self, entries: Sequence[MemoryEntry], random: np.random.Generator) -> MemoryEntry:
        """The entry that leaves when a budget in bytes needs room; by default any. `entries`: oldest first."""
        return entries[int(random.integers(len(entries)))]


REPLACEMENTS: Kind[MemoryReplacement] = Kind(
    "memory replacement", "leocod.memory.replacements", ("choose_place", "choose_leaving"), has_options=False
)
