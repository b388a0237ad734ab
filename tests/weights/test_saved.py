"""Files of ours: safetensors, checkpoints, run directories."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from leocod.detectors.tiny import Tiny, TinyOptions, build_tiny
from leocod.errors import InvalidData, InvalidRun
from leocod.events import RunFinished, RunStarted, StepFinished
from leocod.files.checkpoint import read_newest_checkpoint
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.run.record.checkpoints import Checkpoints
from leocod.strategies.cls_er import CLSER
from leocod.strategies.incremental import Incremental
from leocod.types import Step
from leocod.weights.saved import read_checkpoint, read_run, read_safetensors, read_weights, save_weights

CLASSES = ("mug", "book", "car")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    save_weights(path, build_tiny(2, TinyOptions(weights=None)), ("mug", "car"), {"made_by": "test"})
    return path


def a_run(path: Path, learner: Any, *, steps: int = 2) -> Path:
    """A run directory with what a start needs of it."""
    (path / "config.yaml").write_text("{}")
    with Checkpoints(path / "checkpoints", learner, {}, every=1, keep=9, config={"detector": {"name": "tiny"}}) as sink:
        for event in (
            RunStarted("a run", CLASSES, steps, 0),
            *map(StepFinished, range(steps)),
            RunFinished(steps, 1.0),
        ):
            sink(event)
    return path


def test_reading_gives_tensors_and_class_names(file: Path) -> None:
    tensors, classes = read_weights(file)

    assert classes == ("mug", "car")
    assert set(tensors) == set(build_tiny(2, TinyOptions(weights=None)).state_dict())
    assert read_safetensors(file).rows == ("mug", "car")


def test_the_options_of_an_exported_detector_are_heeded(tmp_path: Path) -> None:
    model = build_tiny(1, TinyOptions(weights=None))
    save_weights(tmp_path / "exported.safetensors", model, ("mug",), {"options": '{"stride_in_1x1": false}'})

    assert read_safetensors(tmp_path / "exported.safetensors").stride_in_1x1 is False


@pytest.mark.parametrize("classes", [None, "mug, car", '{"mug": 0}', "[1, 2]"])
def test_a_file_without_class_names_is_told(tmp_path: Path, classes: str | None) -> None:
    about = {} if classes is None else {"classes": classes}
    save_file({"w": torch.zeros(1)}, tmp_path / "bare.safetensors", metadata=about)

    with pytest.raises(InvalidData, match=r"bare\.safetensors has (no )?class names in its metadata"):
        read_weights(tmp_path / "bare.safetensors")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"nowhere\.safetensors"):
        read_weights(tmp_path / "nowhere.safetensors")


def test_a_pickle_is_refused_without_being_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap.safetensors"
    trap.write_bytes(pickle.dumps({"weights": [1, 2, 3]}))

    with pytest.raises(InvalidData, match="not a readable safetensors file"):
        read_weights(trap)


def test_a_run_without_the_plug_in_gives_its_detector(
    tmp_path: Path, a_detector: Callable[..., Tiny], a_step: Callable[..., Step]
) -> None:
    learner = Incremental(a_detector())
    learner.learn(a_step())

    loaded = read_run(a_run(tmp_path, learner))

    assert loaded.rows == CLASSES
    assert "step_00001.pt" in loaded.origin
    own = learner.detector.model.state_dict()
    assert all(torch.equal(loaded.tensors[name], value) for name, value in own.items())


def test_a_run_with_the_plug_in_gives_its_slow_learner(
    tmp_path: Path, a_detector: Callable[..., Tiny], a_step: Callable[..., Step]
) -> None:
    learner = EfficientCLS(Incremental(a_detector()))
    learner.learn(a_step())

    loaded = read_run(a_run(tmp_path, learner))

    learners = (learner.slow, learner.strategy.detector)
    slow, fast = (one.state_dict()["weights"]["rpn.head.cls_logits.bias"] for one in learners)
    assert not torch.equal(slow, fast)
    assert torch.equal(loaded.tensors["rpn.head.cls_logits.bias"], slow)


@pytest.mark.parametrize("is_old", [False, True])
def test_a_strategy_that_deploys_another_detector_than_it_trains_gives_that_one(
    is_old: bool, tmp_path: Path, a_detector: Callable[..., Tiny], a_step: Callable[..., Step]
) -> None:
    learner = CLSER(a_detector())
    learner.stable.follow(a_detector(seed=5), keep=0.0)
    path, state = read_newest_checkpoint(a_run(tmp_path, learner) / "checkpoints") or pytest.fail("no checkpoint")
    if is_old:
        del state["deployed"]

    loaded = read_checkpoint(path, state)

    name = "rpn.head.cls_logits.weight"
    assert not torch.equal(learner.detector.state_dict()["weights"][name], loaded.tensors[name])
    assert torch.equal(learner.stable.state_dict()["weights"][name], loaded.tensors[name])


def test_a_directory_that_is_no_run_and_a_run_without_a_checkpoint_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"no config\.yaml"):
        read_run(tmp_path)
    (tmp_path / "config.yaml").touch()
    with pytest.raises(InvalidRun, match="no checkpoint yet"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "no class names"),
        ({"classes": "[" * 20_000}, "no class names"),
        ({"classes": '{"mug": 1}'}, "not a list of names"),
        ({"classes": '["a\\n"]'}, "control character"),
        ({"classes": json.dumps(["x"] * 20_001)}, "20001 class names"),
    ],
)
def test_odd_class_names_are_told_in_one_line(tmp_path: Path, metadata: dict[str, str], said: str) -> None:
    save_file({"w": torch.zeros(1)}, tmp_path / "odd.safetensors", metadata=metadata)

    with pytest.raises(InvalidData, match=rf"odd\.safetensors.*{said}") as told:
        read_safetensors(tmp_path / "odd.safetensors")
    assert str(told.value).isprintable()


@pytest.mark.parametrize("options", ["[" * 20_000, "3", '{"stride_in_1x1": "yes"}'])
def test_odd_options_say_nothing_of_the_stride(tmp_path: Path, options: str) -> None:
    metadata = {"classes": '["mug"]', "options": options}
    save_file({"w": torch.zeros(1)}, tmp_path / "odd.safetensors", metadata=metadata)

    assert read_safetensors(tmp_path / "odd.safetensors").stride_in_1x1 is None


@pytest.mark.parametrize("kind", [torch.float8_e4m3fn, torch.complex64])
def test_numbers_that_no_network_takes_are_told(tmp_path: Path, kind: torch.dtype) -> None:
    save_file({"w\n": torch.zeros(2, dtype=kind)}, tmp_path / "odd.safetensors", metadata={"classes": '["mug"]'})

    with pytest.raises(InvalidData, match=r"odd\.safetensors: tensor 'w\\n' holds \w+, no plain numbers"):
        read_safetensors(tmp_path / "odd.safetensors")


def test_a_header_of_any_length_is_told_in_one_line(tmp_path: Path) -> None:
    header = json.dumps({"x" * 5000 + "\n": {"dtype": "?", "shape": [], "data_offsets": [0, 0]}}).encode()
    (tmp_path / "odd.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)

    with pytest.raises(InvalidData, match=r"odd\.safetensors is not a readable safetensors file") as told:
        read_safetensors(tmp_path / "odd.safetensors")
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 1000


def test_a_checkpoint_with_something_else_for_weights_is_told(tmp_path: Path) -> None:
    state = {"learner": {"detector": {"weights": {"w": 1}}}, "classes": ["mug"], "config": {"detector": {}}}

    with pytest.raises(InvalidData, match=r"a\.pt is a checkpoint whose weights"):
        read_checkpoint(tmp_path / "a.pt", state)
