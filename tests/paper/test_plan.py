from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidConfig, RunExists, UnknownName
from leocod.paper.plan import STANDARD, Plan, choose_benchmark, load_benchmark
from leocod.paper.record import RunRecord, format_runs
from leocod.paper.table import Table
from leocod.paper.writing import write_table
from leocod.run.config import load_config, load_mapping


def test_the_standard_world_is_that_of_the_config_file() -> None:
    file = load_config(Path("standard.yaml"))
    assert load_mapping(STANDARD).model_dump() == file.model_dump()


def test_seeds_are_those_of_the_table_unless_others_are_given(plan: Plan, table: Table, base: dict[str, Any]) -> None:
    assert [cell.config.seed for cell in plan.cells_of(table, table.rows[0])] == [0, 1]
    other = Plan([table], base, [5], plan.out)
    assert [cell.config.seed for cell in other.cells_of(table, table.rows[0])] == [5]


def test_a_folder_belongs_to_one_benchmark(plan: Plan, table: Table, base: dict[str, Any]) -> None:
    Plan([table], {**base, "evaluate": {"every": 1}}, (), plan.out).prepare()
    plan.prepare()
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text(cell.config.to_yaml())

    plan.prepare()
    Plan([table], {**base, "threads": 2}, (), plan.out).prepare()
    with pytest.raises(RunExists, match=r"evaluate.every was 2 and is 1.*--out"):
        Plan([table], {**base, "evaluate": {"every": 1}}, (), plan.out).prepare()


def test_a_benchmark_is_the_built_in_world_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("benchmark: {name: wander, steps: 7}\n")
    assert load_benchmark(str(file), [{"seed": 3}]) == {"benchmark": {"name": "wander", "steps": 7}, "seed": 3}
    assert load_benchmark("wander", []) == STANDARD
    with pytest.raises(InvalidConfig, match=r"such as oak\.yaml"):
        load_benchmark("oak", [])
    with pytest.raises(InvalidConfig, match="No config file"):
        load_benchmark("nowhere.yaml", [])


def test_a_row_may_have_seeds_of_its_own(table: Table, base: dict[str, Any], tmp_path: Path) -> None:
    bare, whole = table.rows
    table = table.model_copy(update={"rows": (bare.model_copy(update={"seeds": (7,)}), whole)})

    plan, given = Plan([table], base, (), tmp_path), Plan([table], base, [3], tmp_path)

    assert [cell.config.seed for cell in plan.cells] == [7, 0, 1]
    assert "--seeds" not in plan.command(table)
    assert [cell.config.seed for cell in given.cells] == [3, 3]


def test_the_benchmark_is_the_one_that_all_tables_name(table: Table) -> None:
    other = table.model_copy(update={"benchmark": "mine/data.yaml"})

    assert choose_benchmark([other, other]) == "mine/data.yaml"
    with pytest.raises(InvalidConfig, match="different benchmarks, wander and mine/data.yaml"):
        choose_benchmark([table, other])


def test_recorded_runs_are_finished_with_the_benchmark_of_the_table_only(
    plan: Plan, table: Table, base: dict[str, Any], tmp_path: Path
) -> None:
    name = plan.cells[0].name
    (tmp_path / "runs.csv").write_text(format_runs([RunRecord(run=name, seed=0, scores={"fap": 40.0})]))
    recorded = table.model_copy(update={"finished": tmp_path / "runs.csv"})

    def finished(*tables: Table, chosen: str = "wander", overrides: tuple[str, ...] = ()) -> list[str]:
        cells = Plan(tables, base, (), plan.out, chosen, overrides).cells
        return [cell.name for cell in cells if cell.state == "finished"]

    assert finished(recorded) == [name]
    assert finished(recorded, overrides=("seed=0",)) == []
    assert finished(recorded, chosen="other.yaml") == []
    # Another table may have another figure for the same run.
    assert finished(table.model_copy(update={"name": "other"}), recorded) == []


def test_runs_that_the_command_names_are_finished_in_every_table(plan: Plan, table: Table, tmp_path: Path) -> None:
    first, second, *_ = (cell.name for cell in plan.cells)
    for name, fap in ((first, 40.0), (second, 50.0)):
        (tmp_path / f"{name}.csv").write_text(format_runs([RunRecord(run=name, seed=0, scores={"fap": fap})]))
    files = [tmp_path / f"{first}.csv", tmp_path / f"{second}.csv"]
    own = table.model_copy(update={"name": "own", "finished": files[0]})

    named = Plan([table, own], plan.base, (), plan.out, overrides=("seed=0",), finished=files)

    assert [cell.name for cell in named.cells if cell.state == "finished"] == [first, second]
    assert {name: len(records) for name, records in named.records.items()} == {table.name: 2, "own": 2}


def test_a_folder_with_recorded_runs_can_be_prepared(plan: Plan, table: Table, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(format_runs([RunRecord(run=plan.cells[0].name, seed=0, scores={})]))
    recorded = Plan([table.model_copy(update={"finished": tmp_path / "runs.csv"})], plan.base, (), plan.out)

    recorded.prepare()

    assert (plan.out / "benchmark.yaml").is_file()


def test_a_cell_that_one_table_has_on_record_is_run_for_another(
    base: dict[str, Any], table: Table, tmp_path: Path
) -> None:
    names = [cell.name for cell in Plan([table], base, (), tmp_path).cells]
    records = [RunRecord(run=name, seed=0, scores={"fap": 1.0, "cap": 1.0, "forgetting": 1.0}) for name in names]
    (tmp_path / "known-runs.csv").write_text(format_runs(records))
    known = table.model_copy(update={"name": "known", "finished": str(tmp_path / "known-runs.csv")})

    plan = Plan([known, table], base, (), tmp_path / "out", table.benchmark)

    assert [cell.state for cell in Plan([known], base, (), tmp_path / "out", table.benchmark).cells] == [
        "finished"
    ] * len(names)
    assert [cell.state for cell in plan.cells] == ["new"] * len(names)


def test_a_mistake_in_a_row_names_the_row(base: dict[str, Any], table: Table, tmp_path: Path) -> None:
    bare, whole = table.rows
    table = table.model_copy(update={"rows": (bare, whole.model_copy(update={"strategy": "icral"}))})

    with pytest.raises(InvalidConfig, match=r"row 'whole': No strategy 'icral'\. Did you mean 'icarl'"):
        list(Plan([table], base, (), tmp_path).cells)


def test_only_chosen_rows_are_run(plan: Plan, table: Table) -> None:
    bare, whole = table.rows

    chosen = Plan([table], plan.base, (), plan.out, rows=[whole.key])
    by_pattern = Plan([table], plan.base, (), plan.out, rows=[f"{bare.key[:2]}*", whole.key])

    assert [cell.name for cell in chosen.cells] == [cell.name for cell in plan.cells_of(table, whole)]
    assert [cell.name for cell in by_pattern.cells] == [cell.name for cell in plan.cells]


def test_rows_that_are_not_run_stand_in_the_table_as_they_are(plan: Plan, table: Table, tmp_path: Path) -> None:
    bare, whole = table.rows
    name = plan.cells_of(table, bare)[0].name
    (tmp_path / "runs.csv").write_text(format_runs([RunRecord(run=name, seed=0, scores={"fap": 43.21})]))

    write_table(Plan([table], plan.base, (), plan.out, finished=[tmp_path / "runs.csv"], rows=[whole.key]), table)

    assert "| bare | 100 % | 43.2 |" in (plan.out / "small.md").read_text()
    assert name in (plan.out / "small-runs.csv").read_text()


def test_a_cell_of_another_row_with_other_settings_is_noticed(plan: Plan, table: Table) -> None:
    """Its figures would stand in the table."""
    bare, whole = table.rows
    plan.prepare()
    other = plan.cells_of(table, bare)[0]
    other.path.mkdir(parents=True)
    other.directory.config.write_text(other.config.model_copy(update={"seed": 9}).to_yaml())

    with pytest.raises(InvalidConfig, match="seed 9, and this table needs 0"):
        Plan([table], plan.base, (), plan.out, rows=[whole.key]).prepare()


def test_a_key_with_signs_of_a_pattern_means_itself(plan: Plan, table: Table) -> None:
    bare, whole = table.rows
    named = table.model_copy(update={"rows": (bare.model_copy(update={"key": "memory [10]"}), whole)})

    chosen = Plan([named], plan.base, (), plan.out, rows=["memory [10]"])

    assert len(chosen.cells) == 2 < len(chosen.all_cells)


def test_a_row_to_run_is_one_of_the_tables(plan: Plan, table: Table) -> None:
    with pytest.raises(UnknownName, match=r"No row 'nowhere'.*Known: "):
        Plan([table], plan.base, (), plan.out, rows=["nowhere"])
