"""How a memory with a budget in bytes makes room: classes with many frames give way to classes with few."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from leocod.memory.shelf import MemoryEntry, Shelf


def may_grow(shelf: Shelf, shelves: Mapping[int, Shelf]) -> bool:
    """Whether a shelf may get one more entry where the largest shelf gives one up for it.

    That must not leave the largest shelf smaller than this one. A shelf without an entry may always have one.
    """
    return not shelf.entries or len(shelf.entries) + 1 < max(len(other.entries) for other in shelves.values())


def select_expendable(
    shelves: Mapping[int, Shelf], newcomer: MemoryEntry, pinned: Collection[int] = ()
) -> list[MemoryEntry]:
    """The entries of which one leaves for a newcomer that has been let in, oldest first.

    They stand on the largest shelf; of several, on the one that was opened first. An entry may stand on other shelves
    too and leaves all of them, so only those count whose smallest shelf is as large as possible. Sizes are without the
    newcomer. Frames that are pinned stay: where there are no others, the newcomer leaves.
    """

    def is_loose(entry: MemoryEntry) -> bool:
        return entry is not newcomer and entry.frame.id not in pinned

    loose = {key: [entry for entry in shelf.entries if is_loose(entry)] for key, shelf in shelves.items()}
    if not any(loose.values()):
        return [newcomer]
    sizes = {key: len(shelf.entries) - (key in newcomer.shelves) for key, shelf in shelves.items()}
    largest = max((key for key in shelves if loose[key]), key=sizes.__getitem__)
    smallest = {entry: min(sizes[key] for key in entry.shelves) for entry in loose[largest]}
    best = max(smallest.values())
    return sorted((entry for entry, size in smallest.items() if size == best), key=lambda entry: entry.number)
