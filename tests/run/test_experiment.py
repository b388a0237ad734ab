import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from leocod.benchmarks.base import Benchmark
from leocod.detectors.tiny import START
from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.evaluator import Evaluator
from leocod.files.atomic import write_text
from leocod.files.run_directory import RunDirectory
from leocod.plugins.diagnosis import BETTER
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.plugins.open_classes import OpenClasses
from leocod.run.config import ExperimentConfig, load_config
from leocod.run.experiment import Seeds, build, build_strategy, load_learner, name_run, wrap
from leocod.run.layers import parse_override
from leocod.run.session import run_experiment
from leocod.strategies.icarl import ICaRL
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled

SMALL = (
    "benchmark={name: wander, steps: 2, width: 64, height: 48, places: 2, instances: 4}",
    "detector={weights: null, short_side: 48, regions: 16, proposals: 24}",
    "threads=1",
)


def small(*texts: str) -> ExperimentConfig:
    return load_config(None, [parse_override(text) for text in (*SMALL, *texts)])


def test_the_plug_in_is_around_the_strategy() -> None:
    learner = build(small()).learner

    assert isinstance(learner, EfficientCLS)
    assert isinstance(learner.strategy, ICaRL)


def test_without_the_plug_in_the_strategy_is_bare() -> None:
    assert isinstance(build(small("efficient_cls=null")).learner, ICaRL)


def test_only_offline_training_gets_the_stream_reshuffled() -> None:
    assert isinstance(build(small()).stream, Stream)

    offline = build(small("strategy=offline", "strategy.epochs=3")).stream

    assert isinstance(offline, Reshuffled)
    assert offline.shuffle.epochs == 3


def test_a_learner_holds_nothing_of_the_benchmark_after_learning(reachable: Callable[[object], list[object]]) -> None:
    experiment = build(small())
    hidden = []
    for arrival in experiment.stream.arrivals():
        experiment.learner.learn(arrival.step)
        hidden += [labels for frame_id, labels in arrival.truth.items() if frame_id not in arrival.step.labels]
    held = reachable(experiment.learner)

    assert any(one is experiment.learner.memory for one in held)
    assert not any(isinstance(one, Benchmark | Stream | Evaluator) for one in held)
    assert hidden
    assert not any(one is labels for one in held for labels in hidden)


def test_true_boxes_reach_the_learner_in_the_diagnosis_only() -> None:
    def pseudo_labels(*texts: str) -> int:
        experiment = build(small(*texts))
        step = next(experiment.stream.arrivals()).step
        return sum(len(labels) for labels in experiment.learner.learn(step).pseudo.values())

    arrival = next(build(small()).stream.arrivals())
    hidden = sum(len(arrival.truth[frame.id]) for frame in arrival.step.unlabelled)

    assert hidden > 0
    assert pseudo_labels("diagnosis=true_boxes") == hidden
    assert pseudo_labels("efficient_cls.score_threshold=1") == 0
    assert pseudo_labels("diagnosis=right_labels", "efficient_cls.score_threshold=1") == 0


def test_seeds_differ_by_purpose_and_by_seed() -> None:
    seeds = [value for seed in (0, 1) for value in vars(Seeds.of(seed)).values()]

    assert len(set(seeds)) == len(seeds)
    assert Seeds.of(0) == Seeds.of(0)


def test_the_seed_chooses_the_labels_unless_they_have_their_own() -> None:
    def labelled(*texts: str) -> list[int]:
        return list(next(build(small(*texts)).stream.steps()).labels)

    assert labelled("seed=1") != labelled("seed=2")
    assert labelled("seed=1", "labels.seed=5") == labelled("seed=2", "labels.seed=5")


def test_nested_labels_of_a_smaller_budget_are_among_those_of_a_larger_one() -> None:
    def labelled(budget: int, *, nested: str) -> set[int]:
        experiment = build(small("benchmark.steps=8", f"labels.per_step={budget}", f"labels.nested={nested}"))
        return {frame_id for step in experiment.stream.steps() for frame_id in step.labels}

    assert labelled(2, nested="true") < labelled(4, nested="true")
    assert not labelled(2, nested="false") < labelled(4, nested="false")


def test_the_evaluator_scores_as_the_config_says() -> None:
    assert build(small()).evaluator.ap_name == "AP50"
    assert build(small("evaluate.ap=voc")).evaluator.ap_name == "VOC AP50"


def test_the_label_choice_is_the_same_for_every_strategy() -> None:
    def labelled(strategy: str) -> dict[int, tuple[int, ...]]:
        arrivals = build(small(f"strategy={strategy}")).stream.arrivals()
        return {step: ids for arrival in arrivals for step, ids in arrival.revealed.items()}

    assert labelled("icarl") == labelled("incremental") == labelled("offline")


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ((), "wander-icarl+ecls-4of16-seed0"),
        (("efficient_cls=null", "labels.per_step=1", "seed=3"), "wander-icarl-1of16-seed3"),
        (("efficient_cls.pseudo_labels=false",), "wander-icarl+ema-4of16-seed0"),
        (("efficient_cls.ema=false",), "wander-icarl+pseudo-4of16-seed0"),
        (("labels={per_step: null, total: 90}",), "wander-icarl+ecls-90intotal-seed0"),
        (("labels={per_step: null, per_hour: 60, frames_per_second: 2}",), "wander-icarl+ecls-60perhour-seed0"),
        (("diagnosis=true_boxes",), "wander-icarl+ecls-4of16-seed0-true_boxes"),
        (("strategy=leocod.strategies.base:Strategy",), "wander-leocod.strategies.base.Strategy+ecls-4of16-seed0"),
    ],
)
def test_a_run_is_named_after_what_it_is(texts: tuple[str, ...], name: str) -> None:
    assert name_run(small(*texts)) == name


def test_a_run_of_another_length_is_called_by_it():
    assert name_run(small(), steps=1) == "wander-icarl+ecls-4of16-1step-seed0"
    assert name_run(small(), steps=10) == "wander-icarl+ecls-4of16-10steps-seed0"


@pytest.mark.parametrize("device", ["cuda:99", "gpu", ""])
def test_a_device_that_is_not_there_is_told(device: str) -> None:
    with pytest.raises(InvalidConfig, match=f"device is '{device}'"):
        build(small().model_copy(update={"device": device}))


def test_a_damaged_checkpoint_is_told(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    write_text(directory.checkpoints / "step_00001.pt", "not a checkpoint")

    with pytest.raises(InvalidRun, match=r"step_00001.pt cannot be loaded"):
        load_learner(directory)


@pytest.mark.parametrize("kind", ["true_boxes", *BETTER])
def test_a_diagnosis_cannot_go_on_without_its_truth(kind: str) -> None:
    experiment = build(small(f"diagnosis={kind}"))
    classes = experiment.benchmark.classes
    alone = wrap(experiment.config, build_strategy(experiment.config, classes), classes, None)
    step = next(experiment.stream.arrivals()).step

    experiment.learner.learn(step)
    with pytest.raises(InvalidRun, match="Only the benchmark of this diagnosis knows the true boxes"):
        alone.learn(step)


def test_evaluating_does_not_touch_what_is_learnt() -> None:
    def weights(*, evaluate: bool) -> Any:
        experiment = build(small())
        for step in experiment.stream.steps():
            experiment.learner.learn(step)
            if evaluate:
                experiment.evaluator.evaluate(experiment.learner.predict)
        return experiment.learner.state_dict()["slow"]["weights"]

    with_evaluations, without = weights(evaluate=True), weights(evaluate=False)

    assert all(bool((with_evaluations[name] == without[name]).all()) for name in without)


def processed(root: Path) -> Path:
    """Two steps of two frames and a test frame, with a published choice of one labelled frame a step."""
    folder = root / "oak"
    rows = [f"step_0000{number // 3},oak/annotations/{number}.json" for number in range(6)]
    for number in range(6):
        content = {"file_name": f"{number}.png", "height": 48, "width": 64, "annotations": []}
        if number != 3:
            content["annotations"] = [{"category": "mug", "bbox": [5, 5, 30, 40], "bbox_mode": 0}]
        write_text(folder / "annotations" / f"{number}.json", json.dumps(content))
        (folder / "images").mkdir(exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
    write_text(folder / "mapping.json", '{"mug": 0, "book": 1}')
    chosen = [f"{rows[number]},{flag}" for number, flag in ((0, 0), (1, 1), (3, 1), (4, 0))]
    write_text(folder / "train_anno1.csv", "\n".join(["step_name,json_file,oracle", *chosen]))
    write_text(folder / "test.csv", "\n".join(["step_name,json_file", rows[2], rows[5]]))
    return root


def test_the_given_choice_of_labels_is_followed(tmp_path: Path) -> None:
    own = f"benchmark={{name: oak, root: {processed(tmp_path)}}}"
    config = small(own, "labels.per_step=1", "labels.name=fixed")

    steps = list(build(config).stream.steps())

    assert [[int(frame.id) for frame, _ in step.labelled()] for step in steps] == [[1], [3]]
    assert [len(step.labels[number]) for step, number in zip(steps, (1, 3), strict=True)] == [1, 0]


def test_a_choice_that_is_not_given_is_told() -> None:
    with pytest.raises(InvalidConfig, match="wander has no published choice of 4 frames a step"):
        build(small("labels.name=fixed"))


def test_an_open_class_list_starts_with_what_the_weights_know() -> None:
    known = build(small("detector.weights=start", "classes=open")).learner
    nothing = build(small("classes=open")).learner

    assert isinstance(known, OpenClasses)
    assert known.classes == ("mug", "chair", "book", "lamp", "car", "bench", "bottle", "plant")
    assert nothing.classes == ()


def test_a_run_with_an_open_class_list_can_be_used_afterwards(tmp_path: Path) -> None:
    run_experiment(small("classes=open", "labels.per_step=16"), tmp_path / "run")

    learner, classes = load_learner(RunDirectory.open(tmp_path / "run"))

    assert classes == learner.classes
    assert 0 < len(classes) <= 20
    assert learner.remembered_frames()
    memory = json.loads((tmp_path / "run" / "memory.json").read_text())
    assert list(memory["by_class"]) == list(learner.classes)


def test_a_run_needs_the_file_that_it_started_from_no_more(tmp_path: Path) -> None:
    start = tmp_path / "start.safetensors"
    shutil.copy(START, start)
    run_experiment(small(f"detector.weights={start}"), tmp_path / "run")
    image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    before = load_learner(RunDirectory.open(tmp_path / "run"))[0].predict([image])[0]

    start.unlink()
    after = load_learner(RunDirectory.open(tmp_path / "run"))[0].predict([image])[0]

    np.testing.assert_array_equal(after.boxes, before.boxes)


def test_how_it_computes_reaches_the_detector() -> None:
    learner = build(small("precision=bfloat16", "frames_at_once=3")).learner

    assert isinstance(learner, EfficientCLS)
    for detector in (learner.slow, learner.strategy.detector):
        assert (detector.precision, detector.frames_at_once) == ("bfloat16", 3)


def test_a_replay_that_is_too_large_for_the_stream_is_told_whatever_the_detector_knows_yet() -> None:
    for classes in ("all", "open"):
        with pytest.raises(InvalidConfig, match="replay_per_step is 200: it should be from 1 to 40"):
            build(small("strategy.replay_per_step=200", f"classes={classes}"))


def test_the_diagnosis_needs_the_truth_about_every_frame(tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    folder.mkdir()
    for number in range(4):
        Image.fromarray(np.zeros((48, 64, 3), np.uint8)).save(folder / f"{number}.png")
    images = [{"id": 1, "file_name": "0.png", "height": 48, "width": 64}]
    content = {"images": images, "annotations": [], "categories": [{"id": 1, "name": "mug"}]}
    write_text(tmp_path / "labels.json", json.dumps(content))
    own = f"benchmark={{name: video, source: {folder}, labels: {tmp_path / 'labels.json'}, hold_out: 0}}"
    experiment = build(small(own, "diagnosis=true_boxes", "labels.per_step=1"))
    step = next(experiment.stream.arrivals()).step

    with pytest.raises(InvalidConfig, match="nobody has labelled frame 1 of"):
        experiment.learner.learn(step)


def test_the_classes_that_the_starting_weights_know_are_told_where_pseudo_labels_are_counted() -> None:
    config = small("detector.weights=start")
    known = config.detector.find().known_classes(config.detector.options)
    parts = build(config).parts

    assert parts.known_classes == tuple(name for name in parts.evaluator.classes if name in known)
    assert build(small("detector.weights=null")).parts.known_classes == ()
    assert build(small("efficient_cls=null")).parts.known_classes is None


def test_in_a_diagnosis_the_labeller_is_not_checked() -> None:
    def check(*texts: str) -> object:
        experiment = build(small(*texts))
        return experiment.learner.learn(next(experiment.stream.arrivals()).step).check

    assert check() is not None
    assert check("diagnosis=right_labels") is None
