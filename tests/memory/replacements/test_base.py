"""What replacement rules share: names, and who leaves unless they say otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.errors import UnknownName
from leocod.memory.replacements.base import REPLACEMENTS
from leocod.memory.replacements.reservoir import Reservoir


def test_a_name_is_a_file_of_the_folder():
    assert REPLACEMENTS.names() == ["fifo", "first", "released", "reservoir"]
    assert REPLACEMENTS.find("reservoir") is Reservoir


def test_an_unknown_name_is_an_error_with_the_nearest():
    with pytest.raises(UnknownName, match="No memory replacement 'reservior'. Did you mean 'reservoir'"):
        REPLACEMENTS.find("reservior")


def test_when_bytes_are_needed_any_entry_may_leave(a_shelf):
    entries, random = a_shelf(1, 2, 3).entries, np.random.default_rng(0)

    leaving = {Reservoir().choose_leaving(entries, random).number for _ in range(50)}

    assert leaving == {1, 2, 3}
