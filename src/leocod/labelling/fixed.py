"""Labelled frames that somebody chose before, such as a published selection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from leocod.errors import InvalidConfig
from leocod.labelling.base import Labeller, LabellerOptions, LabelRequest, StreamInfo
from leocod.text import pluralize


class FixedOptions(LabellerOptions):
    """Options of a choice that comes with the data."""


class FixedLabeller(Labeller):
    """Takes the frames that the data's own files choose at this cost, as the authors' `train_anno<k>.csv` do."""

    Options: ClassVar[type[LabellerOptions]] = FixedOptions

    def __init__(self, options: FixedOptions | None = None, *, seed: int = 0, stream: StreamInfo | None = None) -> None:
        super().__init__(options, seed=seed, stream=stream)
        if self.options.per_step is None:
            raise InvalidConfig("labels.name is 'fixed': published choices go by labels.per_step. Set it.")
        chosen = stream.published(self.options.per_step) if stream else None
        if chosen is None:
            raise InvalidConfig(
                f"labels.name is 'fixed', but {stream.name if stream else 'the stream'} has no published choice of "
                f"{pluralize(self.options.per_step or 0, 'frame')} a step. "
                "Use labels.name=random, or another labels.per_step."
            )
        self.chosen = chosen

    def choose(self, request: LabelRequest) -> Iterable[int]:
        return [frame.id for frame in request.frames if frame.id in self.chosen]
