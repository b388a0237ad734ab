"""Of a stream that a run has learnt, only what has been labelled since, or labelled otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidData, InvalidFrame
from leocod.stream.fingerprints import fingerprint_frame, fingerprint_labels
from leocod.text import pluralize
from leocod.types import Frame, LabelledFrame, Labels


@dataclass(frozen=True)
class KnownLabels:
    """What runs have learnt from and were tested on, as fingerprints."""

    given: Mapping[int, int]
    """Frame -> its labels."""
    tested: frozenset[int]
    """Frames that tested."""


class AddedLabels(Benchmark):
    """The steps in which labels are new. Their unlabelled frames come along; frames that were learnt before do not.

    A frame that tested before tests again, and is never learnt from. A frame that was learnt from never tests. Of the
    new labels, those test which the benchmark holds out.
    """

    def __init__(self, benchmark: Benchmark, known: KnownLabels, where: object) -> None:
        """`where`: the run that has learnt the stream before, for messages."""
        self.benchmark, self.known = benchmark, known
        self.name, self.classes, self.on_bad_frame = benchmark.name, benchmark.classes, benchmark.on_bad_frame
        self._old_steps: list[int] = []
        self._count, tested_before = 0, []
        for step in range(benchmark.steps):
            pairs = benchmark.frames_of(step)
            tested_before += [pair for pair in pairs if pair[1].known and self._tested(pair[0])]
            if news := sum(labels.known for _, labels in self._select(pairs)):
                self._old_steps.append(step)
                self._count += news
        self.steps = len(self._old_steps)
        if not self.steps:
            raise InvalidData(f"No label is new since {where}: there is nothing to learn, and nothing was changed.")
        kept = [pair for pair in benchmark.test if fingerprint_frame(pair[0]) not in known.given]
        self._test = [*kept, *tested_before]

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        return self._select(self.benchmark.frames_of(self._old_steps[step]))

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return self._test

    @property
    def warnings(self) -> Sequence[str]:
        frames = pluralize(self._count, "frame")
        news = f"Labels of {frames} in {pluralize(self.steps, 'step')} are new or changed. Nothing else is learnt."
        return [news, *self.benchmark.warnings]

    @property
    def lost_test_frames(self) -> int:
        return self.benchmark.lost_test_frames

    @property
    def unlabelled_test_frames(self) -> int:
        return self.benchmark.unlabelled_test_frames

    def fault(self, frame: Frame, error: InvalidFrame) -> InvalidFrame:
        return self.benchmark.fault(frame, error)

    def _select(self, pairs: Sequence[LabelledFrame]) -> list[LabelledFrame]:
        """Those that neither tested nor were learnt from before."""
        return [pair for pair in pairs if not self._tested(pair[0]) and not self._is_learnt(*pair)]

    def _tested(self, frame: Frame) -> bool:
        return fingerprint_frame(frame) in self.known.tested

    def _is_learnt(self, frame: Frame, labels: Labels) -> bool:
        """Whether a run has learnt from these very labels."""
        return labels.known and self.known.given.get(fingerprint_frame(frame)) == fingerprint_labels(
            labels, self.classes
        )
