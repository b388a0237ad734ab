"""The rule of the authors' released code: most newcomers enter, so soon only recent frames are left."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import MemoryEntry, Shelf


class Released(MemoryReplacement):
    """With n places, a newcomer enters with chance n / (n + 1), and overwrites any of the n.

    The chance is drawn for every object of the shelf's class, until the newcomer has entered: the authors go through
    the boxes of a frame, not through its classes.
    """

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        # A shelf for all classes has no class of its own: there, a frame has one chance.
        chances = max(1, int((newcomer.labels.classes == shelf.key).sum()))
        for place in random.integers(len(shelf.entries) + 1, size=chances):
            if place < len(shelf.entries):
                return int(place)
        return None
