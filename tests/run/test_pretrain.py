"""Making the start: folding changes no output, and the file is what the detector loads."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open

from leocod.detectors.tiny import STARTS, Tiny, TinyOptions, build_tiny
from leocod.run.pretrain import PretrainOptions, fingerprint, fold_normalisation, make_world, pretrain
from leocod.weights import read_weights


def test_folding_the_normalisation_changes_no_output():
    torch.manual_seed(0)
    model = build_tiny(3, TinyOptions(weights=None), normalised=True)
    images = torch.rand(2, 3, 96, 128)
    model.train()
    for _ in range(3):
        model.backbone(images)

    folded = fold_normalisation(model, 3)

    model.eval()
    torch.testing.assert_close(folded.backbone(images), model.backbone(images), rtol=1e-4, atol=1e-5)
    assert not any(isinstance(part, torch.nn.BatchNorm2d) for part in folded.modules())


def test_a_short_training_writes_a_file_that_the_detector_starts_from(tmp_path):
    out = tmp_path / "start.safetensors"
    told: list[str] = []

    short = {"steps": 2, "updates": 3, "feature_updates": 0, "batch_size": 2, "test_steps": 2}
    pretrain(PretrainOptions(classes=("mug", "chair"), **short), out, tell=told.append)

    tensors, classes = read_weights(out)
    assert classes == ("mug", "chair")
    detector = Tiny(("bottle", "chair"), TinyOptions(weights=str(out)))
    row = detector.model.roi_heads.box_predictor.cls_score.weight[2]
    assert torch.equal(row, tensors["roi_heads.box_predictor.cls_score.weight"][2])
    assert str(out) in told[-1]


SHIPPED = {"start": PretrainOptions(), "first_start": PretrainOptions(places=60, feature_updates=0)}


@pytest.mark.parametrize("name", STARTS)
def test_the_shipped_files_tell_how_they_were_made(name):
    with safe_open(STARTS[name], framework="pt") as file:
        about = file.metadata()

    # Options that have been added since are as they were without them.
    given = {"feature_updates": 0, **json.loads(about["options"])}
    assert PretrainOptions.model_validate(given) == SHIPPED[name]
    pixels = fingerprint(make_world(SHIPPED[name])).split()[-1]
    assert about["world"].split()[-1] == pixels, "The world has changed since: make the start again."
    assert np.isfinite(float(about["unseen_ap50"]))


def test_a_backbone_with_features_starts_from_all_kinds_of_things(tmp_path):
    told: list[str] = []
    few = {"classes": ("mug", "chair"), "steps": 2, "updates": 2, "batch_size": 2, "test_steps": 2}

    pretrain(PretrainOptions(**few, feature_updates=3), tmp_path / "with.safetensors", tell=told.append)
    pretrain(PretrainOptions(**few, feature_updates=0), tmp_path / "without.safetensors", tell=told.append)

    backbones = [
        read_weights(tmp_path / f"{name}.safetensors")[0]["backbone.stem.0.weight"] for name in ("with", "without")
    ]
    assert not torch.equal(*backbones)
