"""What the replay memory costs a step, against how much it holds, and what a frame costs in each encoding.

    .venv/bin/python bench/memory.py

A step offers 4 frames and draws 16, as in the standard runs; the copies of the frames that are kept are part of it.
Every memory is full, so that a frame that comes in drives another out. In a run a step is learnt between two calls, and
the processor's caches are full of other things: here, a pass over as many numbers. Over and over, a small memory stays
in the caches and a large one does not. Frames are encoded and decoded one by one: frames of the built-in world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np
from harness import Spread, arguments, in_turn, record, table

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.memory.encoding import JPEG, Encoding, Raw, count_bytes, encode_frame
from leocod.memory.replay import ReplayMemory
from leocod.types import Frame, LabelledFrame, Labels

SIZE = (96, 128)
CLASSES, PER_CLASS = 10, 5
OFFERED, DRAWN, PER_CLASS_DRAWN = 4, 16, 2
WARM_UP = 3
STEPS = 50
"""In a round: one is over in a fraction of a millisecond."""
LEARNT = 64_000_000
"""Bytes that are gone through between two steps: twice the largest cache of most processors."""
ENCODINGS: dict[str, Encoding] = {"raw": Raw(), "jpeg 90": JPEG(90), "jpeg 75": JPEG(75)}
PLAIN = "raw"


def make_frames(classes: int) -> Iterator[LabelledFrame]:
    """New frames without an end, with two things in each."""
    random = np.random.default_rng(1)
    pixels = random.integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    boxes = np.array([[10, 10, 40, 40], [50, 20, 90, 60]], np.float32)
    for number in count():
        yield Frame(number, "bench", number, SIZE, pixels), Labels(boxes, random.integers(0, classes, 2))


def fill(store: str, classes: int, per_class: int, frames: Iterator[LabelledFrame]) -> ReplayMemory:
    """A memory of that size, in which every place is taken."""
    # The released code's replacement: a newcomer has a chance however old the memory is.
    memory = ReplayMemory(classes=classes, per_class=per_class, store=store, replacement="released", seed=0)
    while sum(len(shelf.entries) for shelf in memory.shelves.values()) < classes * per_class:
        memory.add(list(islice(frames, classes)))
    return memory


class Side:
    """A full memory, and steps to come."""

    def __init__(self, store: str, classes: int, per_class: int) -> None:
        self.frames = make_frames(classes)
        self.memory = fill(store, classes, per_class, self.frames)

    def measure_step(self, between: Callable[[], object]) -> float:
        """Seconds of a step, over some of them. What comes between two steps does not count, nor making the frames."""
        offers = [list(islice(self.frames, OFFERED)) for _ in range(STEPS)]
        total = 0.0
        for pairs in offers:
            between()
            began = time.perf_counter()
            self.memory.add(pairs)
            self.memory.sample(DRAWN, per_class=PER_CLASS_DRAWN)
            total += time.perf_counter() - began
        return total / STEPS


def measure_encodings(rounds: int) -> dict[str, dict[str, Any]]:
    """Bytes of a stored frame, and seconds to store it and to get its pixels back."""
    frames = [frame.load() for frame, _ in Wander(WanderOptions(), seed=0).frames_of(0)]
    content = {}
    for name, encoding in ENCODINGS.items():
        stored = [encode_frame(frame, encoding) for frame in frames]
        sides = {
            "encode": lambda encoding=encoding: [encode_frame(frame, encoding) for frame in frames],
            "decode": lambda stored=stored: [frame.image() for frame in stored],
        }
        seconds = in_turn(sides, rounds=rounds, warm_up=WARM_UP)
        content[name] = {
            "bytes a frame": sum(map(count_bytes, stored)) / len(stored),
            **{how: Spread(tuple(value / len(frames) for value in seconds[how].values)) for how in sides},
        }
    return content


def report_encodings(rounds: int) -> dict[str, Any]:
    """Print a row for each encoding."""
    measured = measure_encodings(rounds)
    rows = [
        [
            name,
            round(of["bytes a frame"]),
            f"{measured[PLAIN]['bytes a frame'] / of['bytes a frame']:.1f}",
            of["encode"].told(1e-6, 0),
            of["decode"].told(1e-6, 0),
        ]
        for name, of in measured.items()
    ]
    print("\n" + table(["encoding", "bytes a frame", "times smaller", "encode, µs", "decode, µs"], rows))
    return {
        f"encoding, {name}": {key: value.kept() if isinstance(value, Spread) else value for key, value in of.items()}
        for name, of in measured.items()
    }


def main() -> None:
    """Each store at three sizes, and each encoding."""
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
    for store in ("balanced", "random"):
        sides = {name: Side(store, *size) for name, size in sizes.items()}
        taken: dict[tuple[str, str], list[float]] = {(name, how): [] for name in sides for how in betweens}
        for _ in range(WARM_UP + options.rounds):
            for (name, how), values in taken.items():
                values.append(sides[name].measure_step(betweens[how]))
        seconds = {key: Spread(tuple(values[WARM_UP:])) for key, values in taken.items()}
        for name, (classes, per_class) in sizes.items():
            cells: list[str] = []
            for how in betweens:
                spread = seconds[name, how]
                ratio = spread.over(seconds["small", how])
                worst[how] = max(worst[how], ratio.median)
                cells += [spread.told(1e-6, 0), ratio.told()]
                content[f"{store}, {name}, {how}"] = {
                    "classes": classes,
                    "per_class": per_class,
                    "seconds a step": spread.kept(),
                    "ratio": ratio.kept(),
                }
            rows.append([store, classes, per_class, *cells])
    heads = [part for how in betweens for part in (f"{how}, µs", "of the small one")]
    print(table(["store", "classes", "frames of each", *heads], rows))
    encodings = report_encodings(options.rounds)
    print("\nlarge / small, at worst: " + ", ".join(f"{value:.2f} {how}" for how, value in worst.items()))
    record(options, {"rounds": options.rounds, "steps in a round": STEPS, **content, **encodings})


if __name__ == "__main__":
    main()
