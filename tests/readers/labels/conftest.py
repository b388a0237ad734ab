"""What a file of labels says, in a form that tests can compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leocod.readers.labels.base import LabelSet


@pytest.fixture
def told() -> Callable[[LabelSet], list[Any]]:
    """For each image its name, or its number, and its objects as class name and numbers; None: nobody labelled."""

    def listed(labels: LabelSet) -> list[Any]:
        return [
            (
                image.number if image.name is None else image.name,
                None
                if image.objects is None
                else [
                    (labels.classes.get(thing.category, thing.category), *(round(number, 6) for number in thing.box))
                    for thing in image.objects
                ],
            )
            for image in labels.images
        ]

    return listed
