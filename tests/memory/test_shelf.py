"""Entries, which stand on shelves."""

from __future__ import annotations

from leocod.memory.shelf import MemoryEntry, Shelf


def test_the_classes_of_an_entry_are_in_order_and_named_once(a_frame):
    entry = MemoryEntry(0, *a_frame(1, (2, 0, 2)))

    assert entry.classes == [0, 2]
    assert entry.pair == (entry.frame, entry.labels)


def test_entries_and_shelves_are_what_they_are_and_not_what_they_hold(a_frame):
    frame, labels = a_frame(1)

    assert MemoryEntry(0, frame, labels) != MemoryEntry(0, frame, labels)
    assert Shelf().entries is not Shelf().entries
