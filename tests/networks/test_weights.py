"""Weights files: rows of known classes come along, misfits are named, nothing is unpickled."""

from __future__ import annotations

import pickle

import pytest
import torch

from leocod.detectors.tiny import TinyOptions, tiny_model
from leocod.errors import InvalidData
from leocod.networks.weights import load_weights, read_weights, save_weights


def a_model(classes, seed):
    torch.manual_seed(seed)
    return tiny_model(classes, TinyOptions(weights=None))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_weights(path, a_model(2, seed=0), ("mug", "car"), {"made_by": "test"})
    return path


def test_rows_of_classes_of_the_same_name_are_taken_and_the_others_stay(file):
    source, fresh, model = a_model(2, seed=0), a_model(3, seed=1), a_model(3, seed=1)

    load_weights(model, ("book", "car", "mug"), file)

    rows = {number: model.roi_heads.box_predictor.cls_score.weight[number] for number in range(4)}
    old = source.roi_heads.box_predictor.cls_score.weight
    assert torch.equal(rows[0], old[0])
    assert torch.equal(rows[1], fresh.roi_heads.box_predictor.cls_score.weight[1])
    assert torch.equal(rows[2], old[2])
    assert torch.equal(rows[3], old[1])
    boxes = model.roi_heads.box_predictor.bbox_pred.bias
    assert torch.equal(boxes[8:12], source.roi_heads.box_predictor.bbox_pred.bias[8:12])
    assert torch.equal(model.backbone.output.weight, source.backbone.output.weight)


def test_reading_gives_tensors_and_class_names(file):
    tensors, classes = read_weights(file)

    assert classes == ("mug", "car")
    assert set(tensors) == set(a_model(2, seed=0).state_dict())


def test_tensors_that_do_not_fit_are_named(tmp_path):
    model = a_model(2, seed=0)
    model.backbone.lateral2 = torch.nn.Conv2d(64, 32, 1)
    model.backbone.extra = torch.nn.Conv2d(1, 1, 1)
    del model.backbone.stage3.shortcut
    save_weights(tmp_path / "other.safetensors", model, ("mug", "car"), {})

    with pytest.raises(InvalidData, match=r"missing: .*stage3\.shortcut.*unknown: .*extra.*another shape: .*lateral2"):
        load_weights(a_model(2, seed=0), ("mug", "car"), tmp_path / "other.safetensors")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidData, match=r"nowhere\.safetensors"):
        read_weights(tmp_path / "nowhere.safetensors")


def test_a_pickle_is_refused_without_being_run(tmp_path):
    trap = tmp_path / "trap.safetensors"
    trap.write_bytes(pickle.dumps({"weights": [1, 2, 3]}))

    with pytest.raises(InvalidData, match="not a readable safetensors file"):
        read_weights(trap)
