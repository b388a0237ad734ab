"""Elastic weight consolidation: what is measured, what is held, and how strongly."""

from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

from leocod.errors import InvalidConfig
from leocod.strategies.base import Strategy
from leocod.strategies.ewc import EWC, EWCOptions
from leocod.training.batch import Batch
from leocod.training.gradients import flatten_gradient


def test_before_the_first_boundary_it_is_plain_fine_tuning(a_detector, a_step):
    one, two = EWC(a_detector()), Strategy(a_detector())

    for index in range(3):
        one.learn(a_step(index))
        two.learn(a_step(index))

    for mine, their in zip(one.detector.parameters(), two.detector.parameters(), strict=True):
        torch.testing.assert_close(mine, their)


def test_the_fisher_is_the_mean_squared_gradient_of_the_labels_and_a_part_of_the_one_before(a_detector, a_step):
    squares, fishers = [], []
    strategy = EWC(a_detector(), EWCOptions(boundary_every=2, fisher_keep=0.5, importance=0))
    plain = strategy.constrain
    strategy.constrain = lambda batch: squares.append(flatten_gradient(strategy._held).square()) or plain(batch)

    for index in range(4):
        strategy.learn(a_step(index))
        fishers.append(strategy._fisher.clone())

    first = (squares[0] + squares[1]) / 2
    assert not fishers[0].any()
    torch.testing.assert_close(fishers[1], first)
    torch.testing.assert_close(fishers[2], first)
    torch.testing.assert_close(fishers[3], 0.5 * first + (squares[2] + squares[3]) / 2)


def test_the_pull_itself_does_not_count_as_importance(a_detector, a_step):
    """The squares are taken of the gradient without the pull, however strong it is."""
    measured = {}
    for importance in (0.0, 1e6):
        strategy = EWC(a_detector(), EWCOptions(boundary_every=1, importance=importance))
        strategy.learn(a_step(0))
        with torch.no_grad():
            next(strategy.detector.parameters()).add_(0.01)
        batch = Batch.mean_of("current", a_step(1).labelled())
        strategy.backward(batch)
        strategy.constrain(batch)
        measured[importance] = strategy._squares

    torch.testing.assert_close(measured[0.0], measured[1e6], rtol=1e-2, atol=1e-5)


def test_the_penalty_is_half_the_importance_times_fisher_times_squared_distance(a_detector, a_step):
    strategy = EWC(a_detector(), EWCOptions(boundary_every=1, importance=10))
    strategy.learn(a_step(0))
    at_rest = strategy.penalty(Batch.mean_of("current", a_step(0).labelled()))["pull"].item()

    with torch.no_grad():
        for weight in strategy.detector.parameters():
            weight += 0.1

    assert at_rest == 0
    expected = 10 / 2 * (strategy._fisher * 0.01).sum().item()
    assert strategy.penalty(Batch.mean_of("current", a_step(0).labelled()))["pull"].item() == pytest.approx(
        expected, rel=1e-4
    )
    assert expected > 0


def test_more_importance_keeps_the_weights_nearer_to_the_anchor(a_detector, a_step):
    moved = {}
    for importance in (0.0, 1e7):
        strategy = EWC(a_detector(), EWCOptions(boundary_every=5, importance=importance))
        for index in range(9):
            strategy.learn(a_step(index))
        apart = strategy._weights() - strategy._anchor
        moved[importance] = (strategy._fisher * apart.square()).sum().item()

    assert moved[1e7] < 0.5 * moved[0.0]


def test_only_the_named_weights_are_held(a_detector):
    all_weights = EWC(a_detector())
    head = EWC(a_detector(), EWCOptions(parameters="roi_heads.*"))

    assert 0 < len(head._anchor) < len(all_weights._anchor)
    assert len(all_weights._anchor) == sum(one.numel() for one in all_weights.detector.parameters())


def test_a_name_that_fits_no_weight_is_refused(a_detector):
    with pytest.raises(InvalidConfig, match=r"strategy\.parameters is 'head\.\*': it fits no weight"):
        EWC(a_detector(), EWCOptions(parameters="head.*"))


def test_negative_importance_is_refused():
    with pytest.raises(ValidationError, match="importance"):
        EWCOptions(importance=-1)


def test_a_boundary_without_a_single_label_before_it_changes_nothing(a_detector, a_step):
    strategy = EWC(a_detector(), EWCOptions(boundary_every=1))

    strategy.learn(a_step(0, labelled=0))
    strategy.learn(a_step(1, labelled=0))

    assert not strategy._fisher.any()
    assert strategy.penalty(Batch.mean_of("current", a_step(0).labelled()))["pull"].item() == 0
