import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as PillowImage
from typer.testing import Result


def test_it_writes_a_contact_sheet_and_tells_counts(leocod: Callable[..., Result]) -> None:
    result = leocod("show", "wander", "--set", "steps=2", "--set", "width=64", "--set", "height=48", "--out", "a/b.png")

    assert result.exit_code == 0, result.output
    assert "2 steps, 32 training and 2 test frames" in result.output
    with PillowImage.open("a/b.png") as sheet:
        assert sheet.width > 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "wonder"), "No benchmark 'wonder'"),
        (("show", "wander", "--set", "step=3"), "benchmark.step: unknown key. Did you mean 'steps'?"),
        (("show", "wander", "--out", "sheet.doc"), "should be a .png file"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)


SMALL = ("--set", "steps=2", "--set", "width=64", "--set", "height=48")

CONFIG = """
benchmark: {name: wander, steps: 3, frames_per_step: 16, classes: 3, places: 2, width: 64, height: 48}
labels: {per_step: 16}
detector: {name: tiny, weights: null, short_side: 48, regions: 8, proposals: 12}
evaluate: {every: 2}
"""


def test_a_config_file_names_a_benchmark_too(leocod: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)

    result = leocod("show", "mine.yaml", "--set", "benchmark.steps=2")

    assert result.exit_code == 0, result.output
    assert "2 steps, 32 training and 2 test frames" in result.output
    assert Path("show.png").is_file()


def test_a_profile_is_printed_and_nothing_is_written_unless_asked(leocod: Callable[..., Result]) -> None:
    result = leocod("show", "wander", "--profile", *SMALL)

    assert result.exit_code == 0, result.output
    assert "boxes whose class the start knows" in result.output
    assert list(Path().iterdir()) == []


def test_a_profile_has_the_command_the_config_and_the_commit(leocod: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)

    result = leocod("show", "mine.yaml", "--profile", "--seed", "5", "--out", "mine.json")

    assert result.exit_code == 0, result.output
    content = json.loads(Path("mine.json").read_text())
    assert content["stream"] == "mine"
    assert content["config"]["seed"] == 5
    assert content["config"]["labels"]["per_step"] == 16
    assert {"command", "source", "leocod"} <= content.keys()
    assert content["profile"]["steps"] == 3
    assert content["profile"]["start"]["known"] == 0
    # Where every frame is labelled, there is nothing that is never labelled.
    assert content["profile"]["novelty"]["never_labelled"] == 0


def test_profiles_stand_side_by_side(leocod: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)
    assert leocod("show", "mine.yaml", "--profile", "--out", "mine.json").exit_code == 0

    result = leocod("show", "wander", "--profile", *SMALL, "--beside", "mine.json", "--beside", "mine.json")

    assert result.exit_code == 0, result.output
    assert re.search(r"^ +wander +mine +mine *$", result.output, re.MULTILINE)
    assert re.search(r"^ *steps +2 +3 +3 *$", result.output, re.MULTILINE)


@pytest.mark.slow
def test_responses_are_run_once_and_stand_beside_the_papers(leocod: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)
    arguments = ("show", "mine.yaml", "--profile", "--responses", "--seeds", "0", "--out", "mine.json")

    first = leocod(*arguments, "--jobs", "2")
    again = leocod(*arguments)

    assert first.exit_code == 0, first.output
    assert "finished (" in first.output
    assert again.exit_code == 0, again.output
    assert "finished (" not in again.output
    assert "(paper)" in again.output
    responses = json.loads(Path("mine.json").read_text())["responses"]
    assert responses["paper_fap"] == {"oak": 36.14, "egoobjects": 60.80}
    assert len(list(Path("runs/paper-mine/cells").iterdir())) == len(responses["rows"]) + 1


def test_a_damaged_profile_is_refused_before_anything_is_measured(
    leocod: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "cut.json").write_text('{"stream": ')

    result = leocod("show", "wander", "--profile", "--beside", "cut.json", "--out", "mine.json")

    assert result.exit_code == 2
    assert result.stderr.startswith("leocod: cut.json cannot be read (line 1")
    assert not Path("mine.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--responses",), "--responses is for --profile: add --profile"),
        (("--beside", "a.json"), "--beside is for --profile: add --profile"),
        (("--profile", "--seeds", "0"), "--seeds is for --responses: add --responses"),
        (("--profile", "--jobs", "2"), "--jobs is for --responses"),
        (("--profile", "--beside", "nothing.json"), "nothing.json: no such profile"),
        (("--profile", "--out", "a.png"), "should be a .json file with --profile"),
        (("--profile", "--responses", "--seeds", "0,x"), "--seeds is '0,x'"),
        (("--profile", "--set", "step=3"), "benchmark.step: unknown key"),
    ],
)
def test_options_of_a_profile_that_cannot_be_followed_are_refused(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused("show", "wander", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("typo.yaml", "--profile"), "labels.per_stp: unknown key"),
        (("none.yaml", "--profile"), "No config file 'none.yaml'"),
        (("oak", "--profile", "--responses"), "--responses runs a detector on 'oak': write a config file"),
    ],
)
def test_a_target_that_cannot_be_measured_is_refused(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused("show", *arguments)
