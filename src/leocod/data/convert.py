"""Write any benchmark to files: layouts that are read back as they were, and formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from leocod.benchmarks.base import Benchmark
from leocod.data.output import open_output
from leocod.data.tool_writers import CvatWriter, LabelStudioWriter, VocWriter, YoloWriter
from leocod.data.writers import CocoWriter, ImageFolder, OutputFrame, ProcessedWriter, Writer
from leocod.errors import InvalidFrame
from leocod.run.record.labels import LabelRecord
from leocod.stream.recorded import Stream
from leocod.types import Frame, LabelledFrame, Labels

BenchmarkLayout = Literal["processed", "coco"]
"""Layouts that also say steps, test frames, and which frames are labelled at each cost."""

ToolFormat = Literal["yolo", "voc", "cvat", "label-studio"]
"""Formats of other tools."""

OutputLayout = BenchmarkLayout | ToolFormat

TOOL_WRITERS: Mapping[ToolFormat, Callable[[ImageFolder, Benchmark], Writer]] = {
    "yolo": YoloWriter,
    "voc": VocWriter,
    "cvat": CvatWriter,
    "label-studio": LabelStudioWriter,
}


class LabelChoice(LabelRecord):
    """Which frames a person labels at one annotation cost."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(Path("labels.json"), stream.labeller.describe())
        self.stream = stream

    def reveal(self, step: int, pairs: Sequence[LabelledFrame]) -> Mapping[int, Labels]:
        """The labels of a step, which the record notes."""
        revealed = self.stream.reveal(step, pairs)
        self.add(step, list(revealed))
        return revealed


def convert(
    benchmark: Benchmark,
    out: Path,
    *,
    to: OutputLayout,
    labels: Mapping[int, LabelChoice],
    link: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> int:
    """Write all of a benchmark to a new folder; return how many frames were left out because they cannot be read.

    `labels` says, for each annotation cost, which frames a person labels; other tools' formats have no place for it. A
    frame with a file of its own keeps the bytes of that file, as a copy or a hard link. Pixels without a file, or of a
    photo that had to be turned, become PNG, which loses nothing. The folder appears when it is complete. `progress` is
    called after each step.
    """
    left_out = benchmark.lost_test_frames
    with open_output(out) as folder:
        writer = _make_writer(folder, benchmark, to, labels, link=link)
        for frames, lost in _list_frames(benchmark, labels):
            for frame in frames:
                writer.add(frame)
            left_out += lost
            progress()
        writer.finish()
    return left_out


def _make_writer(
    folder: Path, benchmark: Benchmark, to: OutputLayout, labels: Mapping[int, LabelChoice], *, link: bool
) -> Writer:
    if to == "processed":
        return ProcessedWriter(ImageFolder(folder, link=link), benchmark, labels)
    if to == "coco":
        return CocoWriter(ImageFolder(folder, link=link), benchmark, labels)
    return TOOL_WRITERS[to](ImageFolder(folder, link=link, flat=True), benchmark)


def _list_frames(benchmark: Benchmark, labels: Mapping[int, LabelChoice]) -> Iterator[tuple[list[OutputFrame], int]]:
    """Yield the frames of each step and the test frames that follow it, and how many frames are left out.

    Frames that cannot be read are left out if the benchmark says so.
    """
    tests = _group_tests_by_step(benchmark)
    number = 0
    for step in range(benchmark.steps):
        pairs = benchmark.frames_of(step)
        revealed = {cost: record.reveal(step, pairs) for cost, record in labels.items()}
        training = [
            OutputFrame(frame, truth, number, False, [cost for cost in revealed if frame.id in revealed[cost]])
            for frame, truth in pairs
            if benchmark.on_bad_frame == "stop" or _is_readable(frame)
        ]
        kept = {output.frame.id for output in training}
        lost = {frame.id: "cannot be read" for frame, _ in pairs if frame.id not in kept}
        for record in labels.values():
            record.forget(lost)
        # A step that has lost all its frames is no step; its test frames go to the one before.
        last = number if training else max(0, number - 1)
        held_out = [OutputFrame(*benchmark.test[position], last, True, ()) for position in tests[step]]
        yield training + held_out, len(lost)
        number += bool(training)


def _is_readable(frame: Frame) -> bool:
    try:
        frame.image()
    except InvalidFrame:
        return False
    return True


def _group_tests_by_step(benchmark: Benchmark) -> list[list[int]]:
    """Group the positions of the test frames by the step that they were held out from."""
    positions: list[list[int]] = [[] for _ in range(benchmark.steps)]
    for position, step in enumerate(benchmark.test_steps()):
        positions[step].append(position)
    return positions
