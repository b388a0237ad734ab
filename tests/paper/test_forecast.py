import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leocod.paper import forecast as module
from leocod.paper.cells import Cell
from leocod.paper.forecast import Durations, StepTimes, TimeLeft, durations_of, forecast, kind, queued, time_left
from leocod.paper.pace import Pace
from leocod.paper.plan import Plan
from leocod.run.environment import describe_environment

STARTED = datetime(2026, 1, 1, tzinfo=UTC)

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


def a_pace(step: float, *, around: float = 2.0) -> Pace:
    """Of a stream of 10 steps, without evaluations."""
    return Pace(
        name="a cell", around=around, once=0, step=step, steps=10, evaluation=0, evaluations=0, beside=0, checkpoints=0
    )


def store(plan: Plan, paces: list[Pace], *, jobs: int = 1, threads: int = 1) -> None:
    """As if the first so many cells had been measured."""
    today = describe_environment(threads=threads, device="", command=())
    now = {"jobs": jobs, **{key: today[key] for key in module.SAME}}
    by_kind = {kind(cell.config): pace for cell, pace in zip(plan.cells, paces, strict=False)}
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / "step_times.json").write_text(StepTimes(circumstances=now, paces=by_kind).model_dump_json())


def begin(cell: Cell, *, learnt: int, saved: int = 0, threads: int = 1, resumed_at: int | None = None) -> None:
    """As if it had learnt so many of 10 steps, one second each."""
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text(cell.config.to_yaml())
    about = describe_environment(threads=threads, device="cpu", command=()) | {"started": STARTED.isoformat()}
    if resumed_at is not None:
        about["started"] = (STARTED - timedelta(days=1)).isoformat()
        about["resumed"] = [about | {"from_step": resumed_at, "started": STARTED.isoformat()}]
    cell.directory.environment.write_text(json.dumps(about))
    events: list[dict[str, Any]] = [{"event": "RunStarted", "steps": 10}]
    events += [{"event": "StepLearned", "step": step} for step in range(learnt)]
    cell.directory.events.write_text("".join(json.dumps(event) + "\n" for event in events) + '{"event": "StepL')
    written = STARTED.timestamp() + learnt - (resumed_at or 0)
    os.utime(cell.directory.events, (written, written))
    if saved:
        cell.directory.checkpoints.mkdir()
        (cell.directory.checkpoints / f"step_{saved - 1:05d}.pt").touch()


def end(cell: Cell, *, seconds: float, threads: int = 1) -> None:
    """As if it had taken so long."""
    begin(cell, learnt=10, threads=threads)
    cell.directory.results.write_text(json.dumps(RESULTS | {"seconds": seconds}))
    cell.directory.memory.write_text("{}")
    cell.directory.report.write_text("")


@pytest.fixture
def nothing_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever measures fails."""

    def refuse(cells: list[Cell], **_: object) -> None:
        pytest.fail(f"{[cell.name for cell in cells]} would be measured")

    monkeypatch.setattr(module, "measure", refuse)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the cells that were measured; each has 1 s a step."""
    names: list[str] = []

    def one_second(cells: list[Cell], **_: object) -> Any:
        names.extend(cell.name for cell in cells)
        return [(cell, a_pace(1.0)) for cell in cells]

    monkeypatch.setattr(module, "measure", one_second)
    return names


def test_cells_that_differ_in_their_seeds_only_are_of_one_kind(plan: Plan) -> None:
    bare, whole, bare_again, whole_again = (kind(cell.config) for cell in plan.cells)

    assert bare == bare_again
    assert whole == whole_again
    assert bare != whole


def test_another_choice_of_labelled_frames_is_the_same_kind_and_another_number_of_them_is_not(plan: Plan) -> None:
    config = plan.cells[1].config
    other = config.labels.model_copy(update={"seed": 7})
    fewer = config.labels.model_copy(update={"per_step": 1})

    assert kind(config.model_copy(update={"labels": other})) == kind(config)
    assert kind(config.model_copy(update={"labels": fewer})) != kind(config)


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 9), (2, 6), (3, 5), (9, 4)])
def test_a_cell_starts_as_soon_as_another_one_has_ended(jobs: int, seconds: float) -> None:
    assert queued([3, 1, 1, 4], jobs) == seconds


def test_nothing_to_do_takes_no_time() -> None:
    assert queued([], 2) == 0


@pytest.mark.usefixtures("nothing_measured")
def test_what_was_measured_before_is_not_measured_again(plan: Plan) -> None:
    store(plan, [a_pace(1.0), a_pace(3.0)])

    found = forecast(plan, jobs=1, threads=1)

    assert [one.seconds for one in found.cells] == [12, 32, 12, 32]
    assert {one.state for one in found.cells} == {"new"}
    assert found.seconds == 88


@pytest.mark.usefixtures("nothing_measured")
def test_a_finished_cell_says_more_than_a_measurement(plan: Plan) -> None:
    store(plan, [a_pace(1.0), a_pace(3.0)])
    end(plan.cells[0], seconds=20)

    found = forecast(plan, jobs=1, threads=1)

    assert [(one.state, one.seconds) for one in found.cells] == [
        ("finished", 0),
        ("new", 32),
        ("new", 22),
        ("new", 32),
    ]
    assert found.seconds == 86


@pytest.mark.usefixtures("nothing_measured")
def test_of_a_cell_that_was_broken_off_the_steps_since_its_checkpoint_are_left(plan: Plan) -> None:
    store(plan, [a_pace(1.0), a_pace(3.0)])
    begin(plan.cells[1], learnt=7, saved=5)

    found = forecast(plan, jobs=1, threads=1)

    assert (found.cells[1].state, found.cells[1].seconds) == ("begun", 2 + 15)


@pytest.mark.parametrize("other", [{"jobs": 2}, {"threads": 2}])
def test_times_of_other_circumstances_are_measured_anew(plan: Plan, measured: list[str], other: dict[str, int]) -> None:
    store(plan, [a_pace(5.0), a_pace(5.0)], **other)
    said: list[str] = []

    found = forecast(plan, jobs=1, threads=1, tell=said.append)

    assert measured == [cell.name for cell in plan.cells[:2]]
    assert [one.seconds for one in found.cells] == [12] * 4
    assert said[0].endswith("a few steps: 2, 1 at a time.")


def test_a_cell_that_had_other_threads_says_nothing(plan: Plan, measured: list[str]) -> None:
    end(plan.cells[0], seconds=20, threads=2)

    found = forecast(plan, jobs=1, threads=1)

    assert measured == [plan.cells[1].name, plan.cells[2].name]
    assert found.cells[2].seconds == 12


def test_where_all_kinds_are_known_one_is_measured_for_its_start(plan: Plan, measured: list[str]) -> None:
    for cell in plan.cells[:2]:
        end(cell, seconds=20)

    found = forecast(plan, jobs=1, threads=1)

    assert measured == [plan.cells[2].name]
    assert [one.seconds for one in found.cells] == [0, 0, 22, 22]


@pytest.mark.usefixtures("nothing_measured")
def test_a_plan_that_has_ended_takes_no_time(plan: Plan) -> None:
    for cell in plan.cells:
        end(cell, seconds=20)

    assert forecast(plan, jobs=2, threads=1).seconds == 0


@pytest.mark.parametrize("content", ["", "{}", '{"circumstances": {}, "paces": {"a": 1}}', "\xff"])
def test_a_damaged_file_of_times_is_made_anew(plan: Plan, measured: list[str], content: str) -> None:
    plan.out.mkdir()
    (plan.out / "step_times.json").write_text(content, encoding="latin-1")

    forecast(plan, jobs=1, threads=1)

    assert len(measured) == 2
    assert len(durations_of(plan.out, [], jobs=1, threads=1).learning) == 2


def test_while_nothing_is_known_there_is_no_time_left_to_tell(plan: Plan) -> None:
    begin(plan.cells[0], learnt=0)

    assert time_left(plan.cells, Durations(), jobs=1) is None


def test_what_is_left_of_a_running_cell_is_told_by_its_steps(plan: Plan) -> None:
    begin(plan.cells[0], learnt=5)
    durations = Durations({kind(cell.config): 10.0 for cell in plan.cells}, around=2.0)

    assert time_left(plan.cells[:2], durations, jobs=1) == 6 + 12
    assert time_left(plan.cells[:2], durations, jobs=2) == 12


def test_the_first_cells_of_all_tell_by_their_own_steps(plan: Plan) -> None:
    begin(plan.cells[0], learnt=4)

    assert time_left(plan.cells[:1], Durations(), jobs=1) == pytest.approx(6)


def test_a_cell_that_went_on_tells_by_the_steps_since(plan: Plan) -> None:
    begin(plan.cells[0], learnt=8, resumed_at=4)

    assert time_left(plan.cells[:1], Durations(), jobs=1) == pytest.approx(2)


def test_a_kind_that_nobody_knows_lasts_as_long_as_the_others(plan: Plan) -> None:
    durations = Durations({kind(plan.cells[0].config): 10.0})

    assert time_left(plan.cells, durations, jobs=1) == 40


def test_when_all_have_ended_no_time_is_left(plan: Plan) -> None:
    for cell in plan.cells:
        end(cell, seconds=20)

    assert time_left(plan.cells, Durations(), jobs=1) == 0


def test_while_cells_run_those_that_have_ended_tell_how_long_the_others_take(plan: Plan) -> None:
    left = TimeLeft(plan, jobs=1, threads=1)
    first, second, third, fourth = plan.cells

    before = left(plan.cells)
    end(first, seconds=20)
    end(second, seconds=30)
    after = left([third, fourth])

    assert (before, after) == (None, 50)


@pytest.mark.slow
def test_a_kind_that_is_not_known_is_tried_in_a_process_of_its_own_and_what_it_took_is_kept(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = plan.cells[:1]
    monkeypatch.setattr(Plan, "cells", cells)
    said: list[str] = []

    found = forecast(plan, jobs=1, threads=1, tell=said.append)

    stored = json.loads((plan.out / "step_times.json").read_text())
    [pace] = stored["paces"].values()
    assert (pace["steps"], pace["evaluations"], pace["checkpoints"]) == (3, 2, 3)
    assert pace["around"] > 0
    assert found.seconds == pytest.approx(pace["around"] + Pace.model_validate(pace).learning)
    assert said[-1].startswith(f"{cells[0].name}: ")
    assert (cells[0].state, sorted(path.name for path in plan.out.iterdir())) == ("new", ["logs", "step_times.json"])
    assert forecast(plan, jobs=1, threads=1, tell=lambda _: pytest.fail("measured again")) == found
