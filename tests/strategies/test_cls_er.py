"""CLS-ER: the better of two averages says what remembered boxes should look like to the classifier."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from leocod.errors import InvalidConfig
from leocod.strategies.cls_er import CLSER, CLSEROptions, _choose_better


def weights_of(detector):
    return detector.state_dict()["weights"]


def mean_difference(one, other):
    first, second = weights_of(one), weights_of(other)
    return float(sum((first[name] - second[name]).abs().sum() for name in first if first[name].is_floating_point()))


def test_for_each_box_the_logits_that_are_surer_of_its_class_are_taken():
    quick, slow = torch.tensor([[0.0, 5.0, 0.0], [0.0, 0.0, 1.0]]), torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])

    better = _choose_better(quick, slow, np.array([0, 1]))

    assert better.tolist() == [[0.0, 5.0, 0.0], [0.0, 0.0, 2.0]]


def test_replayed_boxes_are_held_to_them_and_new_ones_are_not(a_detector, a_step):
    strategy = CLSER(a_detector(), CLSEROptions(consistency=0.5))
    strategy.learn(a_step(0))

    current, replayed = strategy.batches(a_step(1))

    assert {labels.weights.logits for labels in current.labels} == {0.0}
    assert {labels.weights.logits for labels in replayed.labels} == {0.5}
    assert all(labels.logits is not None and labels.logits.shape == (1, 4) for labels in replayed.labels)
    # What is remembered is the label alone.
    assert {labels.logits is None for _, labels in strategy.memory.frames} == {True}
    assert "replay/logits" in strategy.learn(a_step(2)).losses


def test_the_quick_average_is_nearer_to_the_detector_and_people_use_the_slow_one(a_detector, a_step):
    strategy = CLSER(a_detector(), CLSEROptions(plastic_chance=1.0, stable_chance=0.3, plastic_keep=0.5))
    for index in range(12):
        strategy.learn(a_step(index))

    assert mean_difference(strategy.plastic, strategy.detector) < mean_difference(strategy.stable, strategy.detector)
    assert mean_difference(strategy.stable, strategy.detector) > 0
    assert strategy.deployed_detector is strategy.stable
    image = a_step(0).frames[0].image()
    np.testing.assert_array_equal(strategy.predict([image])[0].scores, strategy.stable.predict([image])[0].scores)


def test_an_average_keeps_less_while_the_stream_is_young(a_detector, a_step):
    strategy = CLSER(a_detector(), CLSEROptions(plastic_chance=1.0, stable_chance=0.0))
    start = strategy.stable.clone()

    strategy.learn(a_step(0))

    # Half of each, after one step; the slow one has not followed.
    first, now, mixed = (weights_of(one) for one in (start, strategy.detector, strategy.plastic))
    for name in (name for name in first if first[name].is_floating_point()):
        torch.testing.assert_close(mixed[name], (first[name] + now[name]) / 2)
    assert mean_difference(strategy.stable, start) == 0


def test_both_averages_get_a_class_that_is_added(a_detector, a_step):
    strategy = CLSER(a_detector())
    strategy.learn(a_step(0))

    strategy.extend_classes(["dog"])

    assert strategy.plastic.classes == strategy.stable.classes == strategy.detector.classes
    assert strategy.learn(a_step(1)).losses
    again = CLSER(a_detector())
    again.load_state_dict(strategy.state_dict())
    assert mean_difference(again.stable, strategy.stable) == pytest.approx(0)
    assert again.steps_learned == 2


def test_a_detector_whose_loss_has_no_logits_is_refused(a_detector, a_step):
    strategy = CLSER(a_detector())
    plain = strategy.detector.loss
    strategy.detector.loss = lambda *batch: {name: loss for name, loss in plain(*batch).items() if name != "logits"}
    strategy.learn(a_step(0))

    with pytest.raises(InvalidConfig, match="CLSER compares class logits"):
        strategy.learn(a_step(1))
