"""A labeller's questions reach the learner, and frames that cannot be read do not."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.errors import InvalidConfig
from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
from leocod.strategies.icarl import ICaRL
from leocod.stream.questions import AT_ONCE, Questions
from leocod.types import Detections, Frame


@pytest.fixture
def learner(a_detector, a_step):
    """A fast and a slow learner that differ."""
    learner = EfficientCLS(ICaRL(a_detector(), seed=1), EfficientCLSOptions(pseudo_labels=False, ema_warmup=False))
    for index in range(3):
        learner.learn(a_step(index))
    return learner


@pytest.fixture
def frames(a_frame, tmp_path):
    """A frame, one that cannot be read, and another."""
    return [a_frame(50)[0], Frame(51, "film", 51, (48, 64), tmp_path / "gone.png"), a_frame(52, (1,))[0]]


def same(one, two):
    return one.boxes.tolist() == two.boxes.tolist() and one.scores.tolist() == two.scores.tolist()


def test_the_slow_and_the_fast_learner_are_asked_apart(learner, frames):
    asked, images = Questions("mine", learner), [frames[0].image(), frames[2].image()]

    slow, fast = asked.predict(frames), asked.predict_fast(frames)

    assert same(slow[0], learner.slow.predict(images)[0])
    assert same(fast[2], learner.strategy.detector.predict(images)[1])
    assert not same(slow[0], fast[0])
    assert [len(found[1]) for found in (slow, fast)] == [0, 0]


def test_without_a_slow_learner_both_answers_are_the_same(a_detector, frames):
    asked = Questions("mine", ICaRL(a_detector()))

    assert same(asked.predict(frames)[0], asked.predict_fast(frames)[0])


def test_frames_are_described_by_the_detector_that_people_use(learner, frames):
    described = Questions("mine", learner).describe(frames)

    assert described.shape[0] == 3
    assert described[[0, 2]] == pytest.approx(learner.slow.describe([frames[0].image(), frames[2].image()]))
    assert np.isnan(described[1]).all()


def test_where_no_frame_can_be_read_nothing_is_known_of_any(learner, frames):
    assert np.isnan(Questions("mine", learner).describe(frames[1:2])).all()


def test_each_remembered_frame_is_described_once_and_at_most_so_many(learner):
    asked, held = Questions("mine", learner), {frame.id: frame for frame, _ in learner.remembered_frames()}

    everything, few = asked.describe_memory(100), asked.describe_memory(2)

    assert len(everything) == len(held) > 2
    assert few == pytest.approx(everything[[0, -1]])


def test_a_learner_that_remembers_nothing_has_nothing_to_describe(a_detector):
    assert len(Questions("mine", ICaRL(a_detector())).describe_memory(9)) == 0


def test_many_frames_are_described_a_part_at_a_time(learner, a_frame, monkeypatch):
    sizes, describe = [], learner.slow.describe
    monkeypatch.setattr(learner.slow, "describe", lambda images: sizes.append(len(images)) or describe(images))

    Questions("mine", learner).describe([a_frame(number)[0] for number in range(AT_ONCE + 3)])

    assert sizes == [AT_ONCE, 3]


class Plain:
    """A learner around a detector that only detects."""

    deployed_detector = object()

    def predict(self, images):
        return [Detections.none() for _ in images]


def test_a_detector_without_features_is_told_with_the_name_of_the_labeller(frames):
    with pytest.raises(InvalidConfig, match="The labeller 'novelty' compares frames, but the detector object does not"):
        Questions("novelty", Plain()).describe(frames)


def test_before_anything_is_learnt_there_is_nobody_to_ask(frames):
    with pytest.raises(InvalidConfig, match="The labeller 'uncertain' asks the learner, but here labels are chosen"):
        Questions("uncertain", None).predict(frames)
