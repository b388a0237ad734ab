from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from leocod.training.batch import Batch, average_losses
from leocod.types import Labels


def test_groups_count_the_same_and_so_do_frames_within_one(a_frame):
    batch = Batch.mean_of("both", [a_frame(1), a_frame(2)], [], [a_frame(3)])

    assert batch.shares.tolist() == [0.25, 0.25, 0.5]
    assert [frame.id for frame, _ in batch.pairs] == [1, 2, 3]


def test_the_mean_weighs_each_frame_by_its_share(a_frame):
    batch = Batch.mean_of("both", [a_frame(1), a_frame(2)], [a_frame(3)])

    assert batch.mean({"one": torch.tensor([1.0, 2.0, 4.0])})["one"].item() == 2.75


def test_parts_have_at_most_so_many_frames_and_all_of_them_together(a_frame):
    batch = Batch.mean_of("one", [a_frame(number) for number in range(5)]).with_seeds(np.random.default_rng(0))

    parts = list(batch.parts(2))

    assert [[frame.id for frame, _ in part.pairs] for part in parts] == [[0, 1], [2, 3], [4]]
    assert sum(part.share for part in parts) == pytest.approx(batch.share) == pytest.approx(1)
    assert [seed for part in parts for seed in part.seeds] == list(batch.seeds)
    assert [len(part.pairs) for part in batch.parts(None)] == [5]


def test_processes_share_a_batch_without_a_frame_left_over(a_frame):
    batch = Batch.mean_of("one", [a_frame(number) for number in range(5)]).with_seeds(np.random.default_rng(0))

    parts = [batch.part(number, 2) for number in range(2)]

    assert [[frame.id for frame, _ in part.pairs] for part in parts] == [[0, 2, 4], [1, 3]]
    assert parts[1].seeds == batch.seeds[1::2]
    assert list(Batch.mean_of("one", [a_frame(1)]).with_seeds(np.random.default_rng(0)).part(1, 2).parts(None)) == []


def test_seeds_come_from_the_generator(a_frame):
    batch = Batch.mean_of("one", [a_frame(1), a_frame(2)])

    one, two = (batch.with_seeds(np.random.default_rng(seed)).seeds for seed in (0, 1))

    assert len(set(one)) == 2
    assert one == batch.with_seeds(np.random.default_rng(0)).seeds
    assert one != two


def test_the_digest_tells_frames_labels_and_seeds_apart(a_frame):
    frame, labels = a_frame(1, (0, 1))
    batch = Batch.mean_of("one", [(frame, labels)])
    others = [
        Batch.mean_of("one", [(frame, Labels(labels.boxes + 1, labels.classes))]),
        Batch.mean_of("one", [(frame, Labels(labels.boxes, labels.classes[::-1]))]),
        Batch.mean_of("one", [(frame, Labels(labels.boxes, labels.classes, "pseudo"))]),
        Batch.mean_of("one", [(frame, replace(labels, complete=False))]),
        Batch.mean_of("one", [a_frame(2, (0, 1))]),
        batch.with_seeds(np.random.default_rng(0)),
    ]

    digests = {one.digest for one in [batch, *others]}

    assert len(digests) == 7
    assert batch.digest == Batch.mean_of("one", [a_frame(1, (0, 1))]).digest


def test_losses_are_averaged_over_the_updates_that_have_them():
    assert average_losses([{"a": 1.0, "b": 4.0}, {"a": 3.0}]) == {"a": 2.0, "b": 4.0}
