"""What grows and what does not: a step of the tiny detector with Efficient-CLS around iCaRL, against the number of
classes, the frames of a step, and the steps learnt before.

    .venv/bin/python bench/growth.py

The frames are those of the built-in world, their boxes relabelled by chance over the class list. Times are taken in
turn in one process; memory in a process for each side: the highest while it learns, beyond what it had before.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np
import torch
from harness import Spread, arguments, in_turn, record, table

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.detectors.tiny import Tiny
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.run.allocation import keep_memory
from leocod.strategies.icarl import ICaRL
from leocod.types import Frame, LabelledFrame, Step

LABELLED = 4
"""One frame in so many is labelled."""
DIFFERENT = 4
"""Steps of the largest size whose frames are drawn, and then come again and again: drawing takes as long as a step."""


def drawn_frames(frames: int) -> list[LabelledFrame]:
    """The same for every side."""
    walk = Wander(WanderOptions(steps=DIFFERENT, frames_per_step=frames), seed=0)
    return [pair for step in range(walk.steps) for pair in walk.frames_of(step)]


def steps(pool: Sequence[LabelledFrame], classes: int, frames: int) -> Iterator[Step]:
    """A stream without an end: the drawn frames over and over, each time as new frames with other classes."""
    random = np.random.default_rng(0)
    for index in count():
        pairs = [pool[(index * frames + number) % len(pool)] for number in range(frames)]
        first = index * frames
        renewed = tuple(
            Frame(first + number, frame.video, first + number, frame.size, frame.content)
            for number, (frame, _) in enumerate(pairs)
        )
        labels = {
            first + number: replace(truth, classes=random.integers(0, classes, len(truth)))
            for number, (_, truth) in enumerate(pairs)
            if number % LABELLED == 0
        }
        yield Step(index, renewed, labels)


def learning(pool: Sequence[LabelledFrame], classes: int, frames: int, *, before: int = 0) -> Callable[[], object]:
    """A call that learns the next step; so many steps have been learnt before."""
    torch.manual_seed(0)
    learner = EfficientCLS(ICaRL(Tiny([f"class {number}" for number in range(classes)])))
    stream = steps(pool, classes, frames)
    for _ in range(before):
        learner.learn(next(stream))
    return lambda: learner.learn(next(stream))


def highest() -> int:
    """Memory that this process has had at most, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def memory(make: Callable[[], Callable[[], object]], learnt: int) -> int:
    """Bytes that making a learner and learning so many steps takes at most, in a process of its own."""
    # Forked from one that has learnt nothing yet: what it starts with is the same for every side, and is taken off.
    context = multiprocessing.get_context("fork")
    given, taken = context.Pipe(duplex=False)

    def work() -> None:
        before = highest()
        learn = make()
        for _ in range(learnt):
            learn()
        taken.send(highest() - before)

    process = context.Process(target=work)
    process.start()
    taken.close()
    used: int = given.recv()
    process.join()
    return used


def main() -> None:
    """Time and memory along each direction."""
    options = arguments(
        __doc__, rounds=15, warm_up=2, most_classes=1000, most_frames=64, young=50, old=500, memory_steps=10
    )
    torch.set_num_threads(options.threads)
    # As in a run.
    keep_memory()
    learner = partial(learning, drawn_frames(options.most_frames))
    classes = [options.most_classes // part for part in (100, 10, 1)]
    frames = [options.most_frames // part for part in (16, 4, 1)]
    sizes = {
        "classes": {f"{number} classes": (number, frames[1]) for number in classes},
        "frames": {f"{number} frames a step": (classes[0], number) for number in frames},
    }
    # First, while this process has learnt nothing.
    used = {
        name: memory(partial(learner, *size), options.memory_steps)
        for sides in sizes.values()
        for name, size in sides.items()
    }
    times: dict[str, dict[str, Spread]] = {
        along: in_turn(
            {name: learner(*size) for name, size in sides.items()}, rounds=options.rounds, warm_up=options.warm_up
        )
        for along, sides in sizes.items()
    }
    # Few frames: what is looked for is what a step does besides its arithmetic.
    ages = {
        f"after {before} steps": learner(classes[0], frames[0], before=before)
        for before in (options.young, options.old)
    }
    times["steps before"] = in_turn(ages, rounds=2 * options.rounds)

    rows, content, ratios = [], {}, []
    for along, sides in times.items():
        smallest = next(iter(sides.values()))
        over = {name: taken.over(smallest) for name, taken in sides.items()}
        content[along] = {
            name: {"seconds": taken.kept(), "of the first": over[name].kept(), "most bytes": used.get(name)}
            for name, taken in sides.items()
        }
        for name, taken in sides.items():
            megabytes = f"{used[name] / 1e6:.0f}" if name in used else ""
            rows.append([name, taken.told(1e-3, 1), over[name].told(), megabytes])
        first, *_, last = over
        ratios.append(f"{last} / {first}: {over[last].median:.2f}")
    print(table(["", "step, ms", "of the first", "most memory, MB"], rows))
    print(f"\n{'; '.join(ratios)}")
    record(options, {"rounds": options.rounds, **content})


if __name__ == "__main__":
    main()
