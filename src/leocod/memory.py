"""The replay memory: a few labelled frames of every class. It holds the pixels: a camera has no files to go back to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field

from leocod.settings import Settings
from leocod.types import Frame, LabelledFrame, Labels


class MemoryOptions(Settings):
    """What is kept for replay."""

    per_class: int = Field(5, ge=1)
    """Frames kept for each class, each with all of its boxes."""
    replacement: Literal["reservoir", "released"] = "reservoir"
    """When a class is full: `reservoir` keeps an even sample of all its frames; `released`, the authors' rule, lets a
    new frame in with chance n / (n + 1) and overwrites any slot, which soon leaves only recent frames."""
    draw_per_class: int = Field(2, ge=1)
    """Frames that each class may contribute to one draw."""


class ReplayMemory:
    """Class-balanced: every class has its own slots. A frame may fill slots of several classes but is held once."""

    def __init__(self, options: MemoryOptions, *, seed: int) -> None:
        self.options = options
        self.random = np.random.default_rng(seed)
        self.slots: dict[int, list[int]] = {}
        """Class -> ids of the frames that stand for it."""
        self.seen: dict[int, int] = defaultdict(int)
        """Class -> how many frames of it were offered."""
        self._frames: dict[int, LabelledFrame] = {}
        self._uses: dict[int, int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def bytes(self) -> int:
        """Pixels and boxes held."""
        return sum(_bytes_of(pair) for pair in self._frames.values())

    @property
    def frames(self) -> list[LabelledFrame]:
        """Everything held, oldest first."""
        return list(self._frames.values())

    def add(self, pairs: Sequence[LabelledFrame]) -> None:
        """Offer labelled frames. Each class in a frame decides for itself whether the frame takes one of its slots."""
        for frame, labels in pairs:
            for name in np.unique(labels.classes).tolist():
                self._offer(name, frame, labels)

    def sample(self, count: int) -> list[LabelledFrame]:
        """Up to `draw_per_class` frames of each class, then `count` of these at random; with fewer, they repeat."""
        drawn: dict[int, None] = {}
        for ids in self.slots.values():
            chosen = self.random.permutation(len(ids))[: self.options.draw_per_class]
            drawn.update((ids[number], None) for number in chosen)
        if not drawn:
            return []
        candidates = list(drawn)
        order = [candidates[number] for number in self.random.permutation(len(candidates))]
        return [self._frames[order[number % len(order)]] for number in range(count)]

    def _offer(self, name: int, frame: Frame, labels: Labels) -> None:
        self.seen[name] += 1
        ids = self.slots.setdefault(name, [])
        if len(ids) < self.options.per_class:
            ids.append(frame.id)
            self._hold(frame, labels)
        elif (slot := self._slot_for_newcomer(name)) is not None:
            self._release(ids[slot])
            ids[slot] = frame.id
            self._hold(frame, labels)

    def _slot_for_newcomer(self, name: int) -> int | None:
        size = self.options.per_class
        if self.options.replacement == "reservoir":
            slot = int(self.random.integers(self.seen[name]))
        else:
            slot = int(self.random.integers(size)) if self.random.integers(size + 1) < size else size
        return slot if slot < size else None

    def _hold(self, frame: Frame, labels: Labels) -> None:
        if frame.id not in self._frames:
            # A view would keep the whole step's pixels alive.
            held = Frame(frame.id, frame.video, frame.index, frame.size, frame.image().copy())
            self._frames[frame.id] = (held, labels)
        self._uses[frame.id] += 1

    def _release(self, frame_id: int) -> None:
        self._uses[frame_id] -= 1
        if self._uses[frame_id] == 0:
            del self._uses[frame_id], self._frames[frame_id]

    def state_dict(self) -> dict[str, Any]:
        """Everything, pixels included."""
        return {
            "slots": {name: list(ids) for name, ids in self.slots.items()},
            "seen": dict(self.seen),
            "random": self.random.bit_generator.state,
            "frames": [_packed(frame, labels) for frame, labels in self._frames.values()],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> Self:
        """Continue from a state."""
        self.slots = {name: list(ids) for name, ids in state["slots"].items()}
        self.seen = defaultdict(int, state["seen"])
        self.random.bit_generator.state = state["random"]
        self._frames = {packed["id"]: _unpacked(packed) for packed in state["frames"]}
        self._uses = defaultdict(int)
        for ids in self.slots.values():
            for frame_id in ids:
                self._uses[frame_id] += 1
        return self


def _bytes_of(pair: LabelledFrame) -> int:
    frame, labels = pair
    return int(frame.image().nbytes + labels.boxes.nbytes + labels.classes.nbytes)


def _packed(frame: Frame, labels: Labels) -> dict[str, Any]:
    """Only tensors and plain values, so that a checkpoint loads without running code."""
    return {
        "id": frame.id,
        "video": frame.video,
        "index": frame.index,
        "pixels": torch.tensor(frame.image()),
        "boxes": torch.tensor(labels.boxes),
        "classes": torch.tensor(labels.classes),
    }


def _unpacked(packed: Mapping[str, Any]) -> LabelledFrame:
    pixels = packed["pixels"].numpy()
    frame = Frame(packed["id"], packed["video"], packed["index"], pixels.shape[:2], pixels)
    return frame, Labels(packed["boxes"].numpy(), packed["classes"].numpy())
