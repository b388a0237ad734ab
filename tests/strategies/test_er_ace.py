"""ER-ACE: what the step does not show is not taught by it."""

from __future__ import annotations

import pytest
import torch

from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions
from leocod.errors import InvalidLabels
from leocod.strategies.er_ace import ERACE, limit_classes
from leocod.types import Labels


def class_gradient(strategy, pairs) -> torch.Tensor:
    """How much each output of the classifier is changed, background first."""
    detector = strategy.detector
    strategy.optimizer.zero_grad()
    losses = detector.loss([frame.image() for frame, _ in pairs], [labels for _, labels in pairs])
    losses["region_class"].sum().backward()
    return detector.model.roi_heads.box_predictor.cls_score.weight.grad.abs().sum(dim=1)


def test_a_step_changes_no_output_of_a_class_that_it_does_not_show(a_detector, a_frame):
    strategy = ERACE(a_detector())
    pairs = [a_frame(1, (0,)), a_frame(2, (2,))]

    limited, plain = class_gradient(strategy, limit_classes(pairs)), class_gradient(strategy, pairs)

    assert limited[2] == 0
    assert (limited[[0, 1, 3]] > 0).all()
    assert (plain > 0).all()


def test_with_all_classes_in_the_step_the_loss_is_the_usual_one(a_detector, a_frame):
    detector = a_detector()
    frame, labels = a_frame(1, (0, 1, 2))
    ((_, limited),) = limit_classes([(frame, labels)])

    losses = [detector.loss([frame.image()], [one]) for one in (labels, limited)]

    for name, value in losses[0].items():
        torch.testing.assert_close(losses[1][name], value)


def test_replayed_frames_speak_of_all_classes(a_detector, a_step):
    strategy = ERACE(a_detector())
    strategy.learn(a_step(0))

    current, replayed = strategy.batches(a_step(1))

    assert {labels.among for labels in current.labels} == {frozenset({0, 1})}
    assert {labels.among for labels in replayed.labels} == {None}
    assert {labels.among for _, labels in strategy.memory.frames} == {None}


def test_a_detector_of_one_stage_leaves_the_outputs_of_other_classes_out(a_frame):
    detector = RetinaNetDetector(("mug", "book", "car"), RetinaNetOptions(backbone="resnet18-fpn", short_side=64))
    (limited,) = limit_classes([a_frame(1, (1,))])

    detector.loss([limited[0].image()], [limited[1]])["anchor_class"].sum().backward()

    bias = detector.model.head.classification_head.cls_logits.bias.grad.unflatten(0, (-1, 3)).abs().sum(dim=0)
    assert bias[1] > 0
    assert bias[[0, 2]].tolist() == [0, 0]


def test_labels_are_of_classes_that_they_are_among():
    with pytest.raises(InvalidLabels, match=r"Classes \[3\] are not among \[0, 1\]"):
        Labels([[0, 0, 9, 9]], [3], among=frozenset({0, 1}))
