import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "none"), "none is not a directory"),
        (("report",), "Missing argument"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)


RESULTS = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "icarl",
    "efficient_cls": False,
    "ema": False,
    "pseudo_labels": False,
    "labels_per_step": 1,
    "steps": 8,
    "labelled_frames": 8,
    "seconds": 1.0,
    "evaluations": [],
    "scores": {"fap": None},
}


def write_run(path: Path, seed: int, *, finished: bool = True) -> None:
    path.mkdir(parents=True)
    (path / "config.yaml").write_text(f"seed: {seed}\n")
    (path / "events.jsonl").write_text(json.dumps({"event": "RunStarted", "classes": ["mug"]}) + "\n")
    if finished:
        (path / "results.json").write_text(json.dumps(RESULTS | {"seed": seed}))
        (path / "memory.json").write_text('{"bytes": 0, "frames": 0, "by_class": {}}')


def test_a_folder_stands_for_the_runs_in_it_and_each_is_there_once(
    leocod: Callable[..., Result], tmp_path: Path
) -> None:
    for seed in (10, 9):
        write_run(tmp_path / "runs" / f"a-seed{seed}", seed)
    write_run(tmp_path / "runs" / "a-seed11", 11, finished=False)
    (tmp_path / "runs" / "notes").mkdir()

    result = leocod("report", "runs", "runs/a-seed9")

    assert result.exit_code == 0
    assert result.stdout == "a: FAP –, 2 seeds.\nReport: report.html\n"
    assert result.stderr == "Left out, not finished: a-seed11.\n"
    page = (tmp_path / "report.html").read_text()
    assert "<h1>a: 2 seeds</h1>" in page
    assert "seeds 9, 10." in page
    # An earlier report is not lost.
    assert leocod("report", "runs").stdout.splitlines()[-1] == "Report: report-2.html"


def test_a_folder_in_which_nothing_has_finished_is_refused(leocod: Callable[..., Result], tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a", 0, finished=False)

    result = leocod("report", "runs")

    assert result.exit_code == 2
    assert "leocod: No run there has finished, so there is nothing to report." in result.stderr
    assert not (tmp_path / "report.html").exists()
