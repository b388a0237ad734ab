"""A fixed number of labelled frames in each step, drawn at random: the paper's annotation cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from leocod.errors import InvalidConfig
from leocod.types import LabelledFrame, Labels


class BudgetLabeller:
    """A fixed number of frames a step, drawn at random: the paper's annotation cost.

    The draw depends on the seed, the budget and the step alone, so every strategy gets the same labels and any
    step can be reached directly. Nested draws do not depend on the budget: a smaller one gets a part of a larger one's.
    """

    def __init__(self, per_step: int, *, seed: int, nested: bool = False) -> None:
        if per_step < 0:
            raise InvalidConfig(f"labels.per_step is {per_step}: it must be 0 or more.")
        self.per_step = per_step
        self.seed = seed
        self.nested = nested

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        # A budget of 0 has nothing to draw, so its place is free for what all budgets share.
        draw = np.random.default_rng([self.seed, 0 if self.nested else self.per_step, step])
        # A frame whose labels nobody knows has its turn all the same, so that it changes nothing for the others.
        turns = [number for number in draw.permutation(len(pairs)) if pairs[number][1].known]
        return {pairs[number][0].id: pairs[number][1] for number in sorted(turns[: self.per_step])}
