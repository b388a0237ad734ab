import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidConfig, RunExists, RunInUse
from leocod.paper import cells
from leocod.paper.cells import Cell, build_cells
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord
from leocod.paper.table import Row, Table, list_tables, load_table
from leocod.run.config import load_config

WANDER = {"benchmark": {"name": "wander"}}


def test_tables_share_the_runs_that_both_need(tmp_path: Path) -> None:
    tables = [load_table("main"), load_table("low-annotation")]
    both = Plan(tables, WANDER, [0], tmp_path).cells
    alone = [Plan([table], WANDER, [0], tmp_path).cells for table in tables]
    assert len(both) < len(alone[0]) + len(alone[1])
    assert {cell.name for cell in both} == {cell.name for cells in alone for cell in cells}


def test_the_papers_own_setting_is_the_same_run_wherever_it_stands(tmp_path: Path) -> None:
    [plain] = build_cells(load_table("ablation").row("whole at 12.5 %"), WANDER, [0], tmp_path)
    assert build_cells(load_table("tau").row("tau 0.7"), WANDER, [0], tmp_path) == [plain]
    [other] = build_cells(load_table("tau").row("tau 0.5"), WANDER, [0], tmp_path)
    assert other.name == f"{plain.name}-efficient_cls.score_threshold=0.5"


def test_different_runs_have_different_names(tmp_path: Path) -> None:
    found = Plan([load_table(name) for name in list_tables()], WANDER, (), tmp_path).cells
    assert len({cell.config.to_yaml() for cell in found}) == len(found) == len({cell.name for cell in found})


def test_one_setting_around_two_plug_ins_is_two_runs(tmp_path: Path) -> None:
    weight = {"efficient_cls": {"pseudo_weight": 0.5, "context": 0.7}}
    names = [
        build_cells(Row(key="k", plug_in=plug_in, set=weight), WANDER, [0], tmp_path)[0].name
        for plug_in in ("whole", "plus")
    ]

    assert len(set(names)) == 2


def test_a_choice_of_labelled_frames_is_in_the_name(tmp_path: Path) -> None:
    found = build_cells(Row(key="k", name="n", selections=2), WANDER, [0], tmp_path)
    assert [cell.name.partition("seed0")[2] for cell in found] == ["-labels.seed=0", "-labels.seed=1"]


def test_a_long_name_still_fits_a_folder_and_tells_runs_apart(tmp_path: Path) -> None:
    many = {
        "memory_replacement": "reservoir",
        "memory_intake": "random",
        "memory_encoding": "jpeg",
        "memory_bytes": 10**7,
    }
    changes = [{"strategy": many | {"memory_per_class": count, "replay_per_class": 1}} for count in (35, 36)]
    found = [
        build_cells(
            Row(key="k", plug_in="whole", set=one | {"efficient_cls": {"labeller": "fast"}}), WANDER, [0], tmp_path
        )
        for one in changes
    ]
    names = [cell.name for [cell] in found]
    assert [len(name) for name in names] == [cells.LONGEST_NAME] * 2
    assert names[0] != names[1]
    assert all(name.startswith("wander-icarl+ecls-16of16-seed0-strategy.") for name in names)


def test_another_labeller_is_in_the_name_and_its_options_are_where_they_are_set(tmp_path: Path) -> None:
    names = [
        build_cells(Row(key="k", labels=4, plug_in="whole", set={"labels": labels}), WANDER, [0], tmp_path)[0].name
        for labels in ("novelty", {"name": "novelty", "compare_with": 9})
    ]
    plain = "wander-icarl+ecls-4of16-seed0"
    assert names == [f"{plain}-labels.name=novelty", f"{plain}-labels.name=novelty-labels.compare_with=9"]


def test_seed_by_seed(plan: Plan, table: Table) -> None:
    assert [cell.config.seed for cell in plan.cells] == [0, 0, 1, 1]


def test_a_cell_is_run_once_and_goes_on_where_it_was_broken_off(plan: Plan) -> None:
    cell = plan.cells[1]
    assert (cell.state, cell.results) == ("new", None)
    cell.run(threads=1)
    assert cell.state == "finished"
    first = cell.results
    written = cell.directory.results.stat().st_mtime_ns
    cell.run(threads=1)
    assert cell.directory.results.stat().st_mtime_ns == written
    for file in (cell.directory.report, cell.directory.results, max(cell.directory.checkpoints.glob("*.pt"))):
        file.unlink()
    assert cell.state == "begun"
    cell.run(threads=2)
    again = cell.results
    assert first is not None
    assert again is not None
    assert again.evaluations == first.evaluations
    assert load_config(cell.directory.config).threads == 1


def test_what_is_another_run_is_refused(plan: Plan, base: dict[str, Any], tmp_path: Path) -> None:
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text(cell.config.model_copy(update={"bad_steps": 3, "threads": 2}).to_yaml())
    cell.check()
    cell.directory.config.write_text(cell.config.model_copy(update={"precision": "bfloat16"}).to_yaml())
    with pytest.raises(InvalidConfig, match=r'precision "bfloat16".*"float32".*--out'):
        cell.check()


def test_a_cell_that_another_process_runs_is_waited_for(plan: Plan) -> None:
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    holds = "import sys, filelock\nlock = filelock.FileLock(sys.argv[1])\n"
    holds += "lock.acquire()\nprint('held', flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", holds, str(cell.path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(RunInUse), cell.directory.lock():
            pass
        threading.Timer(0.5, other.stdin.close).start()
        cell.run(threads=1)
    assert cell.state == "finished"


def test_another_process_may_be_quicker(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold the lock already, or have got as far as the config."""
    cell, tried = plan.cells[0], []

    def too_late(config: object, path: Path) -> None:
        tried.append("new")
        if len(tried) == 1:
            raise RunInUse("in use")
        cell.path.mkdir(parents=True)
        cell.directory.config.write_text(cell.config.to_yaml())
        raise RunExists("holds a run")

    monkeypatch.setattr(cells, "run_experiment", too_late)
    monkeypatch.setattr(cells, "resume_experiment", lambda config, path: tried.append("begun"))

    cell.run(threads=1)

    assert tried == ["new", "new", "begun"]


def test_a_folder_that_is_not_a_run_is_refused_and_not_waited_for(plan: Plan) -> None:
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    (cell.path / "notes.txt").write_text("mine")

    with pytest.raises(RunExists, match="other files"):
        cell.run(threads=1)


def test_a_cell_is_known_by_its_folder(tmp_path: Path, plan: Plan) -> None:
    assert Cell(plan.cells[0].config, tmp_path / "abc").name == "abc"


def test_a_recorded_run_is_finished_whatever_its_directory_holds(plan: Plan) -> None:
    first = plan.cells[0]
    record = RunRecord(run=first.name, seed=0, scores={"fap": 40.0}, seconds=3.0)
    recorded = Cell(first.config, first.path, record)

    assert (recorded.state, recorded.record) == ("finished", record)
    first.path.mkdir(parents=True)
    first.directory.config.write_text(first.config.to_yaml())
    recorded.check()
    assert (first.state, recorded.state) == ("begun", "finished")
    assert recorded == first
