"""What test frames can tell: how many there are, and whether their objects are enough for AP to mean something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from leocod.readers.recording import ProblemKind
from leocod.text import list_some, one_line, pluralize
from leocod.types import Labels

FEW_FRAMES = 20
"""Below so many test frames, one frame changes AP by several points."""

FEW_OBJECTS = 5
"""Below so many test objects of a class, one object changes its AP by 20 points or more."""

SHOWN = 8
"""Classes that a message names."""


def find_weaknesses(test: Sequence[Labels], classes: Sequence[str]) -> Iterator[tuple[ProblemKind, str]]:
    """Yield what makes AP on these frames doubtful, each kind with a sentence; nothing without a test frame."""
    if not test:
        return
    counts = Counter(number for labels in test for number in labels.classes.tolist())
    if len(test) < FEW_FRAMES:
        yield (
            "few test frames",
            f"AP rests on {pluralize(len(test), 'test frame')} with {pluralize(counts.total(), 'object')}: a few "
            f"points more or less mean nothing. Label more frames, so that {FEW_FRAMES} or more can test.",
        )
    if missing := [name for number, name in enumerate(classes) if not counts[number]]:
        yield "untested classes", f"no test frame shows {_list_some(missing)}: there is no AP without one."
    if rare := [
        f"{one_line(classes[number])} ({count})" for number, count in sorted(counts.items()) if count < FEW_OBJECTS
    ]:
        yield (
            "untested classes",
            f"fewer than {FEW_OBJECTS} objects in the test frames: {_list_some(rare)}. Their AP says little.",
        )


def _list_some(names: Sequence[str]) -> str:
    return list_some([one_line(name, 60) for name in names], SHOWN)
