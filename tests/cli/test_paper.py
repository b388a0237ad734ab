from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from leocod.cli.main import app
from leocod.cli.paper import make_plan
from leocod.paper.table import list_paper_tables

SMALL = (
    *("--set", "benchmark={name: wander, steps: 3, classes: 3, places: 2}"),
    *("--set", "detector={name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}"),
    *("--set", "evaluate.every=2"),
)


def leocod(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["paper", *arguments])


@pytest.mark.slow
def test_a_table_is_run_once_and_written(tmp_path: Path) -> None:
    out = tmp_path / "out"

    first = leocod("balanced-memory", *SMALL, "--jobs", "2", "--out", str(out))
    written = (out / "balanced-memory.md").read_bytes()
    again = leocod("balanced-memory", *SMALL, "--jobs", "1", "--out", str(out))

    assert first.exit_code == 0, first.output
    assert "(3 of 3, 0.0 s left)" in first.output
    assert "random store and replay" in first.output
    assert len(list((out / "cells").iterdir())) == 3
    assert again.exit_code == 0
    assert "finished (" not in again.output
    assert (out / "balanced-memory.md").read_bytes() == written


@pytest.mark.slow
def test_a_cell_that_fails_is_named_and_the_others_are_in_the_table(tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A file where the directory of a run should be.
    (out / "cells").mkdir(parents=True)
    (out / "cells" / "wander-offline-16of16-seed0").write_text("")

    done = leocod("balanced-memory", *SMALL, "--jobs", "2", "--out", str(out))

    assert done.exit_code == 1
    assert "leocod: wander-offline-16of16-seed0 failed: " in done.output
    assert len(list((out / "cells").glob("*/report.html"))) == 2
    assert "| Offline Training | 100 % | – | – | – | – | – | – | 0 of 1 |" in (out / "balanced-memory.md").read_text()


def test_a_dry_run_says_what_would_run_and_runs_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"

    done = leocod("rpn-loss", *SMALL, "--jobs", "2", "--dry-run", "--out", str(out))

    assert done.exit_code == 0, done.output
    assert "5 of 5 cells to run, 2 at a time. How long they take is not known before" in done.output
    assert "wander-offline-16of16-seed0" in done.output
    assert not (out / "cells").exists()
    assert not (out / "rpn-loss.md").exists()


def test_a_dry_run_says_how_long_it_takes_where_that_is_known(tmp_path: Path) -> None:
    done = leocod("rpn-loss", "--jobs", "2", "--dry-run", "--out", str(tmp_path / "out"))

    assert done.exit_code == 0, done.output
    assert "5 of 5 cells to run, 2 at a time: about 10 min 45 s, by the published runs" in done.output


def test_only_the_rows_of_the_command_would_run(tmp_path: Path) -> None:
    given = ("rpn-loss", *SMALL, "--dry-run", "--out", str(tmp_path / "out"))

    one = leocod(*given, "--rows", "offline")
    none = leocod(*given, "--rows", "ofline")

    assert "1 of 1 cell to run" in one.output
    assert "wander-offline-16of16-seed0" in one.output
    assert none.exit_code == 2
    assert "No row 'ofline'. Did you mean 'offline'?" in none.output


def test_a_long_number_in_seeds_is_shown_short(tmp_path: Path) -> None:
    done = leocod("rpn-loss", "--seeds", "9" * 6000, "--dry-run", "--out", str(tmp_path / "out"))

    assert done.exit_code == 2
    assert "it should be different whole numbers" in done.output
    assert len(done.output) < 200


@pytest.mark.parametrize(("load", "told"), [(0.5, False), (9.0, True)])
def test_a_dry_run_says_that_the_machine_is_busy(
    load: float, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load), raising=False)
    monkeypatch.setattr("leocod.cli.paper.count_cpus", lambda: 2)

    done = leocod("rpn-loss", "--dry-run", "--out", str(tmp_path / "out"))

    assert ("The machine is busy now (load 9.0, 2 processors): it may take longer." in done.output) == told


OWN = """
title: Mine
seeds: [0, 1]
benchmark: small.yaml
finished: mine-runs.csv
rows:
  - {key: bare, strategy: incremental}
  - {key: whole, strategy: incremental, plug_in: whole, labels: 8, seeds: [0]}
comparisons: [[whole, bare]]
"""


@pytest.mark.slow
def test_a_table_of_ones_own_runs_what_its_records_do_not_have(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    (tmp_path / "small.yaml").write_text(
        "benchmark: {name: wander, steps: 2, frames_per_step: 4, classes: 3, places: 2}\n"
        "detector: {name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}\n"
    )
    bare = "wander-incremental-4of4-seed"
    (tmp_path / "mine-runs.csv").write_text(f"run,seed,fap\n{bare}0,0,40.0\n{bare}1,1,42.0\n")
    out = tmp_path / "out"

    done = leocod(str(tmp_path / "mine.yaml"), "--out", str(out))

    assert done.exit_code == 0, done.output
    assert [path.name for path in (out / "cells").iterdir()] == ["wander-incremental+ecls-2of4-seed0"]
    assert "| bare | 100 % | 41.0 ± 1.4 | – | – | 2 |" in (out / "mine.md").read_text()
    assert len((out / "mine-runs.csv").read_text().splitlines()) == 4


def test_tables_can_be_written_without_running_anything(tmp_path: Path) -> None:
    done = leocod("rpn-loss", *SMALL, "--no-run", "--out", str(tmp_path / "out"))

    assert done.exit_code == 0, done.output
    assert "| 0 of 1 |" in (tmp_path / "out" / "rpn-loss.md").read_text()
    assert not (tmp_path / "out" / "cells").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("figures", "--classes", "mug, dgo"), "No class 'dgo'. Did you mean 'dog'?"),
        (("main", "--classes", "mug"), "--classes is for the figures"),
        (("main", "--set", "threads=2"), "--jobs divides the threads"),
    ],
)
def test_what_cannot_be_followed_is_refused_before_anything_is_run(
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


def test_a_wrong_table_is_refused_before_anything_is_written(tmp_path: Path) -> None:
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


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(OWN)

    done = leocod("main", str(tmp_path / "main.yaml"), "--out", str(tmp_path / "out"))

    assert done.exit_code == 2
    assert "would write the same files" in done.output


def test_all_are_the_tables_of_the_paper(tmp_path: Path) -> None:
    plan = make_plan(["all"], None, (), (), tmp_path)

    assert [table.name for table in plan.tables] == list_paper_tables()
