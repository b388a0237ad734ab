"""Small benchmarks, in memory and in files."""

from __future__ import annotations

import pytest

from leocod.benchmarks.base import Benchmark
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream
from leocod.types import Frame, Labels


class Small(Benchmark):
    """Three steps of four frames."""

    name, classes, steps, test = "small", ("a", "b", "c"), 3, ()

    def __init__(self, a_frame):
        self._frames = [[a_frame(step * 5 + k, (k % 3,)) for k in range(4)] for step in range(3)]

    def frames_of(self, step):
        return self._frames[step]


class Files(Benchmark):
    """Three steps of two frames, each in a file; frame n has value n."""

    name, classes, steps, test = "files", ("mug",), 3, ()

    def __init__(self, folder, *, on_bad_frame="stop"):
        self.folder, self.on_bad_frame = folder, on_bad_frame

    def frames_of(self, step):
        return [
            (Frame(number, "film", number, (60, 80), self.folder / f"{number}.png"), Labels([[0, 0, 9, 9]], [0]))
            for number in (2 * step, 2 * step + 1)
        ]


@pytest.fixture
def small(a_frame):
    return Small(a_frame)


@pytest.fixture
def stream(small):
    return Stream(small, RandomLabeller(RandomOptions(per_step=2), seed=0))


@pytest.fixture
def folder(tmp_path, a_picture):
    for number in range(6):
        a_picture(tmp_path / "film" / f"{number}.png", value=number)
    return tmp_path / "film"


@pytest.fixture
def files(folder):
    return lambda **options: Files(folder, **options)


@pytest.fixture
def told():
    """Of each step: its number, its frames, the labelled ones."""
    return lambda stream: [
        (step.index, [frame.id for frame in step.frames], sorted(step.labels)) for step in stream.steps()
    ]
