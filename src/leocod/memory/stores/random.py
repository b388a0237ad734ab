"""The store without class balance: one shelf for all frames."""

from __future__ import annotations

from collections.abc import Sequence

from leocod.memory.shelf import MemoryEntry
from leocod.memory.stores.base import MemoryStore

ALL = -1
"""Key of the only shelf."""


class Random(MemoryStore):
    """One shelf for all frames, whatever they show, with as many places as a balanced store has in total."""

    def choose_shelves(self, newcomer: MemoryEntry) -> Sequence[int]:
        return (ALL,)

    def count_places(self, shelf: int, *, per_class: int, classes: int) -> int:
        # Every class that the detector knows counts, not those seen so far: a new class would bring places of its own.
        return per_class * classes
