"""The class-balanced store: a shelf for every class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leocod.memory.shelf import MemoryEntry, Shelf
from leocod.memory.stores.base import MemoryStore


class Balanced(MemoryStore):
    """A shelf for every class; its key is the number of the class. A frame without objects is not remembered."""

    def choose_shelves(self, newcomer: MemoryEntry) -> Sequence[int]:
        return newcomer.classes

    def count_places(self, shelf: int, *, per_class: int, classes: int) -> int:
        return per_class

    def limit_draw(self, per_class: int) -> int | None:
        return per_class

    def select_class(self, number: int, shelves: Mapping[int, Shelf]) -> Sequence[MemoryEntry]:
        return shelves[number].entries if number in shelves else ()
