"""FWT: what learning other classes did for a class that had not come yet."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leocod.evaluation.continual import mean_of_known
from leocod.evaluation.history import History, Measurement
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class FWT(Metric):
    """Forward transfer, with a class in the place of a task.

    Lopez-Paz and Ranzato (GEM, 2017) have FWT = 1 / (T - 1) sum_{i > 1} (R_{i-1,i} - b_i): how much better task i is
    just before it is learnt than at the beginning, b. The first task is left out, as nothing came before it. Here

        FWT_c = AP_c(last evaluation before class c was first present) - AP_c(before the first step)
        FWT   = mean over classes of FWT_c

    b is what the learner starts with, as in OAK's own code: starting weights may know a class. A class has no FWT_c if
    it has no test box, was never present, or was present before the first evaluation. `presence` of the run's
    definitions says what counts as present. Without an evaluation before the first step (`evaluate.start: true`)
    there is no FWT. Positive: what was learnt of others helped.
    """

    name: ClassVar[str] = "fwt"
    label: ClassVar[str] = "FWT"
    title: ClassVar[str] = "{ap} gained before a class first came"
    direction: ClassVar[Direction] = "higher"
    needs: ClassVar[frozenset[Measurement]] = frozenset({"every evaluation", "start"})
    undefined: ClassVar[str] = "No class came after the first evaluation, or frames came more than once."

    def compute(self, history: History) -> float | None:
        if not history.single_pass or history.start is None:
            return None
        steps = np.array(history.evaluated_steps, np.int64)
        changes = np.full(len(history.classes), np.nan)
        for category in np.flatnonzero(history.presence.any(axis=0)).tolist():
            before = int(np.searchsorted(steps, history.presence[:, category].argmax())) - 1
            if before >= 0:
                changes[category] = history.table[before, category] - history.start[category]
        return or_none(mean_of_known(changes))
