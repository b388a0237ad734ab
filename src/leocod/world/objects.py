"""The class list: what each class is called, how large it is, where it stands, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from math import hypot
from typing import Literal

import numpy as np

from leocod.world import furniture, household, outdoors, strangers, tableware
from leocod.world.pen import Pen, Sprite, Traits, measure_margin

Spot = Literal["top", "floor", "wall"]
VIEWS = 3
"""Sides from which an instance is drawn in advance; a frame picks one of them."""


@dataclass(frozen=True)
class Kind:
    """One class of things."""

    name: str
    width: float
    height: float
    """Usual size in world units: a view at zoom 1 is 96 units high."""
    spot: Spot
    draw: Callable[[Pen, Traits, float], None]


KINDS: tuple[Kind, ...] = (
    Kind("mug", 19, 17, "top", tableware.draw_mug),
    Kind("chair", 30, 42, "floor", furniture.draw_chair),
    Kind("bottle", 12, 29, "top", tableware.draw_bottle),
    Kind("car", 58, 25, "floor", outdoors.draw_car),
    Kind("plant", 27, 35, "floor", household.draw_plant),
    Kind("book", 20, 20, "top", household.draw_book),
    Kind("lamp", 24, 36, "top", household.draw_lamp),
    Kind("bench", 54, 29, "floor", furniture.draw_bench),
    Kind("bowl", 27, 14, "top", tableware.draw_bowl),
    Kind("laptop", 30, 23, "top", household.draw_laptop),
    Kind("van", 60, 34, "floor", outdoors.draw_van),
    Kind("vase", 17, 30, "top", tableware.draw_vase),
    Kind("clock", 20, 20, "wall", household.draw_clock),
    Kind("bicycle", 52, 33, "floor", outdoors.draw_bicycle),
    Kind("stool", 23, 30, "floor", furniture.draw_stool),
    Kind("monitor", 33, 27, "top", household.draw_monitor),
    Kind("backpack", 25, 31, "floor", household.draw_backpack),
    Kind("bus", 78, 38, "floor", outdoors.draw_bus),
    Kind("hydrant", 19, 30, "floor", outdoors.draw_hydrant),
    Kind("dog", 40, 32, "floor", outdoors.draw_dog),
)
CLASS_NAMES: tuple[str, ...] = tuple(kind.name for kind in KINDS)
STRANGER, HAND, EDGE = -1, -2, -3
"""Things of no class: clutter, the wearer's hand, something close to the camera."""


LARGEST, WIDEST, HIGHEST = 1.25, 1.2, 1.16
"""An instance by its class' measures, at most, with variation 1: its size, and besides its width and its height."""

SPRITES_KEPT = 256
"""Several times what one visit needs. It bounds the memory of a walk of any length."""


@lru_cache(maxsize=SPRITES_KEPT)
def draw_instance(
    kind: int, key: tuple[int, ...], *, view: int, variation: float, object_size: float, pixels_per_unit: float
) -> Sprite:
    """Draw one instance from one side. Equal keys are the same instance, whatever the view."""
    random = np.random.default_rng(key)
    traits = Traits(random, variation)
    width, height, draw = get_measures(kind)
    size = object_size * traits.number(1.0, 0.8, LARGEST)
    width *= size * traits.number(1.0, 0.82, WIDEST)
    height *= size * traits.number(1.0, 0.86, HIGHEST)
    turn = view - (VIEWS - 1) / 2 + traits.number(0.2, -0.45, 0.45)
    light = float(random.uniform(-1, 1))
    pen = Pen(width * (1 - 0.12 * abs(turn)), height, pixels_per_unit=pixels_per_unit)
    draw(pen, traits, max(-1.0, min(1.0, turn)))
    return pen.sprite(
        light=light,
        grain=0.02 + 0.05 * min(1.0, variation) * float(random.random()),
        random=random,
        shadow=kind >= STRANGER,
    )


@cache
def measure_reach(kind: int, *, variation: float, object_size: float) -> float:
    """World units from the foot of an instance to the farthest corner of its drawing, at most."""
    width, height, _ = get_measures(kind)
    size = object_size * (1 + variation * (LARGEST - 1))
    width *= size * (1 + variation * (WIDEST - 1))
    height *= size * (1 + variation * (HIGHEST - 1))
    margin = measure_margin(width, height)
    return hypot(width / 2 + margin, height + margin)


def get_measures(kind: int) -> tuple[float, float, Callable[[Pen, Traits, float], None]]:
    """Usual width and height, and how it is drawn; also of what belongs to no class."""
    if kind == STRANGER:
        return 26.0, 26.0, strangers.draw_stranger
    if kind == HAND:
        return 36.0, 62.0, strangers.draw_hand
    if kind == EDGE:
        return 15.0, 190.0, strangers.draw_edge
    return KINDS[kind].width, KINDS[kind].height, KINDS[kind].draw
