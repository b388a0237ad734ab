"""Which classes `tableware` draws; how they look is tested for all of them together, in test_objects."""

from __future__ import annotations

import pytest

from leocod.world import tableware
from leocod.world.objects import CLASS_NAMES, KINDS


@pytest.mark.parametrize("name", ["mug", "bowl", "bottle", "vase"])
def test_a_class_is_drawn_by_the_function_of_its_name(name: str) -> None:
    assert KINDS[CLASS_NAMES.index(name)].draw is getattr(tableware, f"draw_{name}")
