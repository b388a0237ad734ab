from pathlib import Path

import pytest
from typer.testing import CliRunner

from leocod.cli import app

SMALL = (
    *("--set", "benchmark={name: wander, steps: 3, classes: 3, places: 2}"),
    *("--set", "detector={name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}"),
    *("--set", "evaluate.every=2"),
)


def test_the_cells_of_a_table_are_run_and_not_again(tmp_path: Path) -> None:
    command = ["paper", "rpn-loss", *SMALL, "--jobs", "2", "--out", str(tmp_path / "out")]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 4
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0
    assert "finished" not in again.output


@pytest.mark.parametrize("wrong", ["a", "1,1", "-1", "1,", ""])
def test_seeds_are_whole_numbers(tmp_path: Path, wrong: str) -> None:
    done = CliRunner().invoke(app, ["paper", "main", "--seeds", wrong or ",", "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "0,1,2" in done.output
    assert not (tmp_path / "out").exists()
