"""The class-balanced store."""

from __future__ import annotations

from leocod.memory.stores.balanced import Balanced


def test_each_class_has_a_shelf_of_its_own(a_memory, a_frame):
    memory = a_memory(per_class=2)

    memory.add([a_frame(number, (0,)) for number in range(10)])
    memory.add([a_frame(100, (1,))])

    assert memory.count(0) == 2
    assert memory.count(1) == 1
    assert dict(memory.seen) == {0: 10, 1: 1}


def test_a_frame_without_objects_takes_no_place(a_memory, a_frame):
    memory = a_memory()

    memory.add([a_frame(1, ())])

    assert len(memory) == 0


def test_a_draw_takes_at_most_two_of_each_class(a_memory, ids, a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (0,)) for number in range(5)] + [a_frame(10 + number, (1,)) for number in range(5)])

    drawn = ids(memory.sample(4, per_class=2))

    assert len(set(drawn)) == 4
    assert sum(number < 10 for number in drawn) == 2


def test_one_of_each_is_one_of_each(a_memory, a_frame):
    memory = a_memory()
    memory.add([a_frame(number, (number % 3,)) for number in range(30)])

    assert [int(labels.classes[0]) for _, labels in memory.one_of_each()] == [0, 1, 2]


def test_a_frame_is_offered_to_each_of_its_classes_once(a_newcomer):
    assert list(Balanced().choose_shelves(a_newcomer(classes=(2, 0, 2)))) == [0, 2]
    assert list(Balanced().choose_shelves(a_newcomer(classes=()))) == []


def test_every_shelf_has_the_places_of_a_class_and_gives_as_many_as_a_class_may():
    assert Balanced().count_places(7, per_class=5, classes=20) == 5
    assert Balanced().limit_draw(2) == 2


def test_of_a_class_those_count_that_stand_on_its_shelf(a_memory, a_frame):
    memory = a_memory(per_class=1, replacement="first")
    memory.add([a_frame(1, (0,)), a_frame(2, (0, 1))])

    assert [entry.number for entry in memory.store.select_class(0, memory.shelves)] == [0]
    assert [entry.number for entry in memory.store.select_class(1, memory.shelves)] == [1]
    assert list(memory.store.select_class(2, memory.shelves)) == []
