from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidConfig, RunExists
from leocod.paper.plan import STANDARD, Plan, benchmark_config
from leocod.paper.table import Table
from leocod.run.config import load_config, load_mapping

ROOT = Path(__file__).parents[2]


def test_the_standard_world_is_that_of_the_config_file() -> None:
    file = load_config(ROOT / "configs" / "standard.yaml")
    assert load_mapping(STANDARD).model_dump() == file.model_dump()


def test_the_seeds_are_the_tables_own_unless_told(plan: Plan, table: Table, base: dict[str, Any]) -> None:
    assert [cell.config.seed for cell in plan.cells_of(table, table.rows[0])] == [0, 1]
    told = Plan([table], base, [5], plan.out)
    assert [cell.config.seed for cell in told.cells_of(table, table.rows[0])] == [5]


def test_a_folder_belongs_to_one_benchmark(plan: Plan, table: Table, base: dict[str, Any]) -> None:
    Plan([table], {**base, "evaluate": {"every": 1}}, (), plan.out).settle()
    plan.settle()
    cell = plan.cells[0]
    cell.path.mkdir(parents=True)
    cell.directory.config.write_text(cell.config.to_yaml())

    plan.settle()
    Plan([table], {**base, "threads": 2}, (), plan.out).settle()
    with pytest.raises(RunExists, match=r"evaluate.every was 2 and is 1.*--out"):
        Plan([table], {**base, "evaluate": {"every": 1}}, (), plan.out).settle()


def test_a_benchmark_is_the_built_in_world_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("benchmark: {name: wander, steps: 7}\n")
    assert benchmark_config(str(file), [{"seed": 3}]) == {"benchmark": {"name": "wander", "steps": 7}, "seed": 3}
    assert benchmark_config("wander", []) == STANDARD
    with pytest.raises(InvalidConfig, match=r"configs/oak.yaml"):
        benchmark_config("oak", [])
    with pytest.raises(InvalidConfig, match="No config file"):
        benchmark_config("nowhere.yaml", [])
