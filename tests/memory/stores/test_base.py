"""What stores share: names, and what holds unless they say otherwise."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig, UnknownName
from leocod.memory.shelf import Shelf
from leocod.memory.stores.balanced import Balanced
from leocod.memory.stores.base import STORES, MemoryStore
from leocod.memory.stores.random import Random


def test_a_name_is_a_file_of_the_folder():
    assert STORES.names() == ["balanced", "random"]
    assert STORES.find("balanced") is Balanced
    assert STORES.find("leocod.memory.stores.random:Random") is Random


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("balancd", "No memory store 'balancd'. Did you mean 'balanced'? Known: balanced, random."),
        ("leocod.memory.stores.base:Shelf", "'leocod.memory.stores.base:Shelf' is not a memory store"),
        ("mine:", "'mine:' is not module:Class, such as my_module:MyMemoryStore."),
    ],
)
def test_a_wrong_name_is_an_error_that_helps(name, message):
    with pytest.raises(InvalidConfig) as error:
        STORES.find(name)

    assert message in str(error.value)
    assert isinstance(error.value, UnknownName) == (name == "balancd")


def test_without_a_shelf_for_each_class_all_entries_count_that_show_the_class_each_once(a_newcomer):
    class Twice(MemoryStore):
        def choose_shelves(self, newcomer):
            return [5, 6]

        def count_places(self, shelf, *, per_class, classes):
            return per_class

    first, second = a_newcomer(1, (0, 1)), a_newcomer(2, (1,))
    shelves = {5: Shelf([first, second]), 6: Shelf([first])}

    assert Twice().select_class(0, shelves) == [first]
    assert Twice().select_class(1, shelves) == [first, second]
    assert Twice().limit_draw(3) is None
