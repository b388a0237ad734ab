"""DER++: logits are stored with the frame, and held to."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidConfig
from leocod.strategies.base_replay import ask_logits
from leocod.strategies.derpp import DERPP, DERPPOptions
from leocod.training.batch import Batch
from leocod.types import LossWeights, Step


def distance(strategy, replayed, *others):
    """The loss that holds remembered frames to their logits; None where there is none."""
    weights = LossWeights(logits=strategy.options.alpha)
    held = [(frame, replace(labels, weights=weights)) for frame, labels in replayed]
    batch = Batch.mean_of("replay", *others, *([held] if held else []))
    return batch.mean(strategy.detector.loss(batch.images, batch.labels)).get("logits")


def test_what_is_stored_is_what_the_detector_says_of_the_boxes_after_the_update(a_detector, a_step):
    strategy = DERPP(a_detector())

    strategy.learn(a_step())

    held = strategy.memory.frames
    assert len(held) == 2
    for (_, labels), now in zip(held, ask_logits(strategy.detector, held), strict=True):
        assert labels.logits.shape == (len(labels), 4)
        np.testing.assert_allclose(labels.logits, now.numpy(), atol=1e-5)


def test_the_penalty_is_alpha_times_the_mean_squared_distance(a_detector, a_step):
    strategy = DERPP(a_detector(), DERPPOptions(alpha=0.5))
    strategy.learn(a_step(0))
    for index in range(1, 4):
        strategy.learn(a_step(index, labelled=0))
    held = strategy.memory.frames

    penalty = distance(strategy, held).item()

    apart = [
        np.square(now.numpy() - labels.logits).mean()
        for (_, labels), now in zip(held, ask_logits(strategy.detector, held), strict=True)
    ]
    assert penalty == pytest.approx(0.5 * np.mean(apart), rel=1e-4)
    assert penalty > 0


def test_its_gradient_reaches_the_detector(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    strategy.learn(a_step(1, labelled=0))
    strategy.optimizer.zero_grad()

    distance(strategy, strategy.memory.frames).backward()

    assert sum(one.grad.abs().sum().item() for one in strategy.detector.parameters() if one.grad is not None) > 0


def test_current_frames_have_no_stored_logits_and_the_joint_recipe_counts_replay_as_half(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    strategy.learn(a_step(1, labelled=0))
    current, held = a_step(2).labelled(), strategy.memory.frames

    alone, joint = distance(strategy, held), distance(strategy, held, current)

    assert distance(strategy, [], current) is None
    torch.testing.assert_close(joint, alone / 2)


def test_a_replayed_frame_goes_through_the_network_once_and_its_losses_are_what_they_are_alone(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    strategy.learn(a_step(1, labelled=0))
    held, passes, plain = strategy.memory.frames, [], strategy.detector.features
    strategy.detector.features = lambda tensors: passes.append(len(tensors)) or plain(tensors)
    images, labels = [frame.image() for frame, _ in held], [labels for _, labels in held]

    alone = strategy.detector.loss(images, labels)
    passes.clear()
    both = strategy.detector.loss(images, [replace(one, weights=LossWeights(logits=0.1)) for one in labels])

    assert passes == [len(held)]
    assert both.keys() - alone.keys() == {"logits"}
    for name, value in alone.items():
        torch.testing.assert_close(both[name], value)


def test_logits_are_stored_a_few_frames_at_a_time(a_detector, a_step):
    detector = a_detector().to("cpu", frames_at_once=2)
    seen, plain = [], detector.class_logits
    detector.class_logits = lambda images, boxes: seen.append(len(images)) or plain(images, boxes)

    DERPP(detector, DERPPOptions(recipe="joint")).learn(a_step(0, frames=5, labelled=5))

    assert seen == [2, 2, 1]


def test_beta_scales_the_loss_of_replayed_labels(a_detector, a_step):
    replay = {}
    for beta in (1.0, 0.25):
        strategy = DERPP(a_detector(), DERPPOptions(beta=beta, alpha=0))
        strategy.learn(a_step(0))
        # The region that a loss looks at are drawn: the same ones for both.
        strategy.random = np.random.default_rng(5)
        losses = strategy.learn(a_step(1, labelled=0)).losses
        replay[beta] = losses["replay/region_class"], losses["replay/proposal_class"]

    np.testing.assert_allclose(replay[0.25], 0.25 * np.array(replay[1.0]), rtol=1e-4)


def test_logits_survive_a_checkpoint(a_detector, a_step):
    strategy, twin = DERPP(a_detector()), DERPP(a_detector(seed=3))
    strategy.learn(a_step(0))
    buffer = io.BytesIO()
    torch.save(strategy.state_dict(), buffer)
    buffer.seek(0)

    twin.load_state_dict(torch.load(buffer, weights_only=True))

    for (_, mine), (_, theirs) in zip(strategy.memory.frames, twin.memory.frames, strict=True):
        np.testing.assert_array_equal(mine.logits, theirs.logits)


def test_logits_stored_before_a_class_was_added_still_count(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    options = TinyOptions(weights=None, short_side=48, regions=16, proposals=24)
    grown = DERPP(Tiny(("mug", "book", "car", "lamp"), options))
    grown.memory.load_state_dict(strategy.memory.state_dict())
    held = grown.memory.frames

    penalty = distance(grown, held).item()

    apart = [
        np.square(now[:, :4].numpy() - labels.logits).mean()
        for (_, labels), now in zip(held, ask_logits(grown.detector, held), strict=True)
    ]
    assert ask_logits(grown.detector, held)[0].shape[1] == 5
    assert penalty == pytest.approx(0.1 * np.mean(apart), rel=1e-4)


def test_a_remembered_frame_without_boxes_has_no_distance(a_detector, a_frame):
    strategy = DERPP(a_detector(), DERPPOptions(memory_store="random"))
    pairs = [a_frame(1, ()), a_frame(2, (0,))]
    step = Step(0, tuple(frame for frame, _ in pairs), {frame.id: labels for frame, labels in pairs})

    strategy.learn(step)
    losses = strategy.learn(Step(1, (), {})).losses

    assert len(strategy.memory) == 2
    assert all(np.isfinite(value) for value in losses.values())


def test_it_stores_no_more_frames_than_the_recipe_allows(a_detector, a_step):
    strategy = DERPP(a_detector())

    strategy.learn(a_step(frames=8, labelled=8))

    assert len(strategy.memory) == 4


def test_logits_that_are_not_finite_are_not_remembered_and_the_step_is_not_learnt(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    held, before = strategy.memory.state_dict()["entries"].keys(), strategy.detector.state_dict()["weights"]
    plain = strategy.detector.class_logits
    strategy.detector.class_logits = lambda *given: [one * float("inf") for one in plain(*given)]

    learned = strategy.learn(a_step(1))

    assert learned.refused == "a class logit to be remembered is not finite"
    assert strategy.memory.state_dict()["entries"].keys() == held
    after = strategy.detector.state_dict()["weights"]
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_a_detector_without_this_loss_is_refused_and_not_silently_replayed(a_detector, a_step):
    strategy = DERPP(a_detector())
    strategy.learn(a_step(0))
    plain = strategy.detector.loss
    strategy.detector.loss = lambda *given: {name: one for name, one in plain(*given).items() if name != "logits"}

    with pytest.raises(InvalidConfig, match="DERPP compares class logits"):
        strategy.learn(a_step(1))
