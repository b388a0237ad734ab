"""What AP and forgetfulness mean in a run. The first choice is the default; figures say if it is another."""

from __future__ import annotations

from typing import Literal, TypeVar

from pydantic import Field

from leocod.evaluation.ap import NAMES, Style
from leocod.evaluation.continual import Weights
from leocod.settings import Settings

Seen = TypeVar("Seen")


class Definitions(Settings):
    """What AP and forgetfulness mean in a run. Results carry it, so that a report means the same."""

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
        """What AP is called where it is shown."""
        return NAMES[self.ap]

    @property
    def forgetting_name(self) -> str:
        """What forgetfulness is called where it is shown.

        >>> Definitions(forgetting_bins=10, forgetting_weights="oak").forgetting_name
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

    def choose_presence(self, in_stream: Seen, in_labels: Seen) -> Seen:
        """Of the classes in the frames and those in the labels: the ones that count as present."""
        return in_stream if self.presence == "stream" else in_labels

    def fill_in(self, title: str) -> str:
        """The title of a metric with the names of these definitions in it.

        >>> Definitions(ap="voc").fill_in("mean {ap} at the end")
        'mean VOC AP50 at the end'
        """
        return title.replace("{ap}", self.ap_name).replace("{forgetting}", self.forgetting_name)
