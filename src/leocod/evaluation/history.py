"""What a metric is computed from: all that was measured in a run, in numpy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leocod.evaluation.continual import Table
from leocod.evaluation.definitions import Definitions

Measurement = Literal["every evaluation", "last evaluation", "start", "prequential"]
"""What a metric may need. A run has all its evaluations; what is left of an old one may lack some."""


@dataclass(frozen=True, eq=False)
class History:
    """The AP of every class over time, and when each class was there. AP is in points, from 0 to 100."""

    classes: tuple[str, ...]
    evaluated_steps: tuple[int, ...]
    """Steps after which there was an evaluation; they count from 0."""
    table: Table
    """AP, evaluations x classes; NaN for a class without a test box."""
    in_stream: NDArray[np.bool_]
    """Steps x classes: which class was in the frames of which step, labelled or not."""
    in_labels: NDArray[np.bool_]
    """Steps x classes: which class was in the labels of which step."""
    single_pass: bool = True
    """Whether every frame came once. Offline training has no time that passes, so nothing can be forgotten."""
    definitions: Definitions = field(default_factory=Definitions)
    start: Table | None = None
    """AP of each class before the first step; None when nobody asked for it."""
    prequential: Table | None = None
    """AP of each class in the training frames, each detected before its step was learnt; None when nobody asked."""
    lost_steps: tuple[int, ...] = ()
    """Steps whose evaluation is not in the table, because its detections were not kept."""

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Steps x classes: which class counts as present at which step, by the definitions."""
        return self.definitions.choose_presence(self.in_stream, self.in_labels)

    @property
    def measured(self) -> frozenset[Measurement]:
        """What there is to compute metrics from."""
        last = max((*self.evaluated_steps, *self.lost_steps), default=-1)
        known: dict[Measurement, bool] = {
            "every evaluation": not self.lost_steps,
            "last evaluation": last not in self.lost_steps,
            "start": self.start is not None,
            "prequential": self.prequential is not None,
        }
        return frozenset(name for name, is_known in known.items() if is_known)
