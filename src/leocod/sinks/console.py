"""The terminal: a progress bar during the run, and a table at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from leocod.evaluation.results import Results
from leocod.events import (
    Evaluated,
    Event,
    RunFinished,
    RunStarted,
    StepArrived,
    StepFinished,
    StepLearned,
    StreamEnded,
    Warned,
)
from leocod.sinks.base import BaseSink, RunInfo, SinkOptions
from leocod.text import describe_plugin, pluralize


class Rate(ProgressColumn):
    """Things a second, or seconds a thing when they are slow."""

    def __init__(self, thing: str) -> None:
        super().__init__()
        self.thing = thing

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f} {self.thing}s/s" if speed >= 1 else f"{1 / speed:.1f} s/{self.thing}")


class ConsoleProgress(BaseSink):
    """Rate, time left, current AP and labels used, in one line; above it a line for each evaluation."""

    def __init__(
        self, options: SinkOptions | None = None, *, run: RunInfo | None = None, console: Console | None = None
    ) -> None:
        """`console`: where to print; by default standard output."""
        super().__init__(options)
        self.console = console or Console(highlight=False)
        self._labels = 0
        self._labelled: set[int] | None = None
        """Which, where frames come again; a stream that passes once need not keep them all."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Rate("step"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[ap]}"),
            TextColumn("{task.fields[labels]} labels"),
            console=self.console,
        )
        self._task = self._progress.add_task("starting", total=None, ap="AP –", labels=0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            length = "a stream of unknown length" if event.steps is None else pluralize(event.steps, "step")
            title = f"{event.name}: {length}, {pluralize(len(event.classes), 'class')}"
            self.console.print(title, highlight=False, markup=False)
            if event.first_step:
                self.console.print(f"resumed after step {event.first_step}", highlight=False)
            if not event.single_pass and self._labelled is None:
                self._labelled = set()
            self._progress.update(self._task, total=event.steps, completed=event.first_step, labels=self._labels)
        elif isinstance(event, StepArrived):
            self._progress.update(self._task, description="learning")
        elif isinstance(event, StepFinished):
            self._progress.update(self._task, description="waiting")
        elif isinstance(event, StreamEnded):
            self._progress.update(self._task, description="finished")
        elif isinstance(event, RunFinished):
            # Its figures take a while to draw, and nothing else is printed meanwhile.
            self.console.print("writing the report", highlight=False)
        elif isinstance(event, StepLearned):
            self._count(event.labelled_ids)
            self._progress.update(self._task, completed=event.step + 1, labels=self._labels)
            if event.refused:
                self.console.print(f"step {event.step + 1}: not learnt, {event.refused}", highlight=False, markup=False)
        elif isinstance(event, Warned):
            self.console.print(f"step {event.step + 1}: {event.what}", highlight=False, markup=False)
        elif isinstance(event, Evaluated):
            ap = f"{event.ap_name} {_show_mean(event.ap_by_class)}"
            self._progress.update(self._task, ap=ap)
            on = (
                f"on {pluralize(len(event.detections), 'test frame')}"
                if event.detections
                else "because there is no test frame"
            )
            also = "".join(f", {_show_mean(one)} on those of {name}" for name, one in event.also.items())
            self.console.print(f"step {event.step + 1}: {ap} {on}{also}", highlight=False, markup=False)

    def _count(self, labelled: Sequence[int]) -> None:
        if self._labelled is None:
            self._labels += len(labelled)
        else:
            self._labelled.update(labelled)
            self._labels = len(self._labelled)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def state_dict(self) -> dict[str, Any]:
        return {"labels": self._labels, "labelled": None if self._labelled is None else sorted(self._labelled)}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self._labels = state["labels"]
        self._labelled = None if state["labelled"] is None else set(state["labelled"])


def _show_mean(ap_by_class: Mapping[str, float | None]) -> str:
    known = [value for value in ap_by_class.values() if value is not None]
    return f"{100 * sum(known) / len(known):.1f}" if known else "–"


def results_table(results: Results) -> Group:
    """The figures of a finished run, under a line that says which run."""
    plug_in = describe_plugin(ema=results.ema, pseudo_labels=results.pseudo_labels, plus=results.plus)
    nested = " (nested)" if results.labels_nested else ""
    labels = ""
    if results.is_short_of_labels:
        labels = (
            f", {pluralize(results.labelled_frames, 'labelled frame')} in {pluralize(results.steps, 'step')}{nested}"
        )
    elif results.labels_per_step is not None:
        labels = f", {pluralize(results.labels_per_step, 'labelled frame')} a step{nested}"
    title = f"{results.benchmark}, {results.strategy} {plug_in}{labels}"
    if results.diagnosis:
        title += f"\n[yellow]Diagnosis: {results.diagnosis}. Not a result of the method.[/yellow]"
    table = Table(show_header=False)
    for name, value in results.scores.items():
        words = results.words(name)
        unit = "" if words.unit == "points" else f" {words.unit}"
        table.add_row(Text(f"{words.label}, {words.title}"), Text("–" if value is None else f"{value:.1f}{unit}"))
    for name, retested in results.also.items():
        before, after = ("–" if ap is None else f"{ap:.1f}" for ap in (retested.start.ap, retested.evaluations[-1].ap))
        table.add_row(Text(f"on the test frames of {name}, before and after"), Text(f"{before}, {after}"))
    boxes = "" if results.labelled_boxes is None else f", {pluralize(results.labelled_boxes, 'box')}"
    table.add_row("labelled frames", f"{results.labelled_frames}{boxes}")
    if results.labelling_seconds is not None:
        table.add_row("a person's time for them", f"{results.labelling_seconds / 60:.0f} min")
    if results.skipped_frames or results.skipped_test_frames:
        counts = f"{results.skipped_frames} of the stream, {results.skipped_test_frames} of the test"
        table.add_row("frames left out, unusable", counts)
    if results.refused_steps:
        table.add_row("steps not learnt, bad numbers", f"{results.refused_steps}")
    if results.warnings:
        table.add_row("warnings, see the report", f"{results.warnings}")
    table.add_row("frames kept", f"{(results.memory_bytes or 0) / 1e6:.1f} MB")
    ram = "not measured" if results.peak_ram_bytes is None else f"{results.peak_ram_bytes / 1e6:.0f} MB"
    table.add_row("RAM, at most", ram)
    table.add_row("time", f"{results.seconds:.0f} s for {pluralize(results.steps, 'step')}")
    return Group(title, table)
