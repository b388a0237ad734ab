"""The main job by its command, on a small stretch of a small world."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from digests import digests
from PIL import Image as PillowImage
from typer.testing import CliRunner

from leocod.cli.main import app
from leocod.evaluation.ap import average_precision
from leocod.evaluation.continual import cap, fap, forgetting, presence_table
from leocod.evaluation.definitions import Definitions
from leocod.events import StepArrived
from leocod.files.checkpoint import read_checkpoint
from leocod.run.config import load_config
from leocod.types import Detections, Labels

SMALL = (
    *("--steps", "4", "--evaluate-every", "2", "--set", "evaluate.start=false", "--threads", "1"),
    *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
    *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
)
RESULTS = {
    *("benchmark", "detector", "strategy", "efficient_cls", "ema", "pseudo_labels", "plus", "labels_per_step", "seed"),
    *("steps",),
    *("labelled_frames", "labelled_boxes", "labelling_seconds", "labels_nested", "metrics"),
    *("skipped_frames", "skipped_test_frames"),
    *("scores", "definitions", "start", "pseudo_label_counts", "pseudo_label_groups", "pseudo_label_periods"),
    *("pseudo_label_check", "also"),
    *("refused_steps", "warnings"),
    *("diagnosis", "evaluations", "seconds", "seconds_by_part", "memory_bytes", "peak_ram_bytes"),
    *("updates", "frames_trained_on"),
}


def leocod(*arguments: object) -> str:
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def figures(run: Path) -> dict[str, Any]:
    """results.json without what depends on the clock and on the machine."""
    measured = ("seconds", "peak_ram")
    return {key: value for key, value in read(run / "results.json").items() if not key.startswith(measured)}


def weights(run: Path) -> dict[str, torch.Tensor]:
    learner = read_checkpoint(run / "checkpoints" / "step_00003.pt")["learner"]
    found: dict[str, torch.Tensor] = learner["slow"]["weights"]
    return found


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "first"
    text = leocod("run", *SMALL, "--out", run)
    assert "FAP" in text
    assert "report.html" in text
    return run


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By the second choice of every metric, from weights that find something, so that the choice matters."""
    run = tmp_path_factory.mktemp("runs") / "second"
    text = leocod(
        *("run", *SMALL, "--steps", "12", "--evaluate-every", "1", "--labels", "2", "--set", "labels.nested=true"),
        *("--set", "benchmark={width: 96, height: 72}", "--set", "detector={weights: start, short_side: 72}"),
        *("--set", "evaluate={ap: voc, forgetting_bins: 3, forgetting_weights: oak, presence: labelled}"),
        *("--out", run),
    )
    assert "FAP, mean VOC AP50 at the end" in text
    # One by one: a narrow terminal breaks the line somewhere among them.
    assert all(words in text for words in ("forgetfulness", "3 bins", "OAK", "presence"))
    assert "2 labelled frames a step (nested)" in text
    return run


def test_the_run_directory_is_complete(first: Path) -> None:
    for name in (
        *("config.yaml", "environment.json", "events.jsonl", "labels.json", "test.json", "results.json"),
        *("memory.json", "report.html", "detections/step_00001.json", "detections/step_00003.json"),
        *("checkpoints/step_00003.pt", "samples/samples.json"),
    ):
        assert (first / name).is_file(), name
    assert not [file for file in first.rglob("*") if file.name.endswith(".part")]


def test_results_have_every_key_and_count_right(first: Path) -> None:
    results = read(first / "results.json")

    assert set(results) == RESULTS
    assert (results["steps"], results["labelled_frames"], results["labels_per_step"]) == (4, 16, 4)
    assert [one["step"] for one in results["evaluations"]] == [1, 3]
    assert results["scores"]["fap"] == results["evaluations"][-1]["ap"]
    assert list(results["scores"]) == list(results["metrics"]) == ["fap", "cap", "forgetting", "bwt"]
    assert results["pseudo_label_counts"]["frames"] == 48
    assert [(one["first_step"], one["last_step"]) for one in results["pseudo_label_periods"]] == [(0, 1), (2, 3)]
    # 16 frames of each step, labelled or pseudo-labelled, and from the second step on 16 replayed ones.
    assert (results["updates"], results["frames_trained_on"]) == (7, 112)
    assert results["memory_bytes"] > 0
    assert results["peak_ram_bytes"] > 100e6
    assert {"stream", "train", "pseudo labels", "evaluate"} <= set(results["seconds_by_part"])


def test_the_config_is_complete_and_runs_the_same_again(first: Path, tmp_path: Path) -> None:
    config = yaml.safe_load((first / "config.yaml").read_text())
    assert config["strategy"]["memory_per_class"] == 5
    assert load_config(first / "config.yaml").model_dump(mode="json") == config

    leocod("run", first / "config.yaml", "--out", tmp_path / "again")

    assert figures(tmp_path / "again") == figures(first)
    assert equal(weights(tmp_path / "again"), weights(first))


def test_labels_name_as_many_frames_of_each_step_as_asked_for(first: Path) -> None:
    labels = read(first / "labels.json")

    assert labels["per_step"] == 4
    assert {step: len(ids) for step, ids in labels["frames"].items()} == {"0": 4, "1": 4, "2": 4, "3": 4}


@pytest.mark.parametrize("name", ["first", "second"])
def test_every_figure_can_be_recomputed_from_the_files_alone(name: str, request: pytest.FixtureRequest) -> None:
    run: Path = request.getfixturevalue(name)
    evaluate, results = load_config(run / "config.yaml").evaluate, read(run / "results.json")

    table = recomputed(run, evaluate.definitions)
    forgetfulness = recomputed_forgetting(run, evaluate.definitions)

    names = [category["name"] for category in read(run / "test.json")["categories"]]
    stored = [[one["ap_by_class"][name] for name in names] for one in results["evaluations"]]
    np.testing.assert_array_equal(table, np.array(stored, np.float64))
    assert results["definitions"] == evaluate.definitions.model_dump()
    assert (results["scores"]["fap"], results["scores"]["cap"]) == (fap(table), cap(table))
    assert results["scores"]["forgetting"] == forgetfulness


@pytest.mark.parametrize("name", ["first", "second"])
def test_leocod_score_gives_the_figures_of_the_run(name: str, request: pytest.FixtureRequest) -> None:
    run: Path = request.getfixturevalue(name)

    text = leocod("score", run)

    for metric, value in read(run / "results.json")["scores"].items():
        if value is None:
            assert f"{metric}: not computed." in text
        else:
            assert f" {value:.6f} points" in text


def test_the_second_choices_are_other_figures(second: Path) -> None:
    chosen = Definitions.model_validate(read(second / "results.json")["definitions"])

    assert cap(recomputed(second, chosen)) != cap(recomputed(second, Definitions()))
    for key in ("forgetting_bins", "forgetting_weights", "presence"):
        usual = chosen.model_copy(update={key: getattr(Definitions(), key)})
        assert recomputed_forgetting(second, chosen) != recomputed_forgetting(second, usual), key


def recomputed(run: Path, chosen: Definitions) -> np.ndarray[Any, Any]:
    """AP in points, evaluations x classes, from the true boxes and the detections."""
    test = read(run / "test.json")
    truth = {image["id"]: Labels.none() for image in test["images"]}
    for frame in truth:
        rows = [one for one in test["annotations"] if one["image_id"] == frame]
        truth[frame] = Labels(_corners(rows), np.array([one["category_id"] - 1 for one in rows], np.int64))
    table = []
    for file in sorted((run / "detections").iterdir()):
        stored, found = read(file), {}
        for frame in truth:
            rows = [one for one in stored if one["image_id"] == frame]
            found[frame] = Detections(
                _corners(rows),
                np.array([one["category_id"] - 1 for one in rows], np.int64),
                np.array([one["score"] for one in rows], np.float32),
            )
        table.append(100 * average_precision(found, truth, len(test["categories"]), style=chosen.ap))
    return np.array(table)


def recomputed_forgetting(run: Path, chosen: Definitions) -> float | None:
    """From the recomputed table, and what each step was told to have shown."""
    table = recomputed(run, chosen)
    told = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    key = {"stream": "present", "labelled": "labelled"}[chosen.presence]
    seen = {event["step"]: event[key] for event in told if event["event"] == "StepLearned"}
    presence = presence_table(seen, steps=len(seen), classes=table.shape[1])
    evaluated = [event["step"] for event in told if event["event"] == "Evaluated"]
    value = forgetting(table, evaluated, presence, bins=chosen.forgetting_bins, weights=chosen.forgetting_weights)
    return None if np.isnan(value) else value


def _corners(rows: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    boxes = np.array([one["bbox"] for one in rows], np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes.astype(np.float32)


def test_evaluating_more_often_changes_nothing_that_is_learnt(first: Path, tmp_path: Path) -> None:
    leocod("run", *SMALL, "--evaluate-every", "1", "--out", tmp_path / "often")

    assert len(read(tmp_path / "often" / "results.json")["evaluations"]) == 4
    assert figures(tmp_path / "often")["scores"]["fap"] == figures(first)["scores"]["fap"]
    assert equal(weights(tmp_path / "often"), weights(first))


def test_evaluating_before_the_first_step_gives_forward_transfer_and_changes_nothing_else(
    first: Path, tmp_path: Path
) -> None:
    text = leocod("run", *SMALL, "--set", "evaluate.start=true", "--out", tmp_path / "started")

    results, usual = read(tmp_path / "started" / "results.json"), read(first / "results.json")
    assert "step 0: AP50" in text
    assert (tmp_path / "started" / "detections" / "start.json").is_file()
    assert results["start"]["ap_by_class"].keys() == results["evaluations"][0]["ap_by_class"].keys()
    assert "fwt" in results["scores"]
    assert results["evaluations"] == usual["evaluations"]
    assert equal(weights(tmp_path / "started"), weights(first))
    assert "fwt" in leocod("score", tmp_path / "started", "--metric", "fwt")


def test_trying_frames_before_they_are_learnt_gives_prequential_precision_and_changes_nothing_else(
    first: Path, tmp_path: Path
) -> None:
    leocod("run", *SMALL, "--set", "evaluate.prequential=true", "--out", tmp_path / "tried")

    results, usual = read(tmp_path / "tried" / "results.json"), read(first / "results.json")
    lines = (tmp_path / "tried" / "detections" / "prequential.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 1, 2, 3]
    assert 0 <= results["scores"]["prequential"] < 100
    assert results["evaluations"] == usual["evaluations"]
    assert equal(weights(tmp_path / "tried"), weights(first))
    expected = f"{results['scores']['prequential']:.6f} points"
    assert expected in leocod("score", tmp_path / "tried", "--metric", "prequential")


def test_another_seed_is_another_run(first: Path, tmp_path: Path) -> None:
    leocod("run", *SMALL, "--seed", "1", "--out", tmp_path / "other")

    assert not equal(weights(tmp_path / "other"), weights(first))
    assert read(tmp_path / "other" / "labels.json") != read(first / "labels.json")


def test_the_diagnosis_is_named_in_every_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    text = leocod("run", *SMALL, "--set", "diagnosis=true_boxes")

    (run,) = (tmp_path / "runs").iterdir()
    assert run.name == "wander-icarl+ecls-4of16-4steps-seed0-true_boxes"
    assert read(run / "results.json")["diagnosis"] == "true boxes as pseudo labels"
    assert "true boxes as pseudo labels" in text
    assert "true boxes as pseudo labels" in (run / "report.html").read_text()


def test_offline_training_has_no_forgetfulness(tmp_path: Path) -> None:
    leocod("run", *SMALL, "--strategy", "offline", "--plugin", "none", "--out", tmp_path / "offline")

    results = read(tmp_path / "offline" / "results.json")
    assert results["scores"]["forgetting"] is None
    assert results["scores"]["bwt"] is None
    assert results["pseudo_label_counts"] is None
    assert results["labelled_frames"] == 16
    assert len(results["evaluations"]) == 2


def test_two_runs_fit_in_one_report_and_the_learner_in_other_hands(first: Path, tmp_path: Path) -> None:
    leocod("report", first, first, "--out", tmp_path / "both.html")
    assert "<html" in (tmp_path / "both.html").read_text()

    PillowImage.fromarray(np.zeros((48, 64, 3), np.uint8)).save(tmp_path / "dark.png")
    leocod("predict", first, tmp_path / "dark.png", "--out", tmp_path / "found", "--threshold", "0.1")
    assert (tmp_path / "found" / "dark.png").is_file()
    assert len(read(tmp_path / "found" / "detections.json")["categories"]) == 20


def test_a_broken_off_run_leaves_files_that_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leocod.sinks.console import ConsoleProgress

    told = ConsoleProgress.__call__

    def press_control_c(self: ConsoleProgress, event: Any) -> None:
        told(self, event)
        if getattr(event, "step", 0) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(ConsoleProgress, "__call__", press_control_c)

    result = CliRunner().invoke(app, ["run", *SMALL, "--out", str(tmp_path / "half")])

    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    lines = [json.loads(line) for line in (tmp_path / "half" / "events.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["RunStarted", "StepLearned", "StepLearned", "Evaluated"]
    assert set(read(tmp_path / "half" / "labels.json")["frames"]) == {"0", "1"}
    assert not (tmp_path / "half" / "results.json").exists()


def test_a_run_that_was_broken_off_says_how_to_go_on_and_then_is_as_if_never_broken_off(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leocod.sinks.console import ConsoleProgress

    told = ConsoleProgress.__call__

    def ask_to_stop(self: ConsoleProgress, event: Any) -> None:
        told(self, event)
        if isinstance(event, StepArrived) and event.step == 2:
            signal.raise_signal(signal.SIGTERM)

    run = tmp_path / "a run"
    with monkeypatch.context() as patched:
        patched.setattr(ConsoleProgress, "__call__", ask_to_stop)
        result = CliRunner().invoke(app, ["run", *SMALL, "--out", str(run)])

    assert result.exit_code == 143
    assert result.stderr == f"leocod: Asked to stop by SIGTERM. Resume it with: leocod run --resume '{run}'\n"
    assert [file.name for file in (run / "checkpoints").iterdir()] == ["step_00002.pt"]

    text = leocod("run", "--resume", run)
    assert "resumed after step 3" in text
    assert "report.html" in text
    assert digests(run) == digests(first)

    again = leocod("run", "--resume", run)
    assert "FAP" in again
    assert "steps, 20 classes" not in again
    assert digests(run) == digests(first)
