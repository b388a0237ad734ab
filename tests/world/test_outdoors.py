"""Every drawing of `outdoors` is a thing of its own: several parts, no two instances alike."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.world import outdoors
from leocod.world.objects import CLASS_NAMES, KINDS
from leocod.world.pen import Pen, Traits

NAMES = ("car", "van", "bus", "bicycle", "hydrant", "dog")


def drawn(name: str, instance: int, *, variation: float, turn: float = 0.3) -> np.ndarray:
    kind = KINDS[CLASS_NAMES.index(name)]
    pen = Pen(kind.width, kind.height, pixels_per_unit=1.5)
    kind.draw(pen, Traits(np.random.default_rng(instance), variation), turn)
    return np.dstack([np.asarray(pen.canvas), np.asarray(pen.mask)])


@pytest.mark.parametrize("name", NAMES)
def test_a_thing_has_several_parts_and_fills_its_box(name: str) -> None:
    assert KINDS[CLASS_NAMES.index(name)].draw is getattr(outdoors, name)

    picture = drawn(name, 1, variation=0.8)

    inside = picture[picture[:, :, 3] > 0]
    assert 0.08 < len(inside) / picture[:, :, 3].size < 0.95
    assert len(np.unique(inside[:, :3], axis=0)) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_two_instances_differ_in_colour_and_in_outline(name: str) -> None:
    one, other = drawn(name, 1, variation=0.8), drawn(name, 2, variation=0.8)

    assert (one[:, :, 3] != other[:, :, 3]).any()
    assert (one[:, :, :3] != other[:, :, :3]).mean() > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_the_side_it_is_seen_from_shows(name: str) -> None:
    assert (drawn(name, 1, variation=0.8, turn=-0.9) != drawn(name, 1, variation=0.8, turn=0.9)).any()


@pytest.mark.parametrize("name", NAMES)
def test_the_strongest_variation_still_draws(name: str) -> None:
    for instance in range(5):
        assert drawn(name, instance, variation=1.5)[:, :, 3].any()
