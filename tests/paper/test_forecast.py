import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from leocod.paper.cells import Cell
from leocod.paper.forecast import PUBLISHED, Forecast, find_kind, queue
from leocod.paper.plan import STANDARD, Plan
from leocod.paper.record import RunRecord, format_runs
from leocod.paper.table import Row, Table, load_table
from leocod.run.environment import describe_environment
from leocod.run.layers import overlay

STARTED = datetime(2026, 1, 1, tzinfo=UTC)

End = Callable[..., None]

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


def begin(cell: Cell, *, learnt: int, threads: int = 1, resumed: bool = False) -> None:
    """As if it had learnt so many of 10 steps, one second each."""
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text(cell.config.to_yaml())
    about = describe_environment(threads=threads, device="cpu", command=()) | {"started": STARTED.isoformat()}
    cell.directory.environment.write_text(json.dumps(about | ({"resumed": [about]} if resumed else {})))
    events: list[dict[str, Any]] = [{"event": "RunStarted", "steps": 10}]
    events += [{"event": "StepLearned", "step": step} for step in range(learnt)]
    cell.directory.events.write_text("".join(json.dumps(event) + "\n" for event in events) + '{"event": "StepL')
    written = STARTED.timestamp() + learnt
    os.utime(cell.directory.events, (written, written))


def end(cell: Cell, *, seconds: float, threads: int = 1) -> None:
    """As if it had taken so long."""
    begin(cell, learnt=10, threads=threads)
    cell.directory.results.write_text(json.dumps(RESULTS | {"seconds": seconds}))
    cell.directory.memory.write_text("{}")
    cell.directory.report.write_text("")


def todo(plan: Plan) -> list[Cell]:
    return [cell for cell in plan.cells if cell.state != "finished"]


def time_left(plan: Plan, *, jobs: int = 1) -> float | None:
    return Forecast(plan, jobs=jobs, threads=1).time_left(todo(plan))


def test_cells_that_differ_in_their_seeds_only_are_of_one_kind(plan: Plan) -> None:
    bare, whole, bare_again, whole_again = map(find_kind, plan.cells)

    assert bare == bare_again
    assert whole == whole_again
    assert bare != whole


def test_another_choice_of_labelled_frames_is_the_same_kind_and_another_setting_is_not(plan: Plan) -> None:
    table = plan.tables[0]
    chosen = Row(key="a", selections=2)
    other = Row(key="b", set={"strategy": {"replay_per_step": 2}})

    first, second = plan.cells_of(table, chosen)[:2]
    changed = plan.cells_of(table, other)[0]

    assert find_kind(first) == find_kind(second)
    assert find_kind(changed) != find_kind(first)


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 9), (2, 6), (3, 5), (9, 4)])
def test_a_cell_starts_as_soon_as_another_one_has_ended(jobs: int, seconds: float) -> None:
    assert queue([3, 1, 1, 4], jobs) == seconds


def test_nothing_to_do_takes_no_time(plan: Plan) -> None:
    assert queue([], 2) == 0
    for cell in plan.cells:
        end(cell, seconds=20)
    assert time_left(plan) == 0


def test_before_anything_has_run_the_time_is_not_known(plan: Plan) -> None:
    assert time_left(plan) is None
    begin(plan.cells[0], learnt=0)
    assert time_left(plan) is None


def test_a_cell_takes_as_long_as_finished_cells_of_its_kind(plan: Plan) -> None:
    end(plan.cells[0], seconds=20)
    end(plan.cells[1], seconds=30)

    assert [Forecast(plan, jobs=1, threads=1).time_left([cell]) for cell in todo(plan)] == [20, 30]
    assert (time_left(plan), time_left(plan, jobs=2)) == (50, 30)


def test_a_cell_that_was_slowed_down_does_not_count_for_the_others(
    table: Table, base: dict[str, Any], tmp_path: Path
) -> None:
    plan = Plan([table], base, (0, 1, 2, 3), tmp_path / "paper")
    bare = [cell for cell in plan.cells if find_kind(cell) == find_kind(plan.cells[0])]
    for cell, seconds in zip(bare[:3], (20, 21, 900), strict=True):
        end(cell, seconds=seconds)

    assert Forecast(plan, jobs=1, threads=1).time_left([bare[3]]) == 21


def test_a_kind_of_which_none_has_finished_takes_as_long_as_the_others(plan: Plan) -> None:
    end(plan.cells[0], seconds=20)

    assert time_left(plan) == 3 * 20


def test_of_a_begun_cell_the_steps_that_are_not_learnt_are_left(plan: Plan) -> None:
    end(plan.cells[0], seconds=20)
    begin(plan.cells[2], learnt=5)

    assert Forecast(plan, jobs=1, threads=1).time_left([plan.cells[2]]) == 10


def test_the_first_cells_are_timed_by_their_own_steps(plan: Plan) -> None:
    begin(plan.cells[0], learnt=4)

    assert Forecast(plan, jobs=1, threads=1).time_left(plan.cells[:1]) == pytest.approx(6)


def test_a_resumed_cell_does_not_tell_how_long_it_took_before(plan: Plan) -> None:
    begin(plan.cells[0], learnt=4, resumed=True)

    assert Forecast(plan, jobs=1, threads=1).time_left(plan.cells[:1]) is None


def test_cells_with_other_threads_count_only_while_there_are_no_others(plan: Plan) -> None:
    end(plan.cells[0], seconds=20, threads=2)
    forecast = Forecast(plan, jobs=1, threads=1)

    assert forecast.time_left(todo(plan)) == 3 * 20
    assert "elsewhere or with other threads" in forecast.basis
    end(plan.cells[1], seconds=30)
    assert forecast.time_left(todo(plan)) == 2 * 30
    assert forecast.basis == "by finished cells"


def test_recorded_runs_tell_how_long_the_others_take(plan: Plan, tmp_path: Path) -> None:
    record = RunRecord(run=plan.cells[0].name, seed=0, scores={}, seconds=20.0)
    (tmp_path / "runs.csv").write_text(format_runs([record]))
    recorded = plan.tables[0].model_copy(update={"finished": tmp_path / "runs.csv"})

    assert time_left(replace(plan, tables=[recorded])) == 3 * 20


def test_while_cells_run_the_time_left_follows_those_that_finish(plan: Plan) -> None:
    forecast = Forecast(plan, jobs=1, threads=1)
    first, second, third, fourth = plan.cells

    before = forecast.time_left(plan.cells)
    end(first, seconds=20)
    end(second, seconds=30)
    after = forecast.time_left([third, fourth])

    assert (before, after) == (None, 50)


def test_the_standard_world_takes_as_long_as_when_it_was_published(tmp_path: Path) -> None:
    table = load_table("rpn-loss")
    shorter = overlay(STANDARD, {"benchmark": {"steps": 40}})
    other = overlay(STANDARD, {"detector": {"short_side": 48}})

    assert time_left(Plan([table], STANDARD, (), tmp_path)) == pytest.approx(5 * 500 * PUBLISHED)
    assert time_left(Plan([table], shorter, (), tmp_path)) == pytest.approx(5 * 40 * PUBLISHED)
    assert time_left(Plan([table], other, (), tmp_path)) is None


def test_the_published_time_of_a_step_is_that_of_the_published_runs() -> None:
    from leocod.paper.record import read_runs

    runs = read_runs(Path(__file__).parents[2] / "results" / "paper" / "main-runs.csv")

    seconds = sum(run.seconds or 0.0 for run in runs.values())

    assert round(seconds / len(runs) / 500, 2) == PUBLISHED
    assert len(runs) == 66
