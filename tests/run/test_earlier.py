"""A run that goes on from an earlier one: it begins with all that was learnt, and tries the earlier test again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from digests import digests
from PIL import Image

from leocod.conformance.rules import find_difference
from leocod.errors import InvalidConfig, InvalidData, InvalidRun
from leocod.events import StepLearned
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.run.config import load_config, load_successor_config
from leocod.run.experiment import build, load_learner
from leocod.run.layers import parse_override
from leocod.run.record.given_labels import read_given_labels
from leocod.run.session import resume_experiment, run_experiment
from leocod.sinks.base import BaseSink
from leocod.strategies.base import STRATEGIES
from leocod.training.gradients import hash_tensors

SMALLEST = (
    "benchmark={name: wander, steps: 3, frames_per_step: 3, width: 40, height: 32, places: 1}",
    "benchmark={instances: 3, classes: 2}",
    "detector={weights: null, short_side: 32, regions: 8, proposals: 12}",
    "efficient_cls={score_threshold: 0.2}",
    "labels.per_step=2",
    "evaluate={every: 2, start: false}",
    "checkpoint.every=1",
)


KNOWING = (
    "benchmark={name: wander, steps: 3, frames_per_step: 3, places: 1, instances: 16, classes: 12}",
    "detector={weights: start}",
)
"""Larger frames, and a detector that finds something in them."""


@pytest.fixture(autouse=True)
def _quick_report(monkeypatch):
    """The report has tests of its own, and takes longer than these runs."""
    monkeypatch.setattr("leocod.run.session.write_report", lambda runs, file: file.write_text("a report"))


def run(path, *texts):
    run_experiment(load_config(None, [parse_override(text) for text in (*SMALLEST, *texts)]), path)
    return path


@pytest.fixture
def first(tmp_path):
    return run(tmp_path / "first")


def succeed(path, *texts):
    """The config of a run that goes on from another, with another stream."""
    layers = [parse_override(text) for text in ("benchmark.seed=9", *texts)]
    return load_successor_config(RunDirectory.open(path), overrides=layers)


def read_state(path):
    found = read_newest_checkpoint(path / "checkpoints")
    assert found is not None
    return found[1]["learner"]


def list_tensors(state, where=""):
    """Every tensor in a state, by its place."""
    if isinstance(state, torch.Tensor):
        return {where: state}
    places = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    return {name: tensor for key, part in places for name, tensor in list_tensors(part, f"{where}/{key}").items()}


@pytest.mark.parametrize("strategy", STRATEGIES.names())
@pytest.mark.parametrize("plugin", ["{}", "null"])
def test_it_begins_with_all_that_was_learnt(tmp_path, strategy, plugin):
    first = run(tmp_path / "first", f"strategy={strategy}", f"efficient_cls={plugin}")

    learner = build(succeed(first)).learner

    assert hash_tensors(list_tensors(learner.state_dict())) == hash_tensors(list_tensors(read_state(first)))


def test_no_frame_that_is_remembered_has_the_id_of_one_that_comes(first):
    memory = build(succeed(first)).learner.memory

    assert memory is not None
    assert memory.frames
    assert all(frame.id < 0 for frame, _ in memory.frames)


def test_new_classes_come_behind_those_that_are_known(first, tmp_path):
    run_experiment(succeed(first, "benchmark.classes=8", "benchmark.instances=12"), tmp_path / "second")

    learner, classes = load_learner(RunDirectory.open(tmp_path / "second"))

    known = load_learner(RunDirectory.open(first))[1]
    assert classes[: len(known)] == known
    assert len(classes) > len(known)
    assert classes == learner.classes


class BreaksOff(BaseSink):
    """Ends the run after its second step."""

    def __call__(self, event):
        if isinstance(event, StepLearned) and event.step == 1:
            raise KeyboardInterrupt


def test_it_can_be_resumed_to_the_bit_though_the_earlier_run_is_gone(first, tmp_path):
    config = succeed(first)
    run_experiment(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(config, tmp_path / "broken", [BreaksOff()])
    shutil.rmtree(first)

    resume_experiment(config, tmp_path / "broken")

    assert digests(tmp_path / "broken") == digests(tmp_path / "whole")


def test_the_earlier_test_is_tried_again(tmp_path):
    first = run(tmp_path / "first", *KNOWING)
    config = succeed(first, f"evaluate.also=[{first}]")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(config, tmp_path / "second", [BreaksOff()])
    results = resume_experiment(config, tmp_path / "second")

    assert results is not None
    before = json.loads((first / "results.json").read_text())["evaluations"][-1]
    assert before["ap"] > 5
    assert results.also["first"].start.ap_by_class == pytest.approx(before["ap_by_class"])
    assert [one.step for one in results.also["first"].evaluations] == [1, 2]
    assert results.start is not None


def test_its_classes_are_found_again_though_the_learner_has_other_numbers_for_them(tmp_path):
    second = tmp_path / "second"
    run_experiment(succeed(run(tmp_path / "first", *KNOWING), "benchmark.seed=0"), second)

    (retest,) = build(succeed(second, f"evaluate.also=[{second}]", "benchmark.classes=3")).retests

    last = json.loads((second / "results.json").read_text())["evaluations"][-1]
    assert last["ap"] > 0
    expected = {name: None if ap is None else ap / 100 for name, ap in last["ap_by_class"].items()}
    assert retest.evaluate() == pytest.approx(expected)


def test_one_that_is_not_finished_is_named(first, caplog):
    (first / "results.json").unlink()

    build(succeed(first))

    assert f"{first} is not finished: this run goes on from its step 3." in caplog.text


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["strategy=agem"], r"does not fit this config: .*strategy\.name was \"icarl\" and is \"agem\""),
        (["detector.short_side=40"], r"detector\.short_side was 32 and is 40"),
        (["efficient_cls.ema=false"], r"efficient_cls\.ema was true and is false"),
        (["classes=all"], "classes should be 'open'"),
        (["evaluate.also=[first, first]"], "two runs of one name"),
    ],
)
def test_what_does_not_fit_is_refused(first, monkeypatch, texts, message):
    monkeypatch.chdir(first.parent)

    with pytest.raises(InvalidConfig, match=message):
        build(succeed(Path("first"), *texts))


def test_it_may_learn_from_each_step_more_often_than_the_earlier_run(first):
    once, twice = (build(succeed(first, f"strategy.rounds={rounds}")).learner for rounds in (1, 2))

    assert find_difference(once.state_dict(), twice.state_dict()) is None


def test_a_run_without_a_checkpoint_has_learnt_nothing_yet(first):
    shutil.rmtree(first / "checkpoints")

    with pytest.raises(InvalidRun, match="has no checkpoint yet"):
        build(succeed(first))


def write_labels(file, frames, boxes_at=4):
    """A box in each of these frames of a folder."""
    images = [{"id": number, "file_name": f"{number:03}.png", "width": 40, "height": 32} for number in frames]
    boxes = [{"id": n, "image_id": n, "category_id": 1, "bbox": [boxes_at, 4, 12, 12]} for n in frames]
    file.write_text(json.dumps({"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "mug"}]}))


def test_only_labels_that_are_new_are_learnt(tmp_path):
    film, labels = tmp_path / "film", tmp_path / "labels.json"
    film.mkdir()
    noise = np.random.default_rng(0)
    for number in range(40):
        Image.fromarray(noise.integers(0, 255, (32, 40, 3), dtype=np.uint8)).save(film / f"{number:03}.png")
    write_labels(labels, range(0, 15, 3))
    source = f"benchmark={{name: video, source: {film}, labels: {labels}}}"
    run_experiment(
        load_config(None, [parse_override(text) for text in (source, *SMALLEST[2:], "labels.per_step=16")]),
        tmp_path / "first",
    )
    # Two of the first step, one of the last one; with more labels, others would be held out.
    write_labels(labels, [*range(0, 15, 3), 7, 11, 38])

    layers = [parse_override(f"new_labels_since={tmp_path / 'first'}")]
    config = load_successor_config(RunDirectory.open(tmp_path / "first"), overrides=layers)
    results = run_experiment(config, tmp_path / "second")

    assert results is not None
    learnt, tested = (read_given_labels(RunDirectory.open(tmp_path / name)) for name in ("first", "second"))
    assert len(learnt.given) == 4
    assert learnt.tested <= tested.tested
    assert set(learnt.given).isdisjoint(tested.tested)
    assert len(tested.given) + len(tested.tested) == 8
    assert results.labelled_frames == len(tested.given) - 4
    with pytest.raises(InvalidData, match="No label is new"):
        build(
            load_successor_config(
                RunDirectory.open(tmp_path / "second"),
                overrides=[parse_override(f"new_labels_since={tmp_path / 'second'}")],
            )
        )
