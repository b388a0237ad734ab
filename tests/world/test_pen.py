from __future__ import annotations

import numpy as np

from leocod.world.pen import SHADOW_ALPHA, Paint, Pen, Sprite, Traits, mix, shade


def a_sprite(*, shadow: bool) -> Sprite:
    pen = Pen(20, 20, pixels_per_unit=2)
    pen.box(0, 0, 1, 1, (200, 40, 40))
    return pen.sprite(light=0.0, grain=0.0, random=np.random.default_rng(0), shadow=shadow)


def test_without_variation_every_instance_is_the_template() -> None:
    one, other = Traits(np.random.default_rng(1), 0.0), Traits(np.random.default_rng(2), 0.0)

    assert one.number(3.0, 1.0, 5.0) == other.number(3.0, 1.0, 5.0) == 3.0
    assert one.choose("a", "b") == other.choose("a", "b") == "a"
    assert one.colour((10, 20, 30), (200, 0, 0)) == other.colour((10, 20, 30), (200, 0, 0)) == (10, 20, 30)
    assert not one.chance(1.0)


def test_with_full_variation_a_measure_lies_between_its_bounds() -> None:
    traits = Traits(np.random.default_rng(1), 1.0)

    drawn = [traits.number(3.0, 1.0, 5.0) for _ in range(200)]

    assert 1.0 <= min(drawn) < 1.5
    assert 4.5 < max(drawn) <= 5.0


def test_colours_mix_and_darken_within_bytes() -> None:
    assert mix((0, 0, 0), (200, 100, 50), 0.5) == (100, 50, 25)
    assert shade((200, 100, 50), 2.0) == (255, 200, 100)


def test_a_pattern_is_printed_inside_its_part_only() -> None:
    pen = Pen(20, 20, pixels_per_unit=2)

    pen.box(0, 0, 0.5, 1, Paint((255, 0, 0), (0, 0, 255), "checks"))

    colours = {tuple(colour) for colour in np.asarray(pen.canvas)[np.asarray(pen.mask) > 0]}
    assert colours == {(255, 0, 0), (0, 0, 255)}


def test_a_shadow_never_counts_as_the_thing() -> None:
    bare, shaded = a_sprite(shadow=False), a_sprite(shadow=True)

    added = np.asarray(shaded.coverage[0])[np.asarray(bare.coverage[0]) == 0]
    assert 0 < added.max() <= SHADOW_ALPHA < 128


def test_a_sprite_comes_in_falling_resolutions() -> None:
    sizes = [level.width for level in a_sprite(shadow=True).coverage]

    assert len(sizes) > 1
    assert sizes == sorted(sizes, reverse=True)
