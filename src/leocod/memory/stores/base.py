"""A store decides which shelves the memory has, and how many places each has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from leocod.find import Kind
from leocod.memory.shelf import MemoryEntry, Shelf


class MemoryStore(ABC):
    """Sorts labelled frames onto shelves. It keeps nothing itself: a checkpoint does not save it."""

    @abstractmethod
    def choose_shelves(self, newcomer: MemoryEntry) -> Sequence[int]:
        """Keys of the shelves that the newcomer is offered to, each once. Empty: the newcomer is not remembered."""

    @abstractmethod
    def count_places(self, shelf: int, *, per_class: int, classes: int) -> int:
        """Places on a shelf, where the option allows `per_class` frames for each of so many classes."""

    def limit_draw(self, per_class: int) -> int | None:
        """Entries that one shelf may give to a draw to which a class may give `per_class`. None: as many as it has."""
        return None

    def select_class(self, number: int, shelves: Mapping[int, Shelf]) -> Sequence[MemoryEntry]:
        """The entries kept for a class: all that show it, where shelves do not stand for classes."""
        entries = {entry.number: entry for shelf in shelves.values() for entry in shelf.entries}
        return [entry for entry in entries.values() if number in entry.classes]


STORES: Kind[MemoryStore] = Kind(
    "memory store",
    "leocod.memory.stores",
    ("choose_shelves", "count_places", "limit_draw", "select_class"),
    has_options=False,
)
