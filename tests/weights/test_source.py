"""What a `weights` string may be; from each kind a network starts, and what is none of them is told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidData
from leocod.events import RunFinished, RunStarted, StepFinished
from leocod.networks.base import BackboneLayout
from leocod.run.record.checkpoints import Checkpoints
from leocod.strategies.incremental import Incremental
from leocod.weights import load_weights, read_classes, save_weights

CLASSES = ("mug", "car")


def a_run(path: Path, learner: Any) -> Path:
    (path / "config.yaml").write_text("{}")
    config = {"detector": {"name": "faster_rcnn", "stride_in_1x1": True}}
    with Checkpoints(path / "checkpoints", learner, {}, every=1, keep=1, config=config) as sink:
        for event in (RunStarted("a run", CLASSES, 1, 0), StepFinished(0), RunFinished(1, 1.0)):
            sink(event)
    return path


@pytest.mark.parametrize("kind", ["safetensors", "run", "checkpoint"])
def test_a_detector_starts_from_what_leocod_wrote(tmp_path: Path, kind: str) -> None:
    source = Tiny(CLASSES, TinyOptions(weights=None), seed=1)
    run = a_run(tmp_path, Incremental(source))
    save_weights(tmp_path / "weights.safetensors", source.model, CLASSES, {})
    files = {
        "safetensors": tmp_path / "weights.safetensors",
        "run": run,
        "checkpoint": run / "checkpoints" / "step_00000.pt",
    }

    detector = Tiny(("book", "mug"), TinyOptions(weights=str(files[kind])), seed=2)

    assert torch.equal(detector.model.rpn.head.bbox_pred.weight, source.model.rpn.head.bbox_pred.weight)
    own, given = (one.model.roi_heads.box_predictor.cls_score.weight for one in (detector, source))
    assert torch.equal(own[[0, 2]], given[[0, 1]])
    assert not torch.equal(own[1], given[1])
    assert read_classes(str(files[kind])) == CLASSES


def test_a_run_with_the_stride_elsewhere_is_refused(tmp_path: Path) -> None:
    run = a_run(tmp_path, Incremental(Tiny(CLASSES, TinyOptions(weights=None))))
    detector = Tiny(CLASSES, TinyOptions(weights=None))
    detector.backbone_layout = BackboneLayout("a network with the choice", {}, (), (), stride_in_1x1=False)

    with pytest.raises(InvalidData, match=r"step_00000\.pt was trained with the stride in the 1x1"):
        load_weights(detector, str(run))


def test_no_source_brings_no_classes() -> None:
    assert read_classes(None) == ()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("weights.h5", b"", r"unknown ending '\.h5'.*may be a \.safetensors file"),
        ("weights", b"", r"unknown ending ''"),
        ("weights.pkl", pickle.dumps({"conv1_w": np.zeros(1)}), r"tensors such as 'conv1_w', of no known network"),
        ("weights.pth", b"garbage", "cannot be read as tensors"),
        ("weights.pkl", b"garbage", "not a whole pickle"),
        ("weights.safetensors", b"garbage", "not a readable safetensors"),
    ],
)
def test_a_file_of_no_known_kind_is_told_with_its_name(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InvalidData, match=rf"{name} .*{told}|{name} {told}"):
        read_classes(str(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"stranger.weight": torch.zeros(1)}, r"tensors such as 'stranger\.weight', of no known network"),
        ({"epoch": 3}, "'epoch' is not a tensor"),
        ({"model": 3}, "holds no state dict"),
        ({}, "holds no state dict"),
        ({"learner": {"detector": {}}, "classes": []}, "checkpoint without weights"),
        ({"learner": 3}, "checkpoint without weights"),
    ],
)
def test_a_state_of_no_known_network_is_told(tmp_path: Path, content: Any, told: str) -> None:
    torch.save(content, tmp_path / "weights.pt")

    with pytest.raises(InvalidData, match=rf"weights\.pt.*{told}"):
        read_classes(str(tmp_path / "weights.pt"))


def test_a_source_that_is_not_there_is_named_with_what_may_be_given(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"No weights file \S+nowhere\.pkl\. `detector\.weights` may be"):
        read_classes(str(tmp_path / "nowhere.pkl"))


@pytest.mark.parametrize(
    ("content", "said"), [({"\n": 1}, r"'\\n' is not a tensor"), ({"x" * 5000: torch.ones(1)}, r"such as 'x+\.\.\.'")]
)
def test_odd_names_in_a_file_are_told_in_one_short_line(tmp_path: Path, content: dict[str, Any], said: str) -> None:
    torch.save(content, tmp_path / "odd.pth")

    with pytest.raises(InvalidData, match=said) as told:
        read_classes(str(tmp_path / "odd.pth"))
    assert str(told.value).isprintable()
    assert len(str(told.value)) < len(str(tmp_path)) + 600


def test_an_odd_ending_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.\x1b").touch()

    with pytest.raises(InvalidData, match=r"the unknown ending '\.\\x1b'") as told:
        read_classes(str(tmp_path / "a.\x1b"))
    assert str(told.value).isprintable()
