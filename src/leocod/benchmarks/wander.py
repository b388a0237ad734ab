"""The built-in benchmark: a wearer walks between rooms and streets. Nothing to download, exact boxes, any length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig
from leocod.settings import Settings
from leocod.types import Frame, LabelledFrame, Labels
from leocod.world.objects import CLASS_NAMES
from leocod.world.places import Item, Place, build, furnish, settle
from leocod.world.scene import Optics, Picture, render
from leocod.world.walk import aim_gaze, plan_itinerary

PLACES_KEPT = 14
"""Painted places held at a time. It bounds the memory of a walk of any length."""

TEST_FRAMES_KEPT = 1000
"""Test frames held at a time: those of a standard walk, which are used again and again."""

MOST_INSTANCES = 100
"""Things in a place, at most."""

EVERYDAY = ("mug", "chair", "book", "lamp", "car", "bench", "bottle", "plant")
"""The classes that the start knows, as a start from VOC knows the everyday things."""

Edition = Literal["first", "second"]

EDITIONS: Mapping[Edition, Mapping[str, Any]] = {
    "first": {
        "steps": 400,
        "residents": None,
        "frequent": (),
        "places": 10,
        "instances": 14,
        "renewal": 0.0,
        "stay": 4,
        "speed": 0.5,
    },
    "second": {},
}
"""What an edition sets, where nothing else is asked for. The newest one is the defaults of the options."""


class WanderOptions(Settings):
    """Options of the built-in world."""

    edition: Edition = "second"
    """The standard world, `second`, or the one before: `first` sets what its figures were made with. Options that are
    set themselves stay as they are set."""

    steps: int = Field(default=500, ge=1)
    """Length of the walk in steps."""

    frames_per_step: int = Field(default=16, ge=1)
    """Training frames of a step; one more is held out for testing."""

    width: int = Field(default=128, ge=32, le=2048)
    """Width of a frame, in pixels."""

    height: int = Field(default=96, ge=32, le=2048)
    """Height of a frame, in pixels."""

    seed: int | None = Field(default=None, ge=0)
    """Draws world, walk and test frames. Null: the experiment's seed, which then changes all that is random at once."""

    classes: int = Field(default=20, ge=2, le=len(CLASS_NAMES))
    """How many of the class list exist in the world, from the first on."""

    only: tuple[str, ...] | None = None
    """Names of the only classes shown and labelled; in place of the others stand things of no class."""

    residents: int | None = Field(default=4, ge=1)
    """Classes that are at home in a place, at most: with few, a class is away for long. Null: all that are usual there,
    7 or 8."""

    frequent: tuple[str, ...] = EVERYDAY
    """Names of classes that places have more of, like the everyday things that a start from VOC knows. Those that are
    not in the world are passed over."""

    places: int = Field(default=14, ge=1, le=200)
    """Rooms and streets of the world."""

    instances: int = Field(default=32, ge=1, le=MOST_INSTANCES)
    """Things with a class in each place."""

    renewal: float = Field(default=0.5, ge=0, le=1)
    """Share of the things in a place that have been replaced, by others of their class, at the next visit."""

    stay: float = Field(default=14, ge=1)
    """Mean number of steps before the wearer moves on to another place."""

    speed: float = Field(default=0.8, gt=0, le=10)
    """How far the camera moves from frame to frame: at 0.5 about as in 2 seconds, at 0.05 as in a film."""

    variation: float = Field(default=0.8, ge=0, le=1.5)
    """How much things of a class differ in shape, colour, texture and pose; at 0 all are the template."""

    clutter: float = Field(default=1.0, ge=0, le=3)
    """Things of no class standing around, hands and edges in the way: none at 0."""

    object_size: float = Field(default=0.75, ge=0.3, le=2)
    """Size of things relative to the view."""

    min_visible: float = Field(default=0.12, gt=0, le=1)
    """Visible share of a thing from which on it is labelled."""

    @model_validator(mode="before")
    @classmethod
    def _lay_over_edition(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        # Compared and not looked up: what is given may be a list.
        presets = (preset for name, preset in EDITIONS.items() if name == given.get("edition"))
        return {**next(presets, {}), **given}

    @model_validator(mode="after")
    def _check(self) -> WanderOptions:
        if not 0.5 <= self.width / self.height <= 2.5:
            raise ValueError(f"a frame of {self.width} x {self.height}: width must be 0.5 to 2.5 times the height.")
        known = CLASS_NAMES[: self.classes]
        if unknown := [name for name in self.frequent if name not in CLASS_NAMES]:
            raise ValueError(
                f"frequent: there is no class {unknown[0]!r}; it must name some of {', '.join(CLASS_NAMES)}."
            )
        if self.only is not None:
            strangers = [name for name in self.only if name not in known]
            if strangers or not self.only or len(set(self.only)) < len(self.only):
                raise ValueError(f"only={list(self.only)}: it must name some of {', '.join(known)}, each once.")
        return self


class HeldOut(Sequence[LabelledFrame]):
    """The test frames of a walk, drawn when they are used: memory does not grow with the length."""

    def __init__(self, walk: Wander) -> None:
        self.walk = walk

    def __len__(self) -> int:
        return self.walk.steps

    def __getitem__(self, position: Any) -> Any:
        steps = range(len(self))[position]
        return self.walk.held_out(steps) if isinstance(steps, int) else [self.walk.held_out(step) for step in steps]


drawn_ahead: dict[tuple[WanderOptions, int], Callable[[], Sequence[LabelledFrame]]] = {}
"""Options and seed of a world -> waits for its test frames, which another process draws. They are taken once."""


class Wander(Benchmark):
    """An egocentric walk through a world that is drawn from a seed.

    >>> walk = Wander(WanderOptions(steps=2, width=64, height=48), seed=1)
    >>> len(walk.frames_of(0)), len(walk.test), walk.classes[:3]
    (16, 2, ('mug', 'chair', 'bottle'))
    """

    Options = WanderOptions
    name = "wander"

    def __init__(self, options: WanderOptions, *, seed: int) -> None:
        if seed < 0:
            raise InvalidConfig(f"seed is {seed}: it must be 0 or more.")
        self.options = options
        self.seed = seed if options.seed is None else options.seed
        self.steps = options.steps
        self.classes = options.only or CLASS_NAMES[: options.classes]
        self._kinds = tuple(range(options.classes))
        self._class_of = {CLASS_NAMES.index(name): number for number, name in enumerate(self.classes)}
        self._optics = Optics(
            options.width,
            options.height,
            variation=options.variation,
            object_size=options.object_size,
            clutter=options.clutter,
            min_visible=options.min_visible,
        )
        frequent = {CLASS_NAMES.index(name) for name in options.frequent}
        self._settled = settle(self.seed, options.places, self._kinds, residents=options.residents, frequent=frequent)
        self._walk = plan_itinerary(self.seed, steps=options.steps, places=options.places, stay=options.stay)
        self._place = lru_cache(maxsize=PLACES_KEPT)(self._build_place)
        self._drawn: Sequence[LabelledFrame] = ()
        self._test_frame = lru_cache(maxsize=TEST_FRAMES_KEPT)(partial(self._frame, position=options.frames_per_step))
        self._items = lru_cache(maxsize=PLACES_KEPT)(self._furnish)
        # The step that was drawn last: who asks for its frames and then for its instances has it drawn once.
        self._picture = lru_cache(maxsize=options.frames_per_step)(self._draw)

    def __reduce__(self) -> tuple[Any, ...]:
        # Built again in another process: what was drawn so far is not sent.
        return partial(type(self), self.options, seed=self.seed), ()

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        return [self._frame(step, position) for position in range(self.options.frames_per_step)]

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return HeldOut(self)

    def held_out(self, step: int) -> LabelledFrame:
        """The test frame of a step."""
        self._check_step(step)
        # Asked for thousands of times in a run, and there is something to take once at most.
        if drawn_ahead and (wait := drawn_ahead.pop((self.options, self.seed), None)):
            self._drawn = wait()
        return self._drawn[step] if self._drawn else self._test_frame(step)

    def place_of(self, step: int) -> str:
        """The name of the place where the wearer is, such as "kitchen 3"."""
        self._check_step(step)
        number = int(self._walk.place[step])
        return f"{self._settled[number][0].name} {number}"

    def instances_of(self, step: int) -> Sequence[NDArray[np.int64]]:
        self._check_step(step)
        items = self._items(int(self._walk.place[step]), int(self._walk.visit[step]))
        pictures = [self._picture(step, position) for position in range(self.options.frames_per_step)]
        return [
            # The owner number of a thing is its place in the list, from 1 on.
            np.asarray([self._identify(items[number - 1]) for number in picture.numbers], np.int64)
            for picture in pictures
        ]

    def picture(self, step: int, position: int) -> Picture:
        """A frame with all that is known about it: the truth behind the labels."""
        self._check_step(step)
        return self._picture(step, position)

    def _draw(self, step: int, position: int) -> Picture:
        place, visit = int(self._walk.place[step]), int(self._walk.visit[step])
        time = int(self._walk.since[step]) * (self.options.frames_per_step + 1) + position
        look = aim_gaze(self.seed, visit, time, speed=self.options.speed)
        random = np.random.default_rng([self.seed, 9, step, position])
        return render(self._place(place), self._items(place, visit), look, self._optics, random)

    def _frame(self, step: int, position: int) -> LabelledFrame:
        picture = self.picture(step, position)
        index = step * (self.options.frames_per_step + 1) + position
        size = (self.options.height, self.options.width)
        classes = np.asarray([self._class_of[int(kind)] for kind in picture.kinds], np.int64)
        return Frame(index, self.name, index, size, picture.pixels), Labels(picture.boxes, classes)

    def _identify(self, item: Item) -> int:
        """The key of a thing as one number."""
        _, _, place, number, renewed = item.key
        return (place * MOST_INSTANCES + number) * (self.steps + 1) + renewed

    def _check_step(self, step: int) -> None:
        if not 0 <= step < self.steps:
            raise IndexError(f"Step {step} of a walk of {self.steps} steps.")

    def _build_place(self, number: int) -> Place:
        setting, residents = self._settled[number]
        place = build(
            self.seed,
            number,
            setting,
            residents,
            kinds=self._kinds,
            instances=self.options.instances,
            view_width=self._optics.view_width,
            pixels_per_unit=self._optics.pixels_per_unit,
        )
        return place.without(set(self._kinds) - set(self._class_of))

    def _furnish(self, number: int, visit: int) -> tuple[Item, ...]:
        return furnish(self._place(number), visit, renewal=self.options.renewal, clutter=self.options.clutter)
