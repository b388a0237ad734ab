"""Reservoir sampling: an even sample of everything that was offered."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.base import MemoryReplacement
from leocod.memory.shelf import MemoryEntry, Shelf


class Reservoir(MemoryReplacement):
    """Old and new frames are equally likely to be there: with n places, frame m enters with chance n / m.

    Vitter, Random Sampling with a Reservoir, ACM TOMS 1985.
    """

    def choose_place(self, shelf: Shelf, newcomer: MemoryEntry, random: np.random.Generator) -> int | None:
        place = int(random.integers(shelf.offered))
        return place if place < len(shelf.entries) else None
