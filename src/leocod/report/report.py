"""Run directories -> one page that stands alone: figures and pictures are inside it, and it needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.errors import InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.results import MetricWords
from leocod.files.atomic import write_text
from leocod.report import figures
from leocod.report.page import render_template
from leocod.report.pictures import LOWEST_SCORE, Picture, make_pictures
from leocod.report.reading import Run
from leocod.report.sections import make_sections
from leocod.report.summary import summarise
from leocod.report.tables import list_class_rows, list_memory_rows
from leocod.text import describe_plugin, pluralize

WARNINGS_SHOWN = 10
"""Of each run; the others are in its events."""

SAMPLE_KINDS = {
    "test": (
        "What is found in test frames at the end",
        f"By the slow learner, where there is one. Detections with a score of at least {LOWEST_SCORE}.",
    ),
    "pseudo": (
        "Pseudo labels on training frames",
        "What the slow learner told the fast one.",
    ),
    "memory": ("Frames in the replay memory at the end", "With the boxes stored with them."),
}


@dataclass(frozen=True)
class Chapter:
    """What the page says about one run in words and numbers."""

    run: Run
    colour: str
    sentence: str
    diagnosis: str | None
    class_rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Album:
    """Sample frames of one kind, run by run."""

    kind: str
    title: str
    note: str
    by_run: list[tuple[str, list[Picture]]]

    @property
    def is_judged(self) -> bool:
        """Whether somebody knows what is in a frame of it."""
        return any(picture.is_judged for _, pictures in self.by_run for picture in pictures)

    @property
    def has_unknown(self) -> bool:
        """Whether nobody knows what is in a frame of it."""
        return any(not picture.is_judged for _, pictures in self.by_run for picture in pictures)


def write_report(runs: Sequence[Path], out: Path) -> Path:
    """Write the page about one run, or about several side by side. Returns `out`, a file."""
    if not runs:
        raise InvalidRun("No run given. Name one run directory or several.")
    page = render([Run.load(path) for path in runs])
    write_text(out, page)
    return out


def list_metrics(runs: Sequence[Run]) -> list[tuple[str, MetricWords]]:
    """Every metric of these runs, and how to show it. Where runs define it differently, its title names both."""
    names = dict.fromkeys(name for run in runs for name in run.results.scores)
    metrics = []
    for name in names:
        words = [run.results.words(name) for run in runs if name in run.results.scores]
        title = " / ".join(dict.fromkeys(one.title for one in words))
        metrics.append((name, words[0].model_copy(update={"title": title})))
    return metrics


def render(runs: Sequence[Run]) -> str:
    """The page as text."""
    return render_template(
        Path(__file__).parent / "template.html.j2",
        title=runs[0].name if len(runs) == 1 else f"{len(runs)} runs side by side",
        several=len(runs) > 1,
        metrics=list_metrics(runs),
        warnings_shown=WARNINGS_SHOWN,
        chapters=[
            Chapter(run, figures.pick_colour(number), describe_run(run), describe_diagnosis(run), list_class_rows(run))
            for number, run in enumerate(runs)
        ],
        warning=find_differences(runs),
        summary=summarise(runs[0]) if len(runs) == 1 else [],
        sections=make_sections(runs),
        memory_rows=list_memory_rows(runs),
        albums=collect_albums(runs),
    )


def collect_albums(runs: Sequence[Run]) -> list[Album]:
    """Sample frames by kind; a kind or a run without any is left out."""
    filled = []
    for kind, (title, note) in SAMPLE_KINDS.items():
        by_run = [(run.name, shown) for run in runs if (shown := make_pictures(run, kind))]
        if by_run:
            filled.append(Album(kind, title, note, by_run))
    return filled


def describe_run(run: Run) -> str:
    """What the run was, and by which metrics it was judged when they are not the usual ones."""
    results = run.results
    plug_in = describe_plugin(ema=results.ema, pseudo_labels=results.pseudo_labels)
    frames = "frame" if results.labels_per_step == 1 else "frames"
    labels = f", {results.labels_per_step} labelled {frames} in each" if results.labels_per_step is not None else ""
    if results.is_short_of_labels:
        labels = f", {pluralize(results.labelled_frames, 'labelled frame')} in all"
    nested = " (nested)" if results.labels_nested else ""
    chosen = results.definitions
    measured = "" if chosen == Definitions() else f" Measured: {chosen.ap_name}, {chosen.forgetting_name}."
    return (
        f"Strategy {results.strategy} {plug_in}, detector {results.detector}, on {results.benchmark}: "
        f"{pluralize(results.steps, 'step')}{labels}{nested}, seed {results.seed}.{measured}"
    )


def describe_diagnosis(run: Run) -> str | None:
    """A warning that the figures are not the method's, when they are not."""
    kind = run.results.diagnosis
    return None if kind is None else f"Diagnosis: {kind}. Not a result of the method."


def find_differences(runs: Sequence[Run]) -> str | None:
    """A warning when runs were not put to the same test."""
    tests = {(run.results.benchmark, run.results.steps, run.classes, run.results.definitions) for run in runs}
    if len(tests) == 1:
        return None
    return "These runs differ in benchmark, length, classes or metrics: their figures do not compare directly."
