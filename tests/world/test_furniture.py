"""Which classes `furniture` draws; how they look is tested for all of them together, in test_objects."""

from __future__ import annotations

import pytest

from leocod.world import furniture
from leocod.world.objects import CLASS_NAMES, KINDS


@pytest.mark.parametrize("name", ["chair", "stool", "bench"])
def test_a_class_is_drawn_by_the_function_of_its_name(name: str) -> None:
    assert KINDS[CLASS_NAMES.index(name)].draw is getattr(furniture, f"draw_{name}")
