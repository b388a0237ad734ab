"""Frames that are trained on in one update of the weights, and how much each counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leocod.types import Images, LabelledFrame, Labels


@dataclass(frozen=True)
class Batch:
    """Frames trained on in one update, and the share that each has in the loss.

    A batch may be learnt in parts: the losses of its parts add up to its own.
    """

    name: str
    pairs: tuple[LabelledFrame, ...]
    shares: NDArray[np.float32]
    seeds: tuple[int, ...] = ()
    """Of what is drawn by chance in each frame, such as the regions that are learnt from."""

    @property
    def images(self) -> Images:
        return [frame.image() for frame, _ in self.pairs]

    @property
    def labels(self) -> list[Labels]:
        return [labels for _, labels in self.pairs]

    @property
    def share(self) -> float:
        """Of all frames together: 1 for a whole batch, less for a part of one."""
        return float(self.shares.sum())

    def mean(self, by_frame: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Losses that have one value a frame, each as its sum over the frames' shares."""
        return {name: value @ torch.from_numpy(self.shares).to(value) for name, value in by_frame.items()}

    def with_seeds(self, random: np.random.Generator) -> Batch:
        """With a seed for each frame."""
        return replace(self, seeds=tuple(random.integers(2**61, size=len(self.pairs)).tolist()))

    def part(self, first: int, every: int) -> Batch:
        """Every so many frames, from one of the first on: what one of several processes takes."""
        return self._only(slice(first, None, every))

    def parts(self, most: int | None) -> Iterator[Batch]:
        """One after the other, of at most so many frames each; None: all at once. Of nothing, nothing."""
        size = most or len(self.pairs)
        for first in range(0, len(self.pairs), size or 1):
            yield self._only(slice(first, first + size))

    def _only(self, chosen: slice) -> Batch:
        return replace(self, pairs=self.pairs[chosen], shares=self.shares[chosen], seeds=self.seeds[chosen])

    @property
    def digest(self) -> str:
        """Tells one batch from another: its frames, labels, shares and seeds."""
        held = hashlib.sha256(repr((self.name, self.seeds)).encode())
        held.update(self.shares.tobytes())
        for frame, labels in self.pairs:
            held.update(f"{frame.id} {labels.source} {labels.weights} {labels.complete} {labels.among}".encode())
            held.update(labels.boxes.tobytes() + labels.classes.tobytes())
        return held.hexdigest()

    @staticmethod
    def mean_of(name: str, *groups: Sequence[LabelledFrame]) -> Batch:
        """The mean of the groups' means: groups count the same, and so do frames within one. Empty ones don't count."""
        filled = [group for group in groups if group]
        shares = [np.full(len(group), 1 / (len(filled) * len(group)), np.float32) for group in filled]
        return Batch(name, tuple(pair for group in filled for pair in group), np.concatenate(shares))


def average_losses(updates: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each loss over the updates that have it."""
    names = dict.fromkeys(name for losses in updates for name in losses)
    return {name: float(np.mean([losses[name] for losses in updates if name in losses])) for name in names}
