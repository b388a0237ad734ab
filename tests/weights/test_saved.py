"""Files of ours: safetensors, checkpoints, run directories."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from leocod.detectors.tiny import Tiny, TinyOptions, tiny_model
from leocod.efficient_cls import EfficientCLS
from leocod.errors import InvalidData, InvalidRun
from leocod.events import RunFinished, RunStarted, StepFinished
from leocod.sinks.checkpoints import Checkpoints
from leocod.strategies.incremental import Incremental
from leocod.types import Step
from leocod.weights.names import BACKGROUND
from leocod.weights.saved import from_run, from_safetensors, load_tensors, read_weights, save_weights

CLASSES = ("mug", "book", "car")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    save_weights(path, tiny_model(2, TinyOptions(weights=None)), ("mug", "car"), {"made_by": "test"})
    return path


def a_run(path: Path, learner: Any, *, steps: int = 2) -> Path:
    """A run directory with what a start needs of it."""
    (path / "config.yaml").write_text("{}")
    with Checkpoints(path / "checkpoints", learner, every=1, keep=9, config={"detector": {"name": "tiny"}}) as sink:
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
    assert set(tensors) == set(tiny_model(2, TinyOptions(weights=None)).state_dict())
    assert from_safetensors(file).rows == (BACKGROUND, "mug", "car")


def test_the_options_of_an_exported_detector_are_heeded(tmp_path: Path) -> None:
    model = tiny_model(1, TinyOptions(weights=None))
    save_weights(tmp_path / "exported.safetensors", model, ("mug",), {"options": '{"stride_in_1x1": false}'})

    assert from_safetensors(tmp_path / "exported.safetensors").stride_in_1x1 is False


@pytest.mark.parametrize("classes", [None, "mug, car", '{"mug": 0}', "[1, 2]"])
def test_a_file_without_class_names_is_told(tmp_path: Path, classes: str | None) -> None:
    about = {} if classes is None else {"classes": classes}
    save_file({"w": torch.zeros(1)}, tmp_path / "bare.safetensors", metadata=about)

    with pytest.raises(InvalidData, match=r"bare\.safetensors has (no )?class names in its metadata"):
        read_weights(tmp_path / "bare.safetensors")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"nowhere\.safetensors"):
        read_weights(tmp_path / "nowhere.safetensors")
    with pytest.raises(InvalidData, match=r"nowhere\.pt"):
        load_tensors(tmp_path / "nowhere.pt")


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

    brought = from_run(a_run(tmp_path, learner))

    assert brought.rows == (BACKGROUND, *CLASSES)
    assert "step_00001.pt" in brought.origin
    own = learner.detector.model.state_dict()
    assert all(torch.equal(brought.tensors[name], value) for name, value in own.items())


def test_a_run_with_the_plug_in_gives_its_slow_learner(
    tmp_path: Path, a_detector: Callable[..., Tiny], a_step: Callable[..., Step]
) -> None:
    learner = EfficientCLS(Incremental(a_detector()))
    learner.learn(a_step())

    brought = from_run(a_run(tmp_path, learner))

    learners = (learner.slow, learner.strategy.detector)
    slow, fast = (one.state_dict()["weights"]["rpn.head.cls_logits.bias"] for one in learners)
    assert not torch.equal(slow, fast)
    assert torch.equal(brought.tensors["rpn.head.cls_logits.bias"], slow)


def test_a_directory_that_is_no_run_and_a_run_without_a_checkpoint_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match=r"no config\.yaml"):
        from_run(tmp_path)
    (tmp_path / "config.yaml").touch()
    with pytest.raises(InvalidRun, match="no checkpoint yet"):
        from_run(tmp_path)


def test_code_in_a_checkpoint_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return Path.mkdir, (tmp_path / "made",)

    torch.save({"learner": Trap()}, tmp_path / "trap.pt")

    with pytest.raises(InvalidData, match=r"trap\.pt cannot be read as tensors"):
        load_tensors(tmp_path / "trap.pt")

    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x02}.", b"PK\x03\x04 not a zip"])
def test_a_damaged_checkpoint_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.pt").write_bytes(content)

    with pytest.raises(InvalidData, match=r"broken\.pt"):
        load_tensors(tmp_path / "broken.pt")


def test_a_truncated_checkpoint_is_told(tmp_path: Path) -> None:
    whole = tmp_path / "whole.pt"
    torch.save({"w": torch.zeros(1000)}, whole)
    for length in (10, 500, 2000, whole.stat().st_size - 10):
        (tmp_path / "part.pt").write_bytes(whole.read_bytes()[:length])

        with pytest.raises(InvalidData, match=r"part\.pt cannot be read"):
            load_tensors(tmp_path / "part.pt")


def test_a_file_that_holds_something_else_is_told(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")

    with pytest.raises(InvalidData, match="holds a list"):
        load_tensors(tmp_path / "list.pt")
