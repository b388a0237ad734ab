"""The settings of `leocod live`: a stream without an end, labelled by a person while it runs. It cannot be measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig
from leocod.files.addresses import hide_secrets
from leocod.settings import Settings
from leocod.text import one_line
from leocod.types import LabelledFrame


class LiveOptions(Settings):
    """Options of a live stream."""

    source: str = Field("world", min_length=1, max_length=2000)
    """A video file, a folder, a camera (`0`, `/dev/video0`), an address (`rtsp://`, `http://`), or `world`."""
    fps: float | None = Field(None, gt=0, le=240)
    """Frames a second. Null: the source's own; 10 for a folder and for the world."""
    loop: bool = False
    """Whether a file or a folder begins again when it ends."""
    frames_per_step: int = Field(16, ge=1, le=256)
    """Frames that make a step."""
    requests: int = Field(16, ge=1, le=16)
    """Frames that wait for a label at a time. For a new one another gives way, but none of the first few, which the
    person may be working on."""
    keep_aside: int = Field(5, ge=0)
    """Every so many-th label is kept aside: it is never trained on, and AP is measured on it. 0: none."""
    measure_every: int = Field(10, ge=1)
    """Steps from one measurement on the labels that are kept aside to the next."""
    steps_per_label: int = Field(2, ge=1)
    """Steps that are learnt for each label, at most, on average: while a person is away, the detector waits and does
    not teach itself."""
    steps_waiting: int = Field(2, ge=1)
    """Steps that wait while one is learnt. Further ones are dropped and counted."""


class Live(Benchmark):
    """A live stream has no true labels and no end, so no benchmark can be made of it."""

    Options = LiveOptions
    name = "live"

    def __init__(self, options: Any, *, seed: int = 0) -> None:
        raise InvalidConfig(
            "A live stream has no true labels and no end, so it is no benchmark. Start it with "
            f"`leocod live {one_line(hide_secrets(options.source))}`; to go on with one: `leocod live --run DIR`."
        )

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        raise NotImplementedError

    @property
    def test(self) -> Sequence[LabelledFrame]:
        raise NotImplementedError
