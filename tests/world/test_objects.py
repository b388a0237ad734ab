from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from leocod.world.objects import CLASS_NAMES, HAND, KINDS, SPRITES_KEPT, STRANGER, draw_instance, measure_reach
from leocod.world.pen import Pen, Sprite, Traits


def a_sprite(kind: int, instance: int, *, view: int = 1, variation: float = 0.8, object_size: float = 1.0) -> Sprite:
    return draw_instance(
        kind, (1, instance), view=view, variation=variation, object_size=object_size, pixels_per_unit=1.5
    )


def test_there_are_twenty_classes_with_names_of_their_own() -> None:
    assert len(CLASS_NAMES) == len(set(CLASS_NAMES)) == len(KINDS) == 20


def test_an_instance_never_looks_like_its_siblings() -> None:
    for kind in range(len(KINDS)):
        pictures = {np.asarray(a_sprite(kind, instance).colour[0]).tobytes() for instance in range(6)}

        assert len(pictures) == 6, CLASS_NAMES[kind]


def test_an_instance_keeps_its_size_when_seen_again() -> None:
    one = a_sprite(3, 1)

    draw_instance.cache_clear()
    again = a_sprite(3, 1)

    assert one.size == again.size
    assert np.array_equal(np.asarray(one.colour[0]), np.asarray(again.colour[0]))


def test_object_size_scales_the_drawing() -> None:
    small, large = a_sprite(0, 1, object_size=0.5), a_sprite(0, 1, object_size=1.5)

    assert large.size[1] > 2 * small.size[1]


@pytest.mark.parametrize(("variation", "object_size"), [(0.0, 1.0), (0.8, 0.75), (1.5, 2.0)])
def test_no_drawing_reaches_farther_than_its_class_may(variation: float, object_size: float) -> None:
    """What is farther from the view than that is not drawn: a thing must not vanish by it."""
    for kind in (STRANGER, *range(len(KINDS))):
        reach = measure_reach(kind, variation=variation, object_size=object_size)
        sprites = [a_sprite(kind, number, variation=variation, object_size=object_size) for number in range(12)]

        farthest = max(hypot(sprite.size[0] / 2, sprite.foot[1] * sprite.size[1]) for sprite in sprites)

        assert 0.6 * reach < farthest <= reach


def test_what_has_no_class_can_be_drawn_too() -> None:
    assert np.asarray(a_sprite(STRANGER, 1).coverage[0]).max() == 255
    assert np.asarray(a_sprite(HAND, 1).coverage[0]).max() == 255


def test_sprites_are_kept_up_to_a_bound() -> None:
    assert draw_instance.cache_info().maxsize == SPRITES_KEPT


def drawn(name: str, instance: int, *, variation: float, turn: float = 0.3) -> np.ndarray:
    kind = KINDS[CLASS_NAMES.index(name)]
    pen = Pen(kind.width, kind.height, pixels_per_unit=1.5)
    kind.draw(pen, Traits(np.random.default_rng(instance), variation), turn)
    return np.dstack([np.asarray(pen.canvas), np.asarray(pen.mask)])


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_a_thing_has_several_parts_and_fills_its_box(name: str) -> None:
    picture = drawn(name, 1, variation=0.8)

    inside = picture[picture[:, :, 3] > 0]
    assert 0.08 < len(inside) / picture[:, :, 3].size < 0.95
    assert len(np.unique(inside[:, :3], axis=0)) >= 2


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_two_instances_differ_in_colour_and_in_outline(name: str) -> None:
    one, other = drawn(name, 1, variation=0.8), drawn(name, 2, variation=0.8)

    assert (one[:, :, 3] != other[:, :, 3]).any()
    assert (one[:, :, :3] != other[:, :, :3]).mean() > 0.05


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_the_side_it_is_seen_from_shows(name: str) -> None:
    assert (drawn(name, 1, variation=0.8, turn=-0.9) != drawn(name, 1, variation=0.8, turn=0.9)).any()


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_the_strongest_variation_still_draws(name: str) -> None:
    for instance in range(5):
        assert drawn(name, instance, variation=1.5)[:, :, 3].any()
