"""Which frames of a step may enter a memory."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.memory.intake import select_frames
from leocod.types import Labels, LossWeights


def ids_of(pairs):
    return {frame.id for frame, _ in pairs}


@pytest.mark.parametrize(
    ("intake", "labelled", "taken"), [("released", 16, 4), ("released", 4, 4), ("random", 3, 3), ("all", 16, 16)]
)
def test_an_intake_without_chance_takes_the_first(a_step, intake, labelled, taken):
    for seed in range(5):
        step = a_step(frames=16, labelled=labelled)

        assert ids_of(select_frames(step, intake, np.random.default_rng(seed))) == set(range(taken))


@pytest.mark.parametrize(("intake", "labelled"), [("released", 8), ("random", 8), ("random", 16)])
def test_an_intake_by_chance_takes_any_four(a_step, intake, labelled):
    random = np.random.default_rng(0)

    drawn = [ids_of(select_frames(a_step(frames=16, labelled=labelled), intake, random)) for _ in range(40)]

    assert {len(ids) for ids in drawn} == {4}
    assert set.union(*drawn) == set(range(labelled))


def test_only_what_a_person_labelled_is_taken_and_it_counts_as_usual(a_step):
    step = a_step(frames=4, labelled=2)
    weighed = [
        (frame, Labels(labels.boxes, labels.classes, weights=LossWeights.all(2.0))) for frame, labels in step.labelled()
    ]
    pseudo = [(frame, Labels([], [], source="pseudo")) for frame in step.unlabelled]

    taken = select_frames(step.with_labelled([*weighed, *pseudo]), "all", np.random.default_rng(0))

    assert ids_of(taken) == {0, 1}
    assert {labels.weights for _, labels in taken} == {LossWeights()}
