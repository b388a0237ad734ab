"""How a memory with a budget in bytes makes room."""

from __future__ import annotations

import pytest

from leocod.memory.budget import may_grow, select_expendable
from leocod.memory.shelf import MemoryEntry, Shelf


@pytest.fixture
def shelves(a_frame):
    """Shelves by the numbers of the entries on them. An entry may stand on several."""

    def make(**numbers):
        entries = {number: MemoryEntry(number, *a_frame(number)) for shelf in numbers.values() for number in shelf}
        made = {key: Shelf([entries[number] for number in shelf]) for key, shelf in enumerate(numbers.values())}
        for key, shelf in made.items():
            for entry in shelf.entries:
                entry.shelves.append(key)
        return made

    return make


def expendable(shelves, newcomer):
    return [entry.number for entry in select_expendable(shelves, newcomer)]


def test_a_shelf_may_grow_only_while_the_largest_stays_as_large_as_it(shelves):
    made = shelves(mug=[1, 2, 3, 4], book=[5, 6, 7], car=[8, 9], lamp=[])

    assert [may_grow(shelf, made) for shelf in made.values()] == [False, False, True, True]


def test_a_shelf_without_an_entry_may_have_one_even_if_no_other_has_two(shelves):
    made = shelves(mug=[1], book=[])

    assert [may_grow(shelf, made) for shelf in made.values()] == [False, True]


def test_the_largest_shelf_gives_up_an_entry_and_of_two_the_older_shelf(shelves, a_newcomer):
    assert expendable(shelves(mug=[1, 2], book=[5, 4, 3]), a_newcomer()) == [3, 4, 5]
    assert expendable(shelves(mug=[1, 2], book=[3, 4]), a_newcomer()) == [1, 2]


def test_an_entry_that_a_small_shelf_needs_stays(shelves, a_newcomer):
    made = shelves(mug=[1, 2, 3, 4], book=[1, 5], car=[2])

    assert expendable(made, a_newcomer()) == [3, 4]


def test_where_all_are_needed_the_one_leaves_whose_smallest_shelf_is_largest(shelves, a_newcomer):
    made = shelves(mug=[1, 2, 3], book=[1, 2], car=[3])

    assert expendable(made, a_newcomer()) == [1, 2]


def test_the_newcomer_stays_and_does_not_count(shelves):
    made = shelves(mug=[9, 1], book=[2, 3], car=[9])

    assert expendable(made, newcomer=made[2].entries[0]) == [2, 3]


def test_an_only_entry_leaves_for_a_newcomer_of_another_class(shelves):
    made = shelves(mug=[9], book=[1])

    assert expendable(made, newcomer=made[0].entries[0]) == [1]
