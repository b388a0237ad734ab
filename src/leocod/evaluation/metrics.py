"""Which definition of each metric a run is judged by. The first choice is the default; figures say if it is another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from leocod.evaluation.ap import NAMES, Style
from leocod.evaluation.continual import Table, Weights, forgetting_by_class
from leocod.settings import Settings

Seen = TypeVar("Seen")


class Metrics(Settings):
    """What AP50 and forgetfulness mean in a run; results carry it, so that a report means the same."""

    ap: Style = "coco"
    """`coco`: mean precision at 101 recall levels. `voc`: area under the curve, as OAK's own code has it."""
    forgetting_bins: int | None = Field(None, ge=2)
    """Evaluations of a class are put together in so many bins of time away, of equal width. Null: one bin for each
    number of steps."""
    forgetting_weights: Weights = "paper"
    """How much a bin counts. `paper`: by its time away beyond the shortest. `oak`: by its time away."""
    presence: Literal["stream", "labelled"] = "stream"
    """What ends a class's time away. `stream`: being in a step's frames, labelled or not, so that annotation costs
    compare. `labelled`: being in a label that was revealed."""

    @property
    def ap_name(self) -> str:
        """What AP50 is called where it is shown."""
        return NAMES[self.ap]

    @property
    def forgetting_name(self) -> str:
        """What forgetfulness is called where it is shown.

        >>> Metrics(forgetting_bins=10, forgetting_weights="oak").forgetting_name
        'forgetfulness (10 bins, OAK weights)'
        """
        choices = {
            f"{self.forgetting_bins} bins": self.forgetting_bins is not None,
            "OAK weights": self.forgetting_weights == "oak",
            "labelled presence": self.presence == "labelled",
        }
        chosen = ", ".join(words for words, is_chosen in choices.items() if is_chosen)
        return f"forgetfulness ({chosen})" if chosen else "forgetfulness"

    @property
    def last_seen(self) -> str:
        """What a class's time away is counted from, in words."""
        return "in the training stream" if self.presence == "stream" else "in a label"

    def seen(self, present: Seen, labelled: Seen) -> Seen:
        """Of the classes in the frames and those in the labels: the ones that count as present."""
        return present if self.presence == "stream" else labelled

    def forgetting_by_class(self, table: Table, evaluated_steps: Sequence[int], presence: NDArray[np.bool_]) -> Table:
        """F_c by these choices; `presence` is the table of what was `seen`. Results and report both come here."""
        return forgetting_by_class(
            table, evaluated_steps, presence, bins=self.forgetting_bins, weights=self.forgetting_weights
        )
