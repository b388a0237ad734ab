"""What metrics are computed from, gathered from the events of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leocod.evaluation.continual import Table
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.history import History
from leocod.events import Evaluated, Event, RunStarted, StepLearned


class HistoryRecorder:
    """Keeps a bit for each class and step, and a row of AP for each evaluation: a stream of weeks has millions."""

    def __init__(self, definitions: Definitions, *, single_pass: bool) -> None:
        self.definitions = definitions
        self.single_pass = single_pass
        self.classes: tuple[str, ...] = ()
        self._in_stream, self._in_labels = bytearray(), bytearray()
        """A row of bytes a step."""
        self._evaluations: list[tuple[int, list[float]]] = []
        """Step, and AP of each class from 0 to 1; NaN: a class without a test box."""
        self._start: list[float] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.classes = event.classes
        elif isinstance(event, StepLearned):
            self._in_stream += self._pack(event.present)
            self._in_labels += self._pack(event.labelled)
        elif isinstance(event, Evaluated):
            by_class = [event.ap_by_class[name] for name in self.classes]
            row = [math.nan if ap is None else ap for ap in by_class]
            if event.step < 0:
                self._start = row
            else:
                self._evaluations.append((event.step, row))

    def history(self, prequential: Table | None = None) -> History:
        """All so far."""
        rows = [row for _, row in self._evaluations]
        return History(
            classes=self.classes,
            evaluated_steps=tuple(step for step, _ in self._evaluations),
            table=100 * np.array(rows, np.float64).reshape(len(rows), len(self.classes)),
            in_stream=self._unpack(self._in_stream),
            in_labels=self._unpack(self._in_labels),
            single_pass=self.single_pass,
            definitions=self.definitions,
            start=None if self._start is None else 100 * np.array(self._start, np.float64),
            prequential=prequential,
        )

    def _pack(self, categories: tuple[int, ...]) -> bytes:
        row = np.zeros(len(self.classes), np.bool_)
        row[list(categories)] = True
        return np.packbits(row).tobytes()

    def _unpack(self, packed: bytearray) -> NDArray[np.bool_]:
        rows = np.frombuffer(packed, np.uint8).reshape(-1, max(-(-len(self.classes) // 8), 1))
        return np.unpackbits(rows, axis=1, count=len(self.classes)).astype(np.bool_)

    def state_dict(self) -> dict[str, Any]:
        return {
            "in_stream": torch.tensor(np.frombuffer(self._in_stream, np.uint8)),
            "in_labels": torch.tensor(np.frombuffer(self._in_labels, np.uint8)),
            "evaluations": [[step, list(row)] for step, row in self._evaluations],
            "start": self._start,
        }

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        # Earlier versions kept one of the two, the one that the definitions ask for: it stands for both.
        in_stream, in_labels = (state.get(key, state.get("seen")) for key in ("in_stream", "in_labels"))
        self._in_stream, self._in_labels = (bytearray(bits.numpy().tobytes()) for bits in (in_stream, in_labels))
        self._evaluations = [(step, list(row)) for step, row in state["evaluations"]]
        self._start = state.get("start")
