"""given.json: fingerprints of what was learnt from and what tested, so that a later run can tell what is new."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import torch
from pydantic import BaseModel, Field, ValidationError

from leocod.errors import InvalidRun
from leocod.events import Event, RunStarted, StepLearned
from leocod.files.atomic import write_json
from leocod.files.run_directory import RunDirectory
from leocod.sinks.base import BaseSink
from leocod.stream.added_labels import KnownLabels
from leocod.stream.fingerprints import fingerprint_frame, fingerprint_labels
from leocod.types import Frame

Fingerprint = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class GivenFile(BaseModel):
    """What the file holds."""

    frames: list[Fingerprint]
    """Frames that were learnt from; a frame whose labels were changed is there twice, and the last time counts."""
    labels: list[Fingerprint]
    """The labels of each."""
    tested: list[Fingerprint]


class GivenLabels(BaseSink):
    """Notes every frame that is learnt from, and writes the file at the end, or when a run is broken off."""

    def __init__(self, path: Path, tested: Iterable[Frame], before: KnownLabels | None = None) -> None:
        """`before`: what the runs before have learnt, where this one goes on from them."""
        self.path = path
        before = before or KnownLabels({}, frozenset())
        self.tested = sorted({*before.tested, *map(fingerprint_frame, tested)})
        # Plain numbers: a stream of weeks has millions of labels.
        self._frames, self._labels = array("q", before.given), array("q", before.given.values())
        self._classes: tuple[str, ...] = ()
        self._noted: set[int] | None = None
        """Frames that are noted, where they come again in each epoch."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._classes = event.classes
            self._noted = None if event.single_pass else set()
        elif isinstance(event, StepLearned) and not event.refused:
            for frame in event.frames:
                if frame.id in event.labelled_ids and frame.id in event.truth and frame.id not in (self._noted or ()):
                    if self._noted is not None:
                        self._noted.add(frame.id)
                    self._frames.append(fingerprint_frame(frame))
                    self._labels.append(fingerprint_labels(event.truth[frame.id], self._classes))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        content = {"frames": self._frames.tolist(), "labels": self._labels.tolist(), "tested": self.tested}
        write_json(self.path, content)

    def state_dict(self) -> dict[str, Any]:
        return {"frames": torch.tensor(self._frames), "labels": torch.tensor(self._labels)}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._frames = array("q", state["frames"].tolist())
        self._labels = array("q", state["labels"].tolist())


def read_given_labels(directory: RunDirectory) -> KnownLabels:
    """What a run, and those that it went on from, have learnt from and were tested on."""
    try:
        held = GivenFile.model_validate_json(directory.given.read_bytes())
        return KnownLabels(dict(zip(held.frames, held.labels, strict=True)), frozenset(held.tested))
    except FileNotFoundError as error:
        raise InvalidRun(
            f"{directory.path} does not say which labels it had: it has no given.json, which earlier versions did not "
            "write. Start without --new-labels."
        ) from error
    except (OSError, ValidationError, ValueError) as error:
        raise InvalidRun(f"{directory.given} is damaged: it cannot tell which labels are new.") from error
