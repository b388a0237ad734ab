"""Scores of a run that somebody else made, from its files alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from leocod.cli.main import app
from leocod.evaluation.coco_form import to_coco_truth
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.evaluator import Evaluator
from leocod.evaluation.metrics.base import compute_metrics, find_metrics, list_shipped
from leocod.evaluation.results import Results
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned, StepTested
from leocod.report.history import read_history
from leocod.run.record.detections import DetectionFiles, PrequentialFile
from leocod.run.record.results import ResultsFile
from leocod.sinks.jsonl import as_mapping
from leocod.types import Detections, Frame, LabelledFrame, Labels

CLASSES = ("mug", "book", "[b]car[/b]", "never there")
STEPS, EVERY = 12, 2
ABOUT: dict[str, Any] = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "icarl",
    "labels_per_step": 1,
    "seed": 0,
    **dict.fromkeys(("efficient_cls", "ema", "pseudo_labels"), False),
}


def some_frames(count: int) -> list[LabelledFrame]:
    random = np.random.default_rng(0)
    pixels = np.zeros((64, 64, 3), np.uint8)
    frames = []
    for number in range(count):
        corners = random.uniform(0, 40, (4, 2))
        labels = Labels(np.hstack([corners, corners + random.uniform(8, 20, (4, 2))]), random.integers(0, 3, 4))
        frames.append((Frame(number, "walk", number, (64, 64), pixels), labels))
    return frames


def guess(labels: Labels, seed: int, skill: float) -> Detections:
    """The true boxes, more or less, with classes mixed up now and then."""
    random = np.random.default_rng(seed)
    boxes = labels.boxes + random.normal(0, 6 * (1 - skill), labels.boxes.shape)
    classes = np.where(random.random(len(labels)) < 0.3, random.integers(0, 3, len(labels)), labels.classes)
    return Detections(boxes.astype(np.float32), classes, random.random(len(labels)).astype(np.float32))


def events_of(test: list[LabelledFrame], *, start: bool, prequential: bool) -> list[Event]:
    evaluator = Evaluator(test, CLASSES, every=EVERY, last_step=STEPS - 1)
    truth = dict(enumerate(labels for _, labels in test))

    def evaluated(step: int) -> Evaluated:
        found = [guess(labels, 100 * step + frame + 1000, (step + 1) / STEPS) for frame, labels in truth.items()]
        by_class, detections = evaluator.evaluate(lambda images: [found.pop(0) for _ in images])
        return Evaluated(step, by_class, 0.1, detections)

    events: list[Event] = [RunStarted("a run", CLASSES, STEPS, first_step=0)]
    events += [evaluated(-1)] if start else []
    for step in range(STEPS):
        if prequential:
            seen = {100 + step: truth[step % len(truth)]}
            events.append(StepTested(step, {id: guess(one, step, step / STEPS) for id, one in seen.items()}, seen))
        present = tuple(number for number in range(3) if (step + 3 * number) % 9 < 3)
        events.append(StepLearned(step, {}, (), present, present[:1], None, 0, {}))
        events += [evaluated(step)] if evaluator.due(step) else []
    return [*events, RunFinished(STEPS, 1.0)]


def write_run(
    path: Path, *, start: bool = False, prequential: bool = False, keep: int | None = None, config: str = "seed: 0\n"
) -> Path:
    test = some_frames(6)
    path.mkdir()
    (path / "config.yaml").write_text(config)
    (path / "test.json").write_text(json.dumps(to_coco_truth(test, CLASSES)))
    events = events_of(test, start=start, prequential=prequential)
    lines = [json.dumps(as_mapping(event)) for event in events if not isinstance(event, StepTested)]
    (path / "events.jsonl").write_text("\n".join(lines) + "\n")
    labels, metrics = SimpleNamespace(count=0, boxes=None, seconds=None), find_metrics(list_shipped())
    results = ResultsFile(path / "results.json", ABOUT, labels, Definitions(), metrics, single_pass=True)
    with DetectionFiles(path / "detections", keep=keep) as files, PrequentialFile(path / "detections") as file:
        for event in events:
            for sink in (files, file, results):
                sink(event)
    return path


def score(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["score", *map(str, arguments)])


def value(text: str, name: str) -> float:
    """As the table shows it."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"│ {name} ")]
    return float(line.split("│")[3].split()[0])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with everything that a metric may need."""
    return write_run(tmp_path_factory.mktemp("runs") / "whole", start=True, prequential=True)


def test_every_metric_is_that_of_the_results(whole: Path) -> None:
    text = score(whole).output
    stored = Results.model_validate_json((whole / "results.json").read_bytes())

    assert set(stored.scores) == set(list_shipped())
    for name, expected in stored.scores.items():
        assert expected is not None
        assert value(text, name) == pytest.approx(expected, abs=1e-6)
    assert "not computed" not in text


def test_it_is_the_same_to_the_last_digit(whole: Path) -> None:
    stored = Results.model_validate_json((whole / "results.json").read_bytes())

    assert compute_metrics(find_metrics(list_shipped()), read_history(whole)) == stored.scores


def test_what_was_not_measured_is_said_with_the_option(tmp_path: Path) -> None:
    text = score(write_run(tmp_path / "run")).output

    assert "fwt: not computed. There was no evaluation before the first step (evaluate.start: true).\n" in text
    assert "prequential: not computed. The training frames were not tried" in text
    assert "│ bwt " in text


def test_with_few_detections_kept_only_what_the_last_one_tells_is_computed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", keep=2)

    text = score(run, "--metric", "fap", "--metric", "cap").output

    stored = Results.model_validate_json((run / "results.json").read_bytes())
    assert value(text, "fap") == pytest.approx(stored.scores["fap"], abs=1e-6)
    assert "cap: not computed. The detections of 4 of 6 evaluations were not kept (record.detections).\n" in text


def test_a_metric_that_is_not_defined_says_why(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    lines = (run / "events.jsonl").read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"single_pass": False})
    (run / "events.jsonl").write_text("\n".join(lines))

    text = score(run, "--metric", "forgetting").output

    assert "forgetting: not computed. No class was evaluated after different times away, or frames came more" in text


def test_a_metric_of_ones_own_is_computed_for_an_old_run(whole: Path) -> None:
    result = score(whole, "--metric", "own_metric:WorstClass")

    stored = Results.model_validate_json((whole / "results.json").read_bytes())
    known = [ap for ap in stored.evaluations[-1].ap_by_class.values() if ap is not None]
    assert result.exit_code == 0, result.output
    assert value(result.output, "worst_class") == pytest.approx(min(known), abs=1e-6)
    assert "│ fap " not in result.output


def test_the_definitions_are_those_of_the_config(tmp_path: Path, whole: Path) -> None:
    run = write_run(tmp_path / "run", config="evaluate: {ap: voc, metrics: ['no_such_module:Metric']}\n")

    text = score(run, "--metric", "fap").output

    assert "FAP, mean VOC AP50 at the end" in text
    assert value(text, "fap") != value(score(whole, "--metric", "fap").output, "fap")


def test_several_runs_come_one_after_the_other(whole: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other")

    text = score(whole, other, "--metric", "fap").output

    assert text.index("whole") < text.index("other")
    assert text.count("│ fap ") == 2


def test_errors_are_counted_by_class_and_in_all(whole: Path) -> None:
    text = score(whole, "--errors").output

    assert f"detections with a score of at least 0.3 after step {STEPS}" in text
    assert all(word in text for word in ("missed", "wrong", "badly", "duplicate", "background"))
    lines = [line.rsplit(maxsplit=7) for line in text.splitlines()[1:]]
    rows = {line[0].strip(): [int(cell) for cell in line[1:]] for line in lines if line and line[-1].isdecimal()}
    assert set(rows) == {*CLASSES, "all"}
    assert rows["all"] == np.sum([rows[name] for name in CLASSES], axis=0).tolist()
    assert rows["all"][0] == 24
    assert "FAP" not in text


def test_errors_and_a_metric_can_be_had_at_once(whole: Path) -> None:
    text = score(whole, "--errors", "--metric", "fap").output

    assert "background" in text
    assert "│ fap " in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "nowhere is not a directory"),
        (["nowhere", "--metric", "fab"], "No metric 'fab'. Did you mean 'fap'?"),
        (["nowhere", "--metric", "fap", "--metric", "fap"], "Two metrics are called 'fap'"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    result = score(*(tmp_path / one if one == "nowhere" else one for one in arguments))

    assert result.exit_code == 2
    assert complaint in result.output
    assert len(result.output.splitlines()) == 1


def test_it_does_without_torch(whole: Path) -> None:
    command = (
        "import sys; from typer.testing import CliRunner; import leocod.cli.main as c; "
        f"done = CliRunner().invoke(c.app, ['score', {str(whole)!r}, '--errors', '--metric', 'fap']); "
        "sys.exit(done.exit_code or 'torch' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", command], env=environment, check=False).returncode == 0
