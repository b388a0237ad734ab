from pathlib import Path

import pytest
from PIL import Image as PillowImage
from typer.testing import CliRunner, Result

from leocod import __version__
from leocod.cli.main import app
from leocod.files.atomic import write_text
from leocod.run.config import load_config

COMMANDS = ("run", "report", "list", "show", "predict", "export", "pretrain", "paper", "score")


def leocod(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, arguments)


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_help_names_every_command() -> None:
    result = leocod("--help")

    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.output
        assert leocod(command, "--help").exit_code == 0


def test_the_help_of_run_names_every_option() -> None:
    text = leocod("run", "--help").output

    for option in (
        *("--benchmark", "--detector", "--strategy", "--efficient-cls", "--no-efficient-cls", "--labels", "--steps"),
        *("--evaluate-every", "--seed", "--device", "--threads", "--set", "--out", "--resume"),
    ):
        assert option in text


def test_the_version_is_told() -> None:
    assert leocod("--version").output.strip() == f"leocod {__version__}"


def test_show_writes_a_contact_sheet_and_tells_counts() -> None:
    result = leocod("show", "wander", "--set", "steps=2", "--set", "width=64", "--set", "height=48", "--out", "a/b.png")

    assert result.exit_code == 0, result.output
    assert "2 steps, 32 training and 2 test frames" in result.output
    with PillowImage.open("a/b.png") as sheet:
        assert sheet.width > 64


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "none.yaml"), "No config file 'none.yaml'"),
        (("run", "typo.yaml"), "labels.per_stp: unknown key. Did you mean 'per_step'?"),
        (("run", "--labels", "17"), "labels.per_step is 17: it should be from 0 to 16"),
        (("run", "--labels", "-1"), "labels.per_step is -1"),
        (("run", "--steps", "0"), "benchmark.steps is 0: it should be at least 1"),
        (("run", "--steps", "many"), "--steps"),
        (("run", "--evaluate-every", "0"), "evaluate.every is 0"),
        (("run", "--seed", "-1"), "seed is -1"),
        (("run", "--threads", "0"), "threads is 0"),
        (("run", "--device", "cuda:99"), "device is 'cuda:99'"),
        (("run", "--strategy", "icral"), "No strategy 'icral'. Did you mean 'icarl'?"),
        (("run", "--detector", "tinny"), "No detector 'tinny'. Did you mean 'tiny'?"),
        (("run", "--benchmark", "wonder"), "No benchmark 'wonder'. Did you mean 'wander'?"),
        (("run", "--set", "seed"), "'seed' is not an override"),
        (("run", "--set", "sed=1"), "sed: unknown key. Did you mean 'seed'?"),
        (("run", "--set", "detector.weights=none.safetensors"), "No weights file none.safetensors"),
        (("run", "--no-efficient-cls", "--set", "efficient_cls.keep=0.5"), "remove one"),
        (("run", "--out", "other_run"), "other_run already holds a run (wander, icarl with Efficient-CLS"),
        (("run", "--out", "typo.yaml"), "typo.yaml is a file"),
        (("run", "--strategi", "icarl"), "--strategi"),
        (("rnu",), "rnu"),
        (("--vresion",), "--vresion"),
        (("report", "none"), "none is not a directory"),
        (("report",), "Missing argument"),
        (("show", "wonder"), "No benchmark 'wonder'"),
        (("show", "wander", "--set", "step=3"), "benchmark.step: unknown key. Did you mean 'steps'?"),
        (("show", "wander", "--out", "sheet.doc"), "should be a .png file"),
        (("predict", "none", "typo.yaml"), "none is not a run directory"),
        (("run", "--resume", "none"), "none is not a run directory"),
        (("run", "--resume", "other_run", "--out", "new"), "--out cannot be combined with --resume"),
        (("predict", "other_run", "none.png"), "No file or folder 'none.png'"),
        (("pretrain", "--set", "step=3"), "step: unknown key. Did you mean 'steps'?"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "typo.yaml").write_text("labels: {per_stp: 3}\n")
    write_text(tmp_path / "other_run" / "config.yaml", load_config().to_yaml())
    before = sorted(tmp_path.rglob("*"))

    result = leocod(*arguments)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.startswith("leocod: ")
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_without_arguments_it_shows_the_help() -> None:
    assert "Commands" in leocod().output


def test_a_run_does_not_go_on_with_other_settings_and_names_each_of_them(tmp_path: Path) -> None:
    write_text(tmp_path / "run" / "config.yaml", load_config().to_yaml())

    result = leocod("run", "--resume", "run", "--seed", "1", "--set", "labels.per_step=2", "--set", "workers=1")

    assert result.exit_code == 2
    assert "labels.per_step was 4 and is 2; seed was 0 and is 1." in result.stderr
    assert "workers" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
