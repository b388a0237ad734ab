"""What the files of a run directory may hold, and how much of it. Anyone may have written them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from leocod.evaluation.results import MOST_STEPS, Count, Counts, StepNumber, Stored

LARGEST = 256 * 2**20
"""Bytes of results.json; millions of steps, evaluated every hundred, have a quarter of that."""
LARGEST_NOTE = 8 * 2**20
"""Bytes of the other JSON files."""
LARGEST_LOG = 2**30
"""Bytes of one file of events, unpacked; ten thousand steps have a hundredth of that."""
LONGEST_LINE = 8 * 2**20
"""Bytes of one event."""
MOST_CLASSES = 20_000
MOST_CELLS = 20_000_000
"""Steps x classes, where most of the steps are only spoken of: a number alone must not fill the memory."""
MOST_TOLD_CELLS = 500_000_000
"""Steps x classes, where the events tell of each step."""

Pixels = Annotated[float, Field(ge=-(10**6), le=10**6)]
FrameId = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Fraction = Annotated[float, Field(ge=0, le=1)]
ClassNumber = Annotated[int, Field(ge=0, le=10**9)]
ClassOrName = ClassNumber | str


class Sample(Stored):
    """A frame worth looking at, with its true boxes and the boxes that were given or found."""

    kind: str
    step: StepNumber
    frame: FrameId
    name: str | None = None
    """Its video and its number there; earlier versions did not note it."""
    file: str
    truth: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassOrName]] | None = Field([], max_length=2000)
    """None: nobody has labelled the frame."""
    boxes: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassOrName, Fraction]] = Field([], max_length=2000)


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
    single_pass: bool = True
    known_classes: list[str] | None = Field(None, max_length=MOST_CLASSES)


class Audit(Counts):
    """How right the pseudo labels of a step were; earlier versions did not count by class."""

    by_class: dict[ClassNumber, tuple[Count, Count, Count]] | None = Field(None, max_length=MOST_CLASSES)


class Learned(Stored):
    """What StepLearned tells, as far as a report wants to know."""

    step: StepNumber
    present: list[Count]
    labelled: list[Count]
    labelled_frames: dict[ClassNumber, Count] | None = Field(None, max_length=MOST_CLASSES)
    """None: told by an earlier version."""
    audit: Audit | None = None
    refused: str | None = None


class Evaluated(Stored):
    """What Evaluated tells, without the figures."""

    step: Annotated[int, Field(ge=-1, lt=MOST_STEPS)]
    """-1: before the first step."""


class Warned(Stored):
    """What Warned tells."""

    step: StepNumber
    what: str


class StoredBox(Stored):
    """A true box, or a detection, in COCO form: classes count from 1, and a box is x, y, width and height."""

    image_id: FrameId
    category_id: Annotated[int, Field(ge=1, le=MOST_CLASSES)]
    bbox: tuple[Pixels, Pixels, Pixels, Pixels]
    score: Fraction = 1.0


class StoredImage(Stored):
    """A test frame."""

    id: FrameId


class StoredCategory(Stored):
    """A class; it counts from 1."""

    id: Annotated[int, Field(ge=1, le=MOST_CLASSES)]
    name: str


class TestFile(Stored):
    """test.json: the test frames and their true boxes."""

    images: list[StoredImage]
    annotations: list[StoredBox]
    categories: list[StoredCategory] = Field(max_length=MOST_CLASSES)


class TestedFrame(Stored):
    """A training frame: its true boxes, and what was found in it before it was learnt."""

    id: FrameId
    truth: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassNumber]]
    boxes: list[tuple[Pixels, Pixels, Pixels, Pixels, ClassNumber, Fraction]]


class TestedStep(Stored):
    """A line of prequential.jsonl."""

    step: StepNumber
    frames: list[TestedFrame]
