from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from leocod.cli.main import app

SMALL = (
    *("--set", "benchmark={name: wander, steps: 3, classes: 3, places: 2}"),
    *("--set", "detector={name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}"),
    *("--set", "evaluate.every=2"),
)


def leocod(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["paper", *arguments])


def test_a_table_is_run_once_and_written(tmp_path: Path) -> None:
    out = tmp_path / "out"

    first = leocod("rpn-loss", *SMALL, "--jobs", "2", "--out", str(out))
    written = (out / "rpn-loss.md").read_bytes()
    again = leocod("rpn-loss", *SMALL, "--jobs", "1", "--out", str(out))

    assert first.exit_code == 0, first.output
    assert "(4 of 4, 0.0 s left)" in first.output
    assert "with RPN loss" in first.output
    assert len(list((out / "cells").iterdir())) == 4
    assert again.exit_code == 0
    assert "finished (" not in again.output
    assert (out / "rpn-loss.md").read_bytes() == written


def test_a_cell_that_fails_is_told_and_the_others_are_in_the_table(tmp_path: Path) -> None:
    out = tmp_path / "out"
    # What no run can be made from: a file where its directory should be.
    (out / "cells").mkdir(parents=True)
    (out / "cells" / "wander-offline-16of16-seed0").write_text("")

    done = leocod("rpn-loss", *SMALL, "--jobs", "2", "--out", str(out))

    assert done.exit_code == 1
    assert "leocod: wander-offline-16of16-seed0 failed: " in done.output
    assert len(list((out / "cells").glob("*/report.html"))) == 3
    assert "| Offline Training | 100 % | – | – | – | – | – | – | 0 of 1 |" in (out / "rpn-loss.md").read_text()


def test_a_dry_run_says_what_would_run_and_how_long_and_runs_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"

    told = leocod("rpn-loss", *SMALL, "--jobs", "2", "--dry-run", "--out", str(out))

    assert told.exit_code == 0, told.output
    assert "4 of 4 cells to run, 2 at a time: " in told.output
    assert "wander-offline-16of16-seed0" in told.output
    assert not (out / "cells").exists()
    assert not (out / "rpn-loss.md").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("figures", "--classes", "mug, dgo"), "No class 'dgo'. Did you mean 'dog'?"),
        (("main", "--classes", "mug"), "--classes is about the figures"),
        (("main", "--set", "threads=2"), "--jobs divides the threads"),
    ],
)
def test_what_cannot_be_followed_is_told_before_anything_is_run(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = leocod(*arguments, "--out", str(tmp_path / "out"))

    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "out").exists()


def test_the_tables_are_listed() -> None:
    text = leocod("list").output

    for name in ("main", "low-annotation", "selection-seeds", "figures", "Table S8"):
        assert name in text


def test_a_wrong_table_is_told_before_anything_is_written(tmp_path: Path) -> None:
    done = leocod("mian", "--out", str(tmp_path / "out"))

    assert done.exit_code == 2
    assert "Did you mean 'main'?" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["a", "1,1", "-1", "1,", ""])
def test_seeds_are_whole_numbers(tmp_path: Path, wrong: str) -> None:
    done = leocod("main", "--seeds", wrong, "--out", str(tmp_path / "out"))

    assert done.exit_code == 2
    assert "0,1,2" in done.output
    assert not (tmp_path / "out").exists()
