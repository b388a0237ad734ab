import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from leocod.paper.cells import Cell
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended, describe_failure, log_path, run_cells


def ended(plan: Plan, cells: list[Cell], jobs: int = 2) -> list[Ended]:
    return [event for event in run_cells(cells, jobs=jobs, threads=1, logs=plan.logs) if event is not None]


@pytest.mark.slow
def test_every_cell_is_run_in_a_process_of_its_own(plan: Plan) -> None:
    found = ended(plan, plan.cells[:2])
    assert sorted(one.cell.name for one in found) == sorted(cell.name for cell in plan.cells[:2])
    assert [one.failure for one in found] == [None, None]
    assert {cell.state for cell in plan.cells[:2]} == {"finished"}


@pytest.mark.slow
def test_a_cell_that_fails_does_not_stop_the_others(plan: Plan) -> None:
    bad = Cell(plan.cells[0].config.model_copy(update={"device": "cuda:9"}), plan.home / "bad")
    first, second = ended(plan, [bad, plan.cells[0]], jobs=1)
    assert first.failure is not None
    assert "device is 'cuda:9'" in first.failure
    assert str(log_path(bad, plan.logs)) in first.failure
    assert second.failure is None


@pytest.mark.slow
def test_a_killed_cell_is_reported_with_the_signal(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    long = Cell(_longer(plan.cells[0]), plan.home / "long")
    progress = run_cells([long], jobs=1, threads=1, logs=plan.logs)
    _until(long.directory.config.is_file, progress)
    import multiprocessing

    [process] = multiprocessing.active_children()
    os.kill(process.pid or 0, signal.SIGKILL)
    [last] = [one for one in progress if one is not None]
    assert last.failure is not None
    assert "SIGKILL" in last.failure


@pytest.mark.slow
def test_closed_early_the_running_cell_saves_itself_and_can_be_resumed(plan: Plan) -> None:
    long = Cell(_longer(plan.cells[0]), plan.home / "long")
    progress = run_cells([long], jobs=1, threads=1, logs=plan.logs)
    _until(lambda: any(long.directory.checkpoints.glob("*.pt")), progress)
    progress.close()
    assert long.state == "begun"
    assert "SIGTERM" in log_path(long, plan.logs).read_text()
    # Nobody holds it any more.
    long.directory.wait_until_free()


@pytest.mark.slow
def test_cells_end_with_the_process_that_started_them(plan: Plan, tmp_path: Path) -> None:
    long = Cell(_longer(plan.cells[0]), plan.home / "long")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(long.config.model_dump(mode="json")))
    script = tmp_path / "starts_one.py"
    script.write_text(
        "from pathlib import Path\n"
        "from leocod.run.config import load_config\n"
        "from leocod.paper.cells import Cell\n"
        "from leocod.paper.processes import run_cells\n"
        "if __name__ == '__main__':\n"
        f"    cell = Cell(load_config(Path({str(tmp_path / 'config.yaml')!r})), Path({str(long.path)!r}))\n"
        f"    list(run_cells([cell], jobs=1, threads=1, logs=Path({str(plan.logs)!r})))\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)])
    try:
        _until(lambda: parent.poll() is not None or any(long.directory.checkpoints.glob("*.pt")))
        assert parent.poll() is None
    finally:
        parent.kill()
        parent.wait()
    long.directory.wait_until_free()
    assert long.state == "begun"
    assert "SIGTERM" in log_path(long, plan.logs).read_text()


def _longer(cell: Cell) -> object:
    options = cell.config.benchmark.options.model_copy(update={"steps": 300})
    return cell.config.model_copy(update={"benchmark": cell.config.benchmark.model_copy(update={"options": options})})


def _until(done: object, progress: object = None) -> None:
    deadline = time.monotonic() + 600
    while not done():
        assert time.monotonic() < deadline
        if progress is not None:
            next(progress)
        else:
            time.sleep(0.1)


def test_an_end_is_explained_where_there_is_no_sigkill(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(signal, "SIGKILL")

    assert describe_failure(-signal.SIGTERM, tmp_path / "cell.log") == "ended by SIGTERM"
