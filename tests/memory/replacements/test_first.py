"""First come, first kept."""

from __future__ import annotations

import numpy as np

from leocod.memory.replacements.first import First


def test_first_keeps_those_that_came_first(a_memory, ids, a_frame):
    memory = a_memory(per_class=3, replacement="first")

    memory.add([a_frame(number, (0,)) for number in range(20)])

    assert ids(memory.frames) == [0, 1, 2]


def test_when_bytes_are_needed_the_newest_leaves(a_shelf):
    assert First().choose_leaving(a_shelf(3, 5, 9).entries, np.random.default_rng(0)).number == 9
