"""BWT: what learning went on to do to classes that were not there any more."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leocod.evaluation.continual import mean_of_known
from leocod.evaluation.history import History
from leocod.evaluation.metrics.base import Direction, Metric, or_none


class BWT(Metric):
    """Backward transfer, with a class in the place of a task.

    Lopez-Paz and Ranzato (GEM, 2017) have R_ij, the accuracy on task j after learning task i, and
    BWT = 1 / (T - 1) sum_{i < T} (R_Ti - R_ii): the last task is left out, as nothing came after it. A stream has no
    tasks, and a class comes and goes. It is learnt when it was present for the last time. So here

        BWT_c = AP_c(last evaluation) - AP_c(first evaluation after class c was last present)
        BWT   = mean over classes of BWT_c

    An evaluation comes after its step: a class present in that very step counts as before it. A class has no BWT_c if
    it has no test box, was never present, or was present after the last evaluation but one: nothing was evaluated
    before and after. `presence` of the run's definitions says what counts as present. On a stream of tasks of one
    class each, evaluated at the end of each task, this is GEM's. Negative: later learning made old classes worse.

    OAK's own code takes slices of time for tasks: the test frames in as many parts as there are evaluations. That
    needs a test set that follows the stream, and a slice has few of the classes.
    """

    name: ClassVar[str] = "bwt"
    label: ClassVar[str] = "BWT"
    title: ClassVar[str] = "{ap} gained since a class was last there"
    direction: ClassVar[Direction] = "higher"
    undefined: ClassVar[str] = "No class was evaluated twice after it was last there, or frames came more than once."

    def compute(self, history: History) -> float | None:
        if not history.single_pass or not len(history.table):
            return None
        steps, last = np.array(history.evaluated_steps), len(history.table) - 1
        changes = np.full(len(history.classes), np.nan)
        for category in np.flatnonzero(history.presence.any(axis=0)).tolist():
            last_present = np.flatnonzero(history.presence[:, category])[-1]
            learnt = int(np.searchsorted(steps, last_present))
            if learnt < last:
                changes[category] = history.table[last, category] - history.table[learnt, category]
        return or_none(mean_of_known(changes))
