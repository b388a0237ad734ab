"""First in, first out."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.fifo import FIFO


def test_it_keeps_the_newest(a_memory, ids, a_frame):
    memory = a_memory(per_class=3, replacement="fifo")

    memory.add([a_frame(number, (0,)) for number in range(20)])

    assert ids(memory.frames) == [17, 18, 19]


def test_a_newcomer_takes_the_place_of_the_oldest_wherever_that_stands(a_shelf, a_newcomer):
    assert FIFO().choose_place(a_shelf(7, 3, 5), a_newcomer(), np.random.default_rng(0)) == 1
    assert FIFO().choose_place(a_shelf(), a_newcomer(), np.random.default_rng(0)) is None


def test_when_bytes_are_needed_the_oldest_leaves(a_shelf):
    assert FIFO().choose_leaving(a_shelf(3, 5, 9).entries, np.random.default_rng(0)).number == 3


def test_it_draws_nothing_by_chance(a_memory, a_frame):
    memory = a_memory(per_class=1, replacement="fifo")
    before = memory.random.bit_generator.state

    memory.add([a_frame(number, (0,)) for number in range(5)])

    assert memory.random.bit_generator.state == before
