"""Incremental object detection via meta-learning: distils from an earlier model and trains a warp layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field
from torch import Tensor, nn

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig
from leocod.strategies.base import StrategyOptions
from leocod.strategies.base_replay import MemoryOptions, MemoryStrategy
from leocod.training.batch import Batch
from leocod.types import LossWeights, Step


class IODOptions(MemoryOptions):
    """Options of incremental object detection via meta-learning."""

    boundary_every: int = Field(100, ge=1)
    """Steps from one teacher to the next. A stream has no task boundaries, so they are set by this number."""
    distillation: float = Field(0.5, ge=0)
    """Weight of the distillation losses."""
    temperature: float = Field(6.0, gt=0)
    """Softens the class scores that are compared with the teacher's."""
    warp_every: int = Field(20, ge=1)
    """Steps from one training of the warp layer to the next."""
    warp_batch: int = Field(16, ge=1)
    """Remembered frames in one update of the warp layer."""


class IOD(MemoryStrategy):
    """Distils features, proposals and regions from the model at the last boundary. The last layer of the region head is
    a warp layer: the stream does not train it, but every few steps frames from the memory do, and the gradients of the
    region losses pass through it to the layers below.

    Joseph et al., Incremental Object Detection via Meta-Learning, TPAMI 2021.
    """

    Options: ClassVar[type[StrategyOptions]] = IODOptions
    options: IODOptions

    def __init__(self, detector: Detector, options: IODOptions | None = None, *, seed: int = 0) -> None:
        super().__init__(detector, options, seed=seed)
        self._warp = _find_warp_layer(detector)
        warp = {id(parameter) for parameter in self._warp}
        self._others = [parameter for parameter in detector.parameters() if id(parameter) not in warp]
        self._teacher: Detector | None = None
        self._shown: set[int] = set()
        """Classes labelled so far."""
        self._known: list[int] = []
        """Classes that the teacher was trained with."""
        self._steps = 0

    @property
    def detectors(self) -> list[Detector]:
        return [*super().detectors, *([] if self._teacher is None else [self._teacher])]

    def batches(self, step: Step) -> Iterator[Batch]:
        if self._steps % self.options.warp_every == 0:
            yield from self._warp_batches()
        yield from self.by_recipe(current=step.labelled())

    def _warp_batches(self) -> Iterator[Batch]:
        """Every frame in the memory, once; only the region losses count."""
        remembered, size = self.memory.frames, self.options.warp_batch
        order = self.random.permutation(len(remembered))
        weights = LossWeights(proposals=0.0)
        pairs = [(remembered[number][0], replace(remembered[number][1], weights=weights)) for number in order]
        for first in range(0, len(pairs), size):
            yield Batch.mean_of("warp", pairs[first : first + size])

    def penalty(self, batch: Batch) -> dict[str, Tensor]:
        if self._teacher is None or batch.name == "warp":
            return {}
        losses = self.detector.distillation(
            batch.images, self._teacher, classes=self._known, temperature=self.options.temperature
        )
        return {name: self.options.distillation * value for name, value in batch.mean(losses).items()}

    def constrain(self, batch: Batch) -> None:
        # None and not zero: Adam leaves a weight without gradient alone, but moves one with a zero gradient on.
        for parameter in self._others if batch.name == "warp" else self._warp:
            parameter.grad = None

    def remember(self, step: Step) -> None:
        super().remember(step)
        self._shown.update(*(labels.classes.tolist() for _, labels in step.labelled("human")))
        self._steps += 1
        if self._steps % self.options.boundary_every == 0:
            self._teacher = self.detector.clone()
            self._known = sorted(self._shown)

    def extend_classes(self, names: Sequence[str]) -> None:
        super().extend_classes(names)
        # New classes are not compared, but the teacher needs outputs for them.
        if self._teacher is not None:
            self._teacher.extend_classes(names)

    def state_dict(self) -> dict[str, Any]:
        teacher = None if self._teacher is None else self._teacher.state_dict()
        own = {"teacher": teacher, "known": list(self._known), "shown": sorted(self._shown), "steps": self._steps}
        return super().state_dict() | own

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self._known, self._shown, self._steps = list(state["known"]), set(state["shown"]), state["steps"]
        self._teacher = None
        if state["teacher"] is not None:
            self._teacher = self.detector.clone()
            self._teacher.load_state_dict(state["teacher"])


def _find_warp_layer(detector: Detector) -> list[nn.Parameter]:
    """The parameters of the last layer of the region head."""
    head = detector.region_head_parameters()
    if not head:
        raise InvalidConfig("strategy 'iod' trains a layer of the region head, and this detector has none.")
    layer = list(head)[-1].rpartition(".")[0]
    return [value for name, value in head.items() if name.startswith(f"{layer}.")]
