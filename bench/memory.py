"""What the replay memory costs a step, against how much it holds: more classes, and more frames of each.

    .venv/bin/python bench/memory.py

A step offers 4 frames and draws 16, as in the standard runs; the copies of the frames that are kept are part of it.
Every side is full, so that a frame that comes in drives another out. In a run a step is learnt between two calls, and
the processor's caches are full of other things: here, a pass over as many numbers. Over and over, a small memory stays
in the caches and a large one does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count, islice

import numpy as np
from harness import Spread, arguments, record, table

from leocod.memory.replay import ReplayMemory, Store
from leocod.types import Frame, LabelledFrame, Labels

SIZE = (96, 128)
CLASSES, PER_CLASS = 10, 5
OFFERED, DRAWN, PER_CLASS_DRAWN = 4, 16, 2
WARM_UP = 3
STEPS = 50
"""In a round: one is over in a fraction of a millisecond."""
LEARNT = 64_000_000
"""Bytes that are gone through between two steps: twice the largest cache of most processors."""


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


class Side:
    """A full memory, and steps to come."""

    def __init__(self, store: Store, classes: int, per_class: int) -> None:
        self.new = frames(classes)
        self.memory = full(store, classes, per_class, self.new)

    def seconds(self, between: Callable[[], object]) -> float:
        """Of a step, over some of them; what comes between two steps does not count, nor does making the frames."""
        offers = [list(islice(self.new, OFFERED)) for _ in range(STEPS)]
        total = 0.0
        for pairs in offers:
            between()
            began = time.perf_counter()
            self.memory.add(pairs)
            self.memory.sample(DRAWN, per_class=PER_CLASS_DRAWN)
            total += time.perf_counter() - began
        return total / STEPS


def main() -> None:
    """Each store at three sizes."""
    options = arguments(__doc__, rounds=20, times=100)
    more = options.times
    sizes = {
        "small": (CLASSES, PER_CLASS),
        f"{more} x the classes": (more * CLASSES, PER_CLASS),
        f"{more} x the frames of each": (CLASSES, more * PER_CLASS),
    }
    learnt = np.ones(LEARNT // 8)
    betweens: dict[str, Callable[[], object]] = {"in a run": learnt.sum, "over and over": lambda: None}
    rows, content, worst = [], {}, dict.fromkeys(betweens, 0.0)
    stores: tuple[Store, ...] = ("balanced", "random")
    for store in stores:
        sides = {name: Side(store, *size) for name, size in sizes.items()}
        taken: dict[tuple[str, str], list[float]] = {(name, how): [] for name in sides for how in betweens}
        for _ in range(WARM_UP + options.rounds):
            for (name, how), values in taken.items():
                values.append(sides[name].seconds(betweens[how]))
        seconds = {key: Spread(tuple(values[WARM_UP:])) for key, values in taken.items()}
        for name, (classes, per_class) in sizes.items():
            told: list[str] = []
            for how in betweens:
                spread = seconds[name, how]
                ratio = spread.over(seconds["small", how])
                worst[how] = max(worst[how], ratio.median)
                told += [spread.told(1e-6, 0), ratio.told()]
                content[f"{store}, {name}, {how}"] = {
                    "classes": classes,
                    "per_class": per_class,
                    "seconds a step": spread.kept(),
                    "ratio": ratio.kept(),
                }
            rows.append([store, classes, per_class, *told])
    heads = [part for how in betweens for part in (f"{how}, µs", "of the small one")]
    print(table(["store", "classes", "frames of each", *heads], rows))
    print("\nlarge / small, at worst: " + ", ".join(f"{value:.2f} {how}" for how, value in worst.items()))
    record(options, {"rounds": options.rounds, "steps in a round": STEPS, **content})


if __name__ == "__main__":
    main()
