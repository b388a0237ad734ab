"""Places, such as rooms and streets: what each looks like, in which light, and which things are in it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leocod.world.objects import CLASS_NAMES, KINDS, STRANGER, Spot
from leocod.world.open_air import paint_park, paint_street
from leocod.world.panorama import FLOOR, GROUND_DEPTH, Backdrop
from leocod.world.rooms import paint_room

UNITS_PER_INSTANCE = 29.0
"""A place grows with its number of things, so that a view always shows about as many."""
STRAY_SHARE = 0.06
"""Share of the things in a place that are unusual there."""
PORTABLE_WIDTH = 45.0
"""Only smaller things are found in unusual places: a mug in the street, but no bus in the bedroom."""


@dataclass(frozen=True)
class Setting:
    """A kind of place and its usual things, the most frequent first."""

    name: str
    look: str
    residents: tuple[str, ...]


SETTINGS: tuple[Setting, ...] = (
    Setting("kitchen", "counter", ("mug", "bowl", "bottle", "chair", "stool", "clock", "plant")),
    Setting("street", "street", ("car", "van", "bicycle", "bus", "hydrant", "dog", "bench")),
    Setting("office", "table", ("laptop", "chair", "monitor", "mug", "book", "lamp", "backpack", "clock")),
    Setting("park", "park", ("bench", "dog", "bicycle", "plant", "backpack", "bottle", "hydrant")),
    Setting("living room", "mixed", ("lamp", "plant", "vase", "book", "chair", "clock", "bowl", "dog")),
    Setting("cafe", "table", ("mug", "chair", "bottle", "stool", "vase", "laptop", "bowl", "bench")),
    Setting("library", "table", ("book", "lamp", "chair", "laptop", "monitor", "backpack", "bench", "clock")),
    Setting("bus stop", "street", ("bus", "bench", "backpack", "car", "van", "bottle", "hydrant")),
    Setting("bedroom", "mixed", ("lamp", "book", "clock", "plant", "backpack", "mug", "stool", "vase")),
    Setting("garage", "counter", ("bicycle", "bottle", "stool", "car", "bowl", "lamp", "monitor", "van")),
    Setting("market", "street", ("vase", "bowl", "van", "plant", "stool", "dog", "bicycle")),
    Setting("hallway", "mixed", ("backpack", "plant", "bench", "clock", "vase", "bicycle", "lamp")),
)


@dataclass(frozen=True)
class Item:
    """One thing in a place, during one visit."""

    kind: int
    """Position in KINDS, or STRANGER."""
    key: tuple[int, ...]
    """Which instance it is; it determines the looks."""
    x: float
    y: float
    """Where it stands, in the panorama's units."""
    depth: float
    """Things further down in the picture are nearer, and hide those behind."""
    scale: float
    mirrored: bool


@dataclass(frozen=True)
class Place:
    """One place of one world. At each visit it looks the same, except for things that were moved or replaced."""

    number: int
    setting: Setting
    backdrop: Backdrop
    light: NDArray[np.float32]
    """Brightness of red, green and blue."""
    inventory: tuple[int, ...]
    """The class of each of its things."""
    seed: int

    def without(self, hidden: Set[int]) -> Place:
        """The same place with things of no class where things of the hidden classes would be."""
        return replace(self, inventory=tuple(STRANGER if kind in hidden else kind for kind in self.inventory))


def settle(
    seed: int, places: int, kinds: Sequence[int], *, residents: int | None = None, frequent: Set[int] = frozenset()
) -> tuple[tuple[Setting, tuple[int, ...]], ...]:
    """Choose the settings of a world, and which of `kinds` are in which place; every kind is in some place.

    `residents`: kinds that are at home in a place, at most; None: all that are usual there. Places have more of the
    kinds that are `frequent`.
    """
    random = np.random.default_rng([seed, 1])
    order = [int(number) for _ in range(places // len(SETTINGS) + 1) for number in random.permutation(len(SETTINGS))]
    settings = [SETTINGS[number] for number in order[:places]]
    homes = [[CLASS_NAMES.index(name) for name in setting.residents] for setting in settings]
    homes = [[kind for kind in home if kind in kinds] for home in homes]
    if residents is not None:
        homes = [[home[place] for place in sorted(random.permutation(len(home))[:residents])] for home in homes]
    homes = [sorted(home, key=lambda kind: kind not in frequent) for home in homes]
    homeless = [kind for kind in kinds if not any(kind in home for home in homes)]
    for kind in homeless:
        homes[int(random.integers(places))].append(kind)
    for home in homes:
        if not home:
            home.append(int(random.choice(list(kinds))))
    return tuple((setting, tuple(home)) for setting, home in zip(settings, homes, strict=True))


def build(
    seed: int,
    number: int,
    setting: Setting,
    residents: Sequence[int],
    *,
    kinds: Sequence[int],
    instances: int,
    view_width: float,
    pixels_per_unit: float,
) -> Place:
    """Paint a place, and decide what is in it."""
    random = np.random.default_rng([seed, 2, number])
    width = max(UNITS_PER_INSTANCE * instances, 1.9 * view_width) + 70
    if setting.look == "street":
        backdrop = paint_street(width, pixels_per_unit, random)
    elif setting.look == "park":
        backdrop = paint_park(width, pixels_per_unit, random)
    else:
        backdrop = paint_room(width, pixels_per_unit, random, setting.look)
    warmth, brightness = random.normal(0, 0.07), random.uniform(0.72, 1.08)
    light = np.asarray([1 + warmth, 1 + random.normal(0, 0.02), 1 - warmth], np.float32) * np.float32(brightness)
    return Place(number, setting, backdrop, light, _choose_inventory(random, residents, kinds, instances), seed)


def _choose_inventory(
    random: np.random.Generator, residents: Sequence[int], kinds: Sequence[int], instances: int
) -> tuple[int, ...]:
    """Choose every resident once while there is room, then the usual ones more often, and a few unusual ones."""
    chosen = list(residents[:instances])
    odds = 1.0 / (np.arange(len(residents)) + 1.5)
    more = random.choice(len(residents), max(0, instances - len(chosen)), p=odds / odds.sum())
    chosen += [residents[int(which)] for which in more]
    first = min(len(residents), instances)
    portable = [kind for kind in kinds if KINDS[kind].width < PORTABLE_WIDTH]
    for number in range(first, instances):
        if portable and random.random() < STRAY_SHARE * instances / (instances - first):
            chosen[number] = int(random.choice(portable))
    return tuple(chosen)


def furnish(place: Place, visit: int, *, renewal: float, clutter: float) -> tuple[Item, ...]:
    """Decide what stands where during one visit: some things were replaced since the last visit, most were moved."""
    random = np.random.default_rng([place.seed, 3, place.number, visit])
    slots = random.permutation(len(place.inventory))
    items = []
    for number, kind in enumerate(place.inventory):
        renewed = random.random() < renewal
        key = (place.seed, 4, place.number, number, visit + 1 if renewed else 0)
        items.append(_place_item(place, random, kind, key, (slots[number] + random.random()) / len(slots)))
    count = round(0.5 * clutter * len(items))
    for number in range(count):
        key = (place.seed, 5, place.number, number, visit + 1 if number % 2 else 0)
        items.append(_place_item(place, random, STRANGER, key, (number + float(random.random())) / count))
    return tuple(sorted(items, key=lambda item: item.depth))


def _place_item(place: Place, random: np.random.Generator, kind: int, key: tuple[int, ...], along: float) -> Item:
    x = 40 + float(along) * (place.backdrop.width - 80)
    spot: Spot = KINDS[kind].spot if kind != STRANGER else ("floor" if random.random() < 0.6 else "top")
    near = float(random.uniform(0.15, 1.0))
    back = float(random.random())
    mirrored = bool(random.random() < 0.5)
    if spot == "wall" and place.setting.look != "park":
        return Item(kind, key, x, 50 + 34 * near, FLOOR - 2, 1.0, mirrored)
    if spot != "floor" and place.backdrop.tops:
        top = min(place.backdrop.tops, key=lambda top: max(top.left - x, x - top.right, 0.0))
        x = top.left + (top.right - top.left) * float(random.random())
        return Item(kind, key, x, top.y - 3.5 * back, FLOOR + 6 - 3.5 * back, 0.95 + 0.1 * back, mirrored)
    return Item(
        kind, key, x, FLOOR + 5 + GROUND_DEPTH * near, FLOOR + 5 + GROUND_DEPTH * near, 0.72 + 0.5 * near, mirrored
    )
