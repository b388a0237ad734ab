"""Labelled frames drawn at random: the paper's choice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from leocod.labelling.base import Labeller, LabellerOptions, LabelRequest


class RandomOptions(LabellerOptions):
    """Options of a random draw."""

    nested: bool = False
    """The frames of a smaller budget are among those of a larger one. Off, as in the authors' data: each budget is
    drawn by itself."""


class RandomLabeller(Labeller):
    """Draws frames at random, with `per_step` as many in each step: the paper's choice.

    The draw depends on the seed, the budget and the step alone, so every strategy gets the same labels and any
    step can be reached directly. Nested draws do not depend on the budget: a smaller one gets a part of a larger one's.
    So do draws under a budget that carries over.
    """

    Options: ClassVar[type[LabellerOptions]] = RandomOptions
    options: RandomOptions

    def choose(self, request: LabelRequest) -> Iterable[int]:
        # A budget of 0 has nothing to draw, so its place is free for what all budgets share.
        budget = 0 if self.options.nested or self.options.per_step is None else self.options.per_step
        draw = np.random.default_rng([self.seed, budget, request.step])
        order = draw.permutation(len(request.frames))
        # A frame that nobody can label has its turn all the same, so that it changes nothing for the others.
        turns = [number for number in order if request.frames[number].id in request.available]
        return [request.frames[number].id for number in sorted(turns[: request.most])]
