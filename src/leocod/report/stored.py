"""What the files of a run directory may hold, and how much of it. Anyone may have written them."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from leocod.evaluation.metrics import Metrics

LARGEST = 256 * 2**20
"""Bytes of results.json; millions of steps, evaluated every hundred, have a quarter of that."""
LARGEST_NOTE = 8 * 2**20
"""Bytes of the other JSON files."""
LARGEST_LOG = 2**30
"""Bytes of one file of events, unpacked; ten thousand steps have a hundredth of that."""
LONGEST_LINE = 8 * 2**20
"""Bytes of one event."""
MOST_STEPS = 10**8
MOST_CLASSES = 20_000
MOST_CELLS = 20_000_000
"""Steps x classes, where most of the steps are only spoken of: a number alone must not fill the memory."""
MOST_TOLD_CELLS = 500_000_000
"""Steps x classes, where the events tell of each step."""

StepNumber = Annotated[int, Field(ge=0, lt=MOST_STEPS)]
Count = Annotated[int, Field(ge=0, le=10**18)]
Points = Annotated[float, Field(ge=-101, le=101)]
Seconds = Annotated[float, Field(ge=0, le=10**12)]
Pixels = Annotated[float, Field(ge=-(10**6), le=10**6)]
ClassOrName = Annotated[int, Field(ge=0, le=10**9)] | str


class Stored(BaseModel):
    """Keys that a later version may add are none of this reader's business."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Evaluation(Stored):
    """AP50 after one step, in points from 0 to 100."""

    step: StepNumber
    ap50: Points | None
    ap50_by_class: dict[str, Points | None]


class Results(Stored):
    """What came out of a run; figures in points from 0 to 100."""

    benchmark: str
    detector: str
    strategy: str
    efficient_cls: bool
    ema: bool
    pseudo_labels: bool
    labels_per_step: Count | None
    seed: Annotated[int, Field(ge=0, lt=2**128)]
    steps: StepNumber
    labelled_frames: Count
    fap: Points | None
    cap: Points | None
    forgetfulness: Points | None
    evaluations: list[Evaluation]
    seconds: Seconds
    labels_nested: bool = False
    metrics: Metrics = Metrics()
    diagnosis: str | None = None
    seconds_by_part: dict[str, Seconds] = Field({}, max_length=100)
    memory_bytes: Count | None = None

    @field_validator("evaluations")
    @classmethod
    def _in_order(cls, evaluations: list[Evaluation]) -> list[Evaluation]:
        for before, after in pairwise(evaluations):
            if after.step <= before.step:
                raise ValueError(f"step {after.step} comes after step {before.step}")
        return evaluations

    @field_validator("metrics")
    @classmethod
    def _countable(cls, metrics: Metrics) -> Metrics:
        if (metrics.forgetting_bins or 0) > MOST_STEPS:
            raise ValueError(f"forgetting_bins: more than {MOST_STEPS}")
        return metrics


class Sample(Stored):
    """A frame worth looking at, with its true boxes and the boxes that were given or found."""

    kind: str
    step: StepNumber
    frame: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    file: str
    truth: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassOrName]] = Field([], max_length=2000)
    boxes: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassOrName, Annotated[float, Field(ge=0, le=1)]]] = Field(
        [], max_length=2000
    )


class Held(Stored):
    """How much of one class the memory holds, and how many frames of it came by."""

    frames: Count
    seen: Count


class Memory(Stored):
    """What was in the replay memory at the end."""

    bytes: Count
    frames: Count
    by_class: dict[str, Held] = Field({}, max_length=MOST_CLASSES)


class Started(Stored):
    """What RunStarted tells."""

    classes: list[str] = Field(min_length=1, max_length=MOST_CLASSES)


class Audit(Stored):
    """How right the pseudo labels of a step were."""

    frames: Count
    labels: Count
    right: Count
    objects: Count


class Learned(Stored):
    """What StepLearned tells, as far as a report wants to know."""

    step: StepNumber
    present: list[Count]
    labelled: list[Count]
    audit: Audit | None = None
    refused: str | None = None


class Warned(Stored):
    """What Warned tells."""

    step: StepNumber
    what: str
