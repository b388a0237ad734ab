"""What the replay memory costs a step, against how much it holds: more classes, and more frames of each.

    .venv/bin/python bench/memory.py

A step offers 4 frames and draws 16, as in the standard runs; the copies of the frames that are kept are part of it.
Every side is full, so that a frame that comes in drives another out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice

import numpy as np
from harness import Spread, arguments, in_turn, record, table

from leocod.memory import ReplayMemory, Store
from leocod.types import Frame, LabelledFrame, Labels

SIZE = (96, 128)
CLASSES, PER_CLASS = 10, 5
OFFERED, DRAWN, PER_CLASS_DRAWN = 4, 16, 2
WARM_UP = 3
STEPS = 50
"""In a round: one is over in a fraction of a millisecond."""


def frames(classes: int) -> Iterator[LabelledFrame]:
    """New frames without an end, with two things in each."""
    random = np.random.default_rng(1)
    pixels = random.integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    boxes = np.array([[10, 10, 40, 40], [50, 20, 90, 60]], np.float32)
    for number in count():
        yield Frame(number, "bench", number, SIZE, pixels), Labels(boxes, random.integers(0, classes, 2))


def full(store: Store, classes: int, per_class: int, new: Iterator[LabelledFrame]) -> ReplayMemory:
    """A memory of that size, in which every place is taken."""
    # The released code's replacement: a newcomer has a chance however old the memory is.
    total = classes * per_class
    memory = ReplayMemory(per_class=per_class, store=store, replacement="released", total=total, seed=0)
    while sum(map(len, memory.shelves.values())) < total:
        memory.add(list(islice(new, classes)))
    return memory


def some_steps(store: Store, classes: int, per_class: int, rounds: int) -> Callable[[], None]:
    """A call for some steps with a full memory."""
    new = frames(classes)
    memory = full(store, classes, per_class, new)
    # Made before, for all rounds: what making a frame costs is not the memory's.
    offers = iter([[list(islice(new, OFFERED)) for _ in range(STEPS)] for _ in range(rounds)])

    def work() -> None:
        for pairs in next(offers):
            memory.add(pairs)
            memory.sample(DRAWN, per_class=PER_CLASS_DRAWN)

    return work


def copies(places: int, rounds: int) -> Callable[[], None]:
    """A call for the copies that as many steps make, into as many places: no memory of that size can do with less.

    Into few places they stay in the processor's cache, into many they do not.
    """
    random = np.random.default_rng(2)
    pixels = random.integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    held = [pixels.copy() for _ in range(places)]
    chosen = iter([random.integers(0, places, STEPS * OFFERED).tolist() for _ in range(rounds)])

    def work() -> None:
        for place in next(chosen):
            held[place] = pixels.copy()

    return work


def main() -> None:
    """Each store at three sizes."""
    options = arguments(__doc__, rounds=40, times=100)
    more, rounds = options.times, options.rounds + WARM_UP
    sizes = {
        "small": (CLASSES, PER_CLASS),
        f"{more} x the classes": (more * CLASSES, PER_CLASS),
        f"{more} x the frames of each": (CLASSES, more * PER_CLASS),
    }
    rows, content, ratios = [], {}, {}
    stores: tuple[Store, ...] = ("balanced", "random")
    for store in stores:
        works = {name: some_steps(store, *size, rounds) for name, size in sizes.items()}
        bare = {f"copies, {name}": copies(classes * each, rounds) for name, (classes, each) in sizes.items()}
        taken = in_turn(works | bare, rounds=options.rounds, warm_up=WARM_UP)
        seconds = {name: Spread(tuple(value / STEPS for value in spread.values)) for name, spread in taken.items()}
        own = {
            name: Spread(
                tuple(
                    whole - copied
                    for whole, copied in zip(seconds[name].values, seconds[f"copies, {name}"].values, strict=True)
                )
            )
            for name in sizes
        }
        for name, (classes, per_class) in sizes.items():
            whole, rest = seconds[name].over(seconds["small"]), own[name].over(own["small"])
            ratios[store, name] = (whole.median, rest.median)
            told = [seconds[name].told(1e-6, 0), whole.told(), own[name].told(1e-6, 0), rest.told()]
            rows.append([store, classes, per_class, *told])
            content[f"{store}, {name}"] = {
                "classes": classes,
                "per_class": per_class,
                "seconds a step": seconds[name].kept(),
                "ratio": whole.kept(),
                "seconds a step without the copies": own[name].kept(),
                "ratio without the copies": rest.kept(),
            }
    heads = [
        "store",
        "classes",
        "frames of each",
        "step, µs",
        "of the small one",
        "without copies, µs",
        "of the small one",
    ]
    print(table(heads, rows))
    worst_whole, worst_rest = (max(values) for values in zip(*ratios.values(), strict=True))
    print(f"\nlarge / small, at worst: {worst_whole:.2f} in all, {worst_rest:.2f} without the copies of the pixels")
    record(options, {"rounds": options.rounds, "steps in a round": STEPS, **content})


if __name__ == "__main__":
    main()
