from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from leocod.files.atomic import write_text
from leocod.run.config import load_config


def test_its_help_names_every_option(leocod: Callable[..., Result]) -> None:
    text = leocod("run", "--help").output

    for option in (
        *("--benchmark", "--detector", "--strategy", "--plugin", "--labels", "--steps"),
        *(
            "--evaluate-every",
            "--seed",
            "--device",
            "--threads",
            "--set",
            "--out",
            "--resume",
            "--from",
            "--new-labels",
        ),
    ):
        assert option in text


def test_a_run_is_not_resumed_with_other_settings_and_each_of_them_is_named(
    leocod: Callable[..., Result], tmp_path: Path
) -> None:
    write_text(tmp_path / "run" / "config.yaml", load_config().to_yaml())

    result = leocod("run", "--resume", "run", "--seed", "1", "--set", "labels.per_step=2", "--set", "workers=1")

    assert result.exit_code == 2
    assert "labels.per_step was 4 and is 2; seed was 0 and is 1." in result.stderr
    assert "workers" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_run_is_resumed_from_another_directory(
    leocod: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = {"benchmark": {"name": "video", "source": "frames", "labels": "labels.json"}}
    write_text(tmp_path / "project" / "runs" / "one" / "config.yaml", load_config(overrides=[layer]).to_yaml())
    write_text(tmp_path / "project" / "runs" / "one" / "environment.json", '{"working_directory": "../.."}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    lost = leocod("run", "--resume", "../project/runs/one").stderr
    (tmp_path / "project" / "frames").mkdir()
    found = leocod("run", "--resume", "../project/runs/one").stderr

    assert "frames: no such file or folder" in lost
    assert f"call: leocod run --resume {elsewhere}/../project/runs/one" in lost
    assert "no such" not in found
    assert "frames" in found


def test_a_run_without_a_checkpoint_begins_again_and_one_that_shows_nothing_says_so(
    leocod: Callable[..., Result], tmp_path: Path
) -> None:
    layer = {
        "benchmark": {"steps": 1, "frames_per_step": 2, "classes": 3, "places": 2},
        "detector": {"weights": None, "short_side": 48, "regions": 8, "proposals": 12},
        "labels": {"per_step": 1},
        "evaluate": {"start": False},
    }
    write_text(tmp_path / "run" / "config.yaml", load_config(overrides=[layer]).to_yaml())

    result = leocod("run", "--resume", "run")

    assert result.exit_code == 0, result.output
    often = "It saves every 100 steps and every 5 minutes; for more, add --set checkpoint.every=10."
    assert f"run has no checkpoint yet, so it begins again. {often}" in result.stdout
    # One step teaches a detector that knows nothing next to nothing.
    assert "in the test frames" in result.stdout
    assert "Label more frames, or learn more often from each step" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((), "wander-icarl+ecls-4of16-seed0"),
        (("--steps", "120"), "wander-icarl+ecls-4of16-seed0"),
        (("--steps", "10"), "wander-icarl+ecls-4of16-10steps-seed0"),
        (("standard.yaml",), "wander-icarl+ecls-4of16-seed0"),
        (("standard.yaml", "--steps", "120"), "wander-icarl+ecls-4of16-120steps-seed0"),
    ],
)
def test_the_directory_is_called_by_the_number_of_steps_where_that_is_not_the_usual_one(
    arguments: tuple[str, ...],
    name: str,
    leocod: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "standard.yaml").write_text("benchmark: wander\n")
    started: list[Path] = []
    monkeypatch.setattr("leocod.run.session.run_experiment", lambda config, out: started.append(out))

    leocod("run", *arguments)

    assert started == [Path("runs") / name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "none.yaml"), "No config file 'none.yaml'"),
        (("run", "typo.yaml"), "labels.per_stp: unknown key. Did you mean 'per_step'?"),
        (("run", "--labels", "17"), "labels.per_step is 17: it should be from 0 to 16"),
        (("run", "--labels", "-1"), "labels.per_step is -1"),
        (("run", "--steps", "0"), "benchmark.steps is 0: it should be at least 1"),
        (("run", "--steps", "many"), "--steps"),
        (("run", "--set", f"seed={'9' * 6000}"), "a number of more than 128 bits"),
        (("run", "--seed", "9" * 6000), "Invalid value for '--seed'"),
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
        (("run", "--plugin", "none", "--set", "efficient_cls.keep=0.5"), "remove one"),
        (("run", "--plugin", "eficient_cls"), "No plug-in 'eficient_cls'. Did you mean 'efficient_cls'?"),
        (("run", "--plugin", "none", "--efficient-cls"), "--plugin cannot be combined with --efficient-cls"),
        (("run", "--out", "other_run"), "other_run already holds a run (wander, icarl with Efficient-CLS"),
        (("run", "--out", "typo.yaml"), "typo.yaml is a file"),
        (("run", "--strategi", "icarl"), "--strategi"),
        (("run", "--resume", "none"), "none is not a run directory"),
        (("run", "--resume", "other_run", "--out", "new"), "--out cannot be combined with --resume"),
        (("run", "--resume", "other_run", "--from", "other_run"), "--from cannot be combined with --resume"),
        (("run", "--from", "none"), "none is not a run directory"),
        (("run", "--new-labels"), "--new-labels needs --from RUN"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(*arguments)
