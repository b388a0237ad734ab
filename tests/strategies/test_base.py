"""The template: batches, shares and the four hooks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from leocod.strategies.base import Batch, Strategy, StrategyOptions


def test_groups_count_the_same_and_so_do_frames_within_one(a_frame):
    batch = Batch.mean_of("both", [a_frame(1), a_frame(2)], [a_frame(3)], [])

    np.testing.assert_allclose(batch.shares, [0.25, 0.25, 0.5])


def test_an_update_is_the_shares_times_the_frames_losses(a_detector, a_frame):
    detector = a_detector()
    detector.loss = lambda images, labels: {"one": torch.tensor([1.0, 2.0, 4.0], requires_grad=True)}

    losses = Strategy(detector).update(Batch.mean_of("both", [a_frame(1), a_frame(2)], [a_frame(3)]))

    assert losses == {"both/one": pytest.approx(0.25 + 0.5 + 2)}


def test_hooks_are_called_in_order(a_detector, a_step):
    called = []

    class Listening(Strategy):
        def penalty(self, batch):
            called.append("penalty")
            return {"pull": 0.0 * next(self.detector.parameters()).sum()}

        def constrain(self, batch):
            assert any(parameter.grad is not None for parameter in self.detector.parameters())
            called.append("constrain")

        def remember(self, step):
            called.append("remember")

    losses = Listening(a_detector()).learn(a_step()).losses

    assert called == ["penalty", "constrain", "remember"]
    assert losses["current/pull"] == 0


def test_the_optimiser_has_the_detectors_rate(a_detector):
    strategy = Strategy(a_detector(learning_rate=0.005), StrategyOptions())

    assert strategy.optimizer.param_groups[0]["lr"] == 0.005
    assert isinstance(strategy.optimizer, torch.optim.Adam)
