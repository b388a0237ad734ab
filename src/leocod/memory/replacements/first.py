"""First come, first kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import MemoryEntry, Shelf


class First(MemoryReplacement):
    """Keeps the frames that came first, and turns every newcomer away."""

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        return None

    def choose_leaving(self, entries: Sequence[MemoryEntry], random: np.random.Generator) -> MemoryEntry:
        return entries[-1]
