import io

from rich.console import Console

from leocod.paper.live import LiveTable, build_grid, list_verdicts
from leocod.paper.outcome import Outcome
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended
from leocod.paper.table import Table


def console(*, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=160, force_terminal=terminal, color_system=None)


def text_of(where: Console) -> str:
    assert isinstance(where.file, io.StringIO)
    return where.file.getvalue()


def test_each_cell_that_has_ended_is_a_line(plan: Plan) -> None:
    where = console()
    first, second, *_ = plan.cells
    live = LiveTable(plan, [first, second], where, lambda rest: 45.0 * len(rest) + 45)

    live.follow(iter([None, Ended(first), None, Ended(second, "the disk is full")]))

    lines = text_of(where).splitlines()
    assert lines[0] == f"{first.name}: finished (1 of 2, 1 min 30 s left)"
    assert lines[1] == f"{second.name}: failed: the disk is full"
    assert live.failures == {second.name: "the disk is full"}


def test_on_a_terminal_there_is_the_table_with_what_runs_and_the_time_left(plan: Plan) -> None:
    where = console(terminal=True)
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text("")
    cell.directory.events.write_text(
        '{"event": "RunStarted", "steps": 40}\n{"event": "StepLearned", "step": 6, "losses": {}}\n'
    )

    LiveTable(plan, [cell], where, lambda rest: None).follow(iter([None]))

    text = text_of(where)
    assert "A small table (Table 0)" in text
    assert f"{cell.name}: step 7 of 40" in text
    assert "time left not known yet" in text
    assert "0 of 2" in text


def test_of_several_tables_the_one_with_cells_to_run_is_shown(plan: Plan, table: Table, own_table: Table) -> None:
    where = console(terminal=True)
    first = table.model_copy(update={"rows": table.rows[1:]})
    several = Plan([first, own_table], plan.base, (), plan.out, rows=["bare"])

    LiveTable(several, several.cells, where, lambda rest: None).follow(iter([None]))

    assert "My table" in text_of(where)
    assert "A small table" not in text_of(where)


def test_a_log_that_is_just_being_written_is_no_obstacle(plan: Plan) -> None:
    cell = plan.cells[0]
    assert cell.steps_done == (0, 0)
    cell.path.mkdir(parents=True)
    cell.directory.events.write_text('{"event": "RunSt')
    assert cell.steps_done == (0, 0)


def test_the_verdicts_are_told_claim_by_claim(plan: Plan, table: Table) -> None:
    outcome = Outcome.read(plan, table)

    assert [line.plain for line in list_verdicts(outcome)] == ["not run: It helps"]
    assert build_grid(outcome).row_count == 2
