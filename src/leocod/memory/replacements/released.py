"""The rule of the authors' released code: most newcomers enter, so soon only recent frames are left."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import MemoryEntry, Shelf


class Released(MemoryReplacement):
    """With n places, a newcomer enters with chance n / (n + 1), and overwrites any of the n."""

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        place = int(random.integers(len(shelf.entries) + 1))
        return place if place < len(shelf.entries) else None
