"""How long a cell takes, from a short run of the same thing: real processes, frames, checkpoints and report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidFrame, InvalidRun, SourceEnded
from leocod.evaluation.evaluator import spread_evenly
from leocod.paper.cells import Cell
from leocod.paper.processes import run_cells
from leocod.run.choices import BenchmarkChoice
from leocod.run.config import FRAMES_PER_STEP, ExperimentConfig, load_mapping
from leocod.settings import Settings
from leocod.types import Frame, LabelledFrame

BLOCKS = 3
"""Places of a stream that an excerpt is taken from: at the first, few classes have been seen."""

IN_A_ROW = 10
"""Steps of each. A single step would cost more than one among others: it is always the first in a new room."""

WARM_UP = 5
"""Steps before any is counted; of a shorter excerpt a third."""

TEST_FRAMES = 256
"""Looked at in place of all of them."""

LEAST = 4
"""Steps that are learnt in any case."""

PATIENCE = 60.0
"""Seconds after which no more steps are learnt: a large detector gets through few of them."""

COUNTED_IN_STEPS = {"strategy": "boundary_every", "efficient_cls": "warmup_steps"}
"""Options that change what a step costs, once so many steps are over."""


class ExcerptOptions(Settings):
    """Options of an excerpt."""

    whole: BenchmarkChoice
    """What it is taken from."""
    steps: int
    """Of them at most."""
    frames: int | None
    """Test frames that a run on the whole looks at. Null: all."""

    @property
    def frames_per_step(self) -> int:
        return int(getattr(self.whole.options, "frames_per_step", FRAMES_PER_STEP))


class Excerpt(Benchmark):
    """A few steps from several places of another benchmark. After a while there are no more."""

    Options = ExcerptOptions

    def __init__(self, options: ExcerptOptions, *, seed: int) -> None:
        self.whole = options.whole.build(seed)
        self.name, self.classes, self.on_bad_frame = self.whole.name, self.whole.classes, self.whole.on_bad_frame
        self.options = options
        self.places = excerpt_of(self.whole.steps, options.steps)
        self.steps = len(self.places)
        self._began: float | None = None
        self._ended = False

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        # Told once. What is asked for after that is not to be learnt, but to be shown.
        if not self._ended and step >= LEAST and now > self._began + PATIENCE:
            self._ended = True
            raise SourceEnded(f"The excerpt ends after {step} steps: {PATIENCE:g} s are over.")
        return self.whole.frames_of(self.places[step])

    @cached_property
    def test(self) -> Sequence[LabelledFrame]:
        # A run looks at each of them before it begins, which takes its time.
        looked_at = [self.whole.test[place] for place in self._asked]
        return [looked_at[place] for place in spread_evenly(len(looked_at), TEST_FRAMES)]

    @property
    def lost_test_frames(self) -> int:
        """Those that only the whole looks at."""
        return len(self._asked) - len(self.test)

    @property
    def _asked(self) -> Sequence[int]:
        whole = len(self.whole.test)
        return range(whole) if self.options.frames is None else spread_evenly(whole, self.options.frames)

    def given(self, per_step: int) -> frozenset[int] | None:
        return self.whole.given(per_step)

    def fault(self, frame: Frame, error: InvalidFrame) -> InvalidFrame:
        return self.whole.fault(frame, error)


class Pace(Settings):
    """How long the parts of a run take, in seconds."""

    name: str
    """A cell of this kind."""
    around: float
    """From the start of its process to the first step, and from the last one to the end of the process."""
    once: float
    """What the first step takes more than another."""
    step: float
    """One step."""
    steps: int
    """How many there are."""
    evaluation: float
    """On all test frames."""
    evaluations: int
    """How many there are."""
    beside: float
    """Saving, and writing what is written at each step, from one checkpoint to the next."""
    checkpoints: int
    """How many there are."""

    @property
    def learning(self) -> float:
        """From the first step to the last, which is what `seconds` of results.json is."""
        return self.once + self.step * self.steps + self.evaluation * self.evaluations + self.beside * self.checkpoints


def excerpt_of(steps: int, most: int = BLOCKS * IN_A_ROW) -> list[int]:
    """Which steps: some in a row at the beginning, in the middle and at the end of a stream; of a short one, all.

    >>> excerpt_of(100, most=6)
    [0, 1, 49, 50, 98, 99]
    """
    if steps <= most:
        return list(range(steps))
    row = most // BLOCKS
    return [first + number for first in spread_evenly(steps - row + 1, BLOCKS) for number in range(row)]


def shorten_name(config: ExperimentConfig, steps: int) -> ExperimentConfig:
    """The same experiment on an excerpt of its benchmark, which has so many steps; evaluated and saved once."""
    values = config.model_dump(mode="json")
    most = len(excerpt_of(steps))
    for part, option in COUNTED_IN_STEPS.items():
        if values[part] and values[part].get(option):
            values[part][option] = max(1, round(values[part][option] * most / steps))
    values["benchmark"] = {
        "name": f"{__name__}:{Excerpt.__name__}",
        "whole": values["benchmark"],
        "steps": most,
        "frames": values["evaluate"]["frames"],
    }
    values["evaluate"] |= {"every": most, "frames": None}
    values["checkpoint"] |= {"every": most}
    return load_mapping(values)


def measure(
    cells: Sequence[Cell], *, jobs: int, threads: int, out: Path, logs: Path, tell: Callable[[str], None]
) -> Iterator[tuple[Cell, Pace]]:
    """Run a short form of each, as many at a time as the whole ones will: what they take from each other is counted."""
    wholes = {cell.name: cell for cell in cells}
    steps = _lengths(cells)
    began: dict[str, float] = {}

    def shorts(folder: Path) -> Iterator[Cell]:
        # Asked for one by one, each right before its process is started.
        for name, cell in wholes.items():
            began[name] = time.monotonic()
            yield Cell(shorten_name(cell.config, steps[name]), folder / name)

    with (
        TemporaryDirectory(prefix=".timing-", dir=out) as folder,
        closing(run_cells(shorts(Path(folder)), jobs=jobs, threads=threads, logs=logs)) as ends,
    ):
        for ended in ends:
            if ended is None:
                continue
            short, whole = ended.cell, wholes[ended.cell.name]
            if ended.failure is not None:
                raise InvalidRun(f"{short.name} cannot be timed: {ended.failure}. Mend that first.")
            pace = pace_of(short, whole.config, steps[short.name], took=time.monotonic() - began[short.name])
            tell(f"{short.name}: {pace.step:.3g} s a step, {pace.around + pace.learning:.0f} s in all")
            yield whole, pace


def pace_of(short: Cell, config: ExperimentConfig, steps: int, *, took: float) -> Pace:
    """What a short run says about a whole one of this config and length. `took`: from start to end of its process."""
    results = short.results
    assert results is not None
    events = [json.loads(line) for line in short.directory.events.read_text(encoding="utf-8").splitlines()]
    single_pass = next(event["single_pass"] for event in events if event["event"] == "RunStarted")
    learnt = [sum(event["seconds"].values()) for event in events if event["event"] == "StepLearned"]
    evaluated = [event["seconds"] for event in events if event["event"] == "Evaluated"]
    looked_at = len(json.loads(short.directory.test.read_text(encoding="utf-8"))["images"])
    step = mean(learnt[min(WARM_UP, len(learnt) // 3) :])
    # Offline training reads the whole stream before its first step.
    longer = 1.0 if single_pass else steps / len(learnt)
    return Pace(
        name=short.name,
        around=max(0.0, took - results.seconds),
        once=max(0.0, learnt[0] - step) * longer,
        step=step,
        steps=steps,
        evaluation=evaluated[-1] * (looked_at + results.skipped_test_frames) / max(looked_at, 1),
        evaluations=-(-steps // config.evaluate.every),
        beside=max(0.0, results.seconds - sum(learnt) - sum(evaluated)),
        checkpoints=-(-steps // config.checkpoint.every),
    )


def _lengths(cells: Sequence[Cell]) -> dict[str, int]:
    """Steps of each; cells of one benchmark have as many, whatever their seed."""
    by_benchmark: dict[str, int] = {}
    found = {}
    for cell in cells:
        part = cell.config.benchmark
        if (key := part.model_dump_json()) not in by_benchmark:
            by_benchmark[key] = part.build(cell.config.seed).steps
        found[cell.name] = by_benchmark[key]
    return found
