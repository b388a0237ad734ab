import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.errors import InvalidRun, SourceEnded
from leocod.labelling.budget import BudgetLabeller, BudgetOptions
from leocod.paper import pace
from leocod.paper.cells import Cell
from leocod.paper.pace import Excerpt, ExcerptOptions, Pace, excerpt_of, measure, pace_of, shortened
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended
from leocod.run.config import BenchmarkChoice, ExperimentConfig, load_mapping
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled, Shuffle

WORLD = {"name": "wander", "steps": 12, "frames_per_step": 2, "classes": 3, "places": 2, "width": 64, "height": 48}

RESULTS = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "incremental",
    "labels_per_step": 4,
    "seed": 0,
    "efficient_cls": False,
    "ema": False,
    "pseudo_labels": False,
    "steps": 10,
    "labelled_frames": 40,
    "scores": {},
    "evaluations": [],
}


def an_excerpt(*, steps: int = 6, frames: int | None = None) -> Excerpt:
    whole = BenchmarkChoice.model_validate(WORLD)
    return Excerpt(ExcerptOptions(whole=whole, steps=steps, frames=frames), seed=3)


def a_short_run(path: Path, learnt: list[float], *, seconds: float, single_pass: bool = True) -> Cell:
    """What such a run leaves: one evaluation of 2 s on 4 of 12 test frames."""
    path.mkdir()
    cell = Cell(ExperimentConfig(), path)
    events: list[dict[str, Any]] = [{"event": "RunStarted", "single_pass": single_pass}]
    # A step has several parts.
    events += [{"event": "StepLearned", "seconds": {"stream": 0.25, "train": one - 0.25}} for one in learnt]
    events += [{"event": "Evaluated", "seconds": 2.0}]
    cell.directory.events.write_text("".join(json.dumps(event) + "\n" for event in events))
    cell.directory.test.write_text(json.dumps({"images": [{}] * 4}))
    cell.directory.results.write_text(json.dumps(RESULTS | {"seconds": seconds, "skipped_test_frames": 8}))
    cell.directory.memory.write_text("{}")
    cell.directory.report.write_text("")
    return cell


def test_an_excerpt_is_steps_in_a_row_from_all_over_the_stream() -> None:
    places = excerpt_of(400)

    assert len(places) == pace.BLOCKS * pace.IN_A_ROW
    assert places[:2] == [0, 1]
    assert places[-1] == 399
    assert 200 in places


def test_a_short_stream_is_its_own_excerpt() -> None:
    assert excerpt_of(5) == [0, 1, 2, 3, 4]


def test_an_excerpt_hands_out_what_the_whole_has_there() -> None:
    excerpt = an_excerpt()
    whole = Wander(WanderOptions.model_validate({key: value for key, value in WORLD.items() if key != "name"}), seed=3)

    handed_out = [frame.id for step in range(excerpt.steps) for frame, _ in excerpt.frames_of(step)]

    assert handed_out == [frame.id for step in (0, 1, 5, 6, 10, 11) for frame, _ in whole.frames_of(step)]
    assert excerpt.classes == whole.classes
    assert excerpt.options.frames_per_step == 2


def test_an_excerpt_has_a_part_of_the_test_frames_and_tells_how_many_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "TEST_FRAMES", 4)

    of_all, of_some = an_excerpt(), an_excerpt(frames=6)

    assert (len(of_all.test), of_all.lost_test_frames) == (4, 8)
    assert (len(of_some.test), of_some.lost_test_frames) == (4, 2)


def test_an_excerpt_ends_when_it_has_taken_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PATIENCE", -1.0)
    excerpt = an_excerpt()

    for step in range(pace.LEAST):
        excerpt.frames_of(step)

    with pytest.raises(SourceEnded, match="after 4 steps"):
        excerpt.frames_of(pace.LEAST)
    # Whoever shows what has been learnt asks for it again, and offline training shows any step.
    assert len(excerpt.frames_of(1)) == len(excerpt.frames_of(pace.LEAST + 1)) == 2


def test_a_run_on_an_excerpt_that_ends_early_is_a_whole_run(
    plan: Plan, base: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", -1.0)
    offline = load_mapping(
        {**base, "benchmark": {**WORLD, "steps": 9}, "strategy": "offline", "efficient_cls": None}
        | {"labels": {"per_step": 1}}
    )
    short = Cell(shortened(offline, steps=9), plan.home / "short")

    short.run(threads=1)

    found = pace_of(short, offline, 9, took=1.0)
    assert short.state == "finished"
    assert (found.steps, found.evaluations, found.checkpoints) == (9, 5, 9)
    assert found.step > 0


def test_of_a_long_stream_offline_training_reads_the_excerpt_only() -> None:
    config = shortened(load_mapping({"benchmark": {**WORLD, "steps": 90}, "labels": {"per_step": 2}}), steps=90)
    excerpt = Excerpt(config.benchmark.options, seed=0)
    labeller = BudgetLabeller(BudgetOptions(per_step=2), seed=0)
    stream = Reshuffled(Stream(excerpt, labeller), Shuffle(epochs=1, batch_size=2), seed=0)

    assert len(stream) == 30
    assert sum(len(step.frames) for step in stream.steps()) == 60


def test_a_shortened_experiment_is_evaluated_and_saved_once_and_learns_as_the_whole_one() -> None:
    whole = load_mapping({"benchmark": WORLD, "labels": {"per_step": 1}, "evaluate": {"every": 2, "frames": 7}})

    short = shortened(whole.model_copy(update={"seed": 5}), steps=300)

    assert short.benchmark.options == ExcerptOptions(whole=whole.benchmark, steps=30, frames=7)
    assert (short.evaluate.every, short.evaluate.frames, short.checkpoint.every) == (30, None, 30)
    assert (short.strategy, short.detector, short.efficient_cls) == (
        whole.strategy,
        whole.detector,
        whole.efficient_cls,
    )
    assert (short.seed, short.labels) == (5, whole.labels)


def test_what_begins_after_a_part_of_the_stream_begins_after_that_part_of_the_excerpt() -> None:
    plug_in = {"warmup_steps": 40}
    whole = load_mapping({"strategy": {"name": "iod", "boundary_every": 100}, "efficient_cls": plug_in})

    short = shortened(whole, steps=400)

    assert getattr(short.strategy.options, "boundary_every") == 8  # noqa: B009
    assert short.efficient_cls is not None
    assert short.efficient_cls.warmup_steps == 3


def test_the_parts_of_a_short_run_add_up_to_a_whole_one(tmp_path: Path) -> None:
    short = a_short_run(tmp_path / "short", [5.0, 1.0, 1.0, 1.0, 1.0, 1.0], seconds=12.5)
    config = load_mapping({"evaluate": {"every": 30}, "checkpoint": {"every": 50}})

    found = pace_of(short, config, 100, took=20.0)

    assert found == Pace(
        name="short",
        around=7.5,
        once=4.0,
        step=1.0,
        steps=100,
        evaluation=6.0,
        evaluations=4,
        beside=0.5,
        checkpoints=2,
    )
    assert found.learning == 4 + 100 + 4 * 6 + 2 * 0.5


def test_the_first_steps_do_not_count(tmp_path: Path) -> None:
    warm_up, rest = [9.0] * pace.WARM_UP, [1.0] * 25
    short = a_short_run(tmp_path / "short", warm_up + rest, seconds=80.0)

    assert pace_of(short, ExperimentConfig(), 100, took=80.0).step == 1.0


def test_what_offline_training_reads_at_first_grows_with_the_stream(tmp_path: Path) -> None:
    short = a_short_run(tmp_path / "short", [5.0, 1.0, 1.0, 1.0], seconds=10.0, single_pass=False)

    assert pace_of(short, ExperimentConfig(), 40, took=10.0).once == 4.0 * 40 / 4


def test_each_is_timed_from_when_it_is_started(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 130.0, 130.0, 170.0])
    monkeypatch.setattr(pace, "run_cells", one_after_the_other)
    monkeypatch.setattr(pace, "pace_of", lambda short, config, steps, *, took: a_pace(steps, took))
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(clock))
    plan.out.mkdir()

    found = list(measure(plan.cells[:2], jobs=1, threads=1, out=plan.out, logs=plan.logs, tell=lambda _: None))

    assert [(cell, one.around, one.steps) for cell, one in found] == [
        (plan.cells[0], 30.0, 3),
        (plan.cells[1], 40.0, 3),
    ]


def test_one_that_fails_is_told_and_leaves_nothing_behind(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(cells: Iterable[Cell], **_: object) -> Iterator[Ended]:
        for cell in cells:
            cell.path.mkdir(parents=True)
            yield Ended(cell, "no memory (some.log)")

    monkeypatch.setattr(pace, "run_cells", failing)
    plan.out.mkdir()

    with pytest.raises(InvalidRun, match=r"incremental.* cannot be timed: no memory \(some.log\)\. Mend that"):
        list(measure(plan.cells[:1], jobs=1, threads=1, out=plan.out, logs=plan.logs, tell=lambda _: None))

    assert list(plan.out.iterdir()) == []


def one_after_the_other(cells: Iterable[Cell], **_: object) -> Iterator[Ended | None]:
    for cell in cells:
        yield None
        yield Ended(cell)


def a_pace(steps: int, around: float) -> Pace:
    return Pace(
        name="one",
        around=around,
        once=0,
        step=1,
        steps=steps,
        evaluation=0,
        evaluations=0,
        beside=0,
        checkpoints=0,
    )
