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
from leocod.report.comparison import explain_obstacle
from leocod.report.kinds import Kind, group_runs, list_runs
from leocod.report.page import render_template
from leocod.report.pictures import LOWEST_SCORE, Picture, make_pictures
from leocod.report.reading import Run
from leocod.report.sections import MOST_DRAWN, make_sections
from leocod.report.summary import summarise
from leocod.report.tables import list_class_rows, list_kind_rows, list_memory_rows
from leocod.text import describe_plugin, list_some, pluralize

WARNINGS_SHOWN = 10
"""Of each run; the others are in its events."""
MOST_NAMED = 12
"""Seeds, or kinds, that a sentence names."""

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
    """What the page says about one kind of run in words and numbers."""

    kind: Kind
    sentence: str
    diagnosis: str | None
    class_rows: list[tuple[Run, list[dict[str, Any]]]]
    """Of each run."""


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
    write_text(out, render(load_kinds(runs)))
    return out


def load_kinds(runs: Sequence[Path]) -> list[Kind]:
    """Read run directories; those that differ only in the seed are one kind."""
    if not runs:
        raise InvalidRun("No run given. Name one run directory or several.")
    return group_runs([Run.load(path) for path in runs])


def list_metrics(runs: Sequence[Run]) -> list[tuple[str, MetricWords]]:
    """Every metric of these runs, and how to show it. Where runs define it differently, its title names both."""
    names = dict.fromkeys(name for run in runs for name in run.results.scores)
    metrics = []
    for name in names:
        words = [run.results.words(name) for run in runs if name in run.results.scores]
        title = " / ".join(dict.fromkeys(one.title for one in words))
        metrics.append((name, words[0].model_copy(update={"title": title})))
    return metrics


def render(kinds: Sequence[Kind]) -> str:
    """The page as text."""
    runs, drawn = list_runs(kinds), kinds[:MOST_DRAWN]
    metrics = list_metrics(runs)
    return render_template(
        Path(__file__).parent / "template.html.j2",
        title=name_page(kinds),
        several=len(runs) > 1,
        has_seeds=len(runs) > len(kinds),
        metrics=metrics,
        warnings_shown=WARNINGS_SHOWN,
        runs=runs,
        drawn=[kind.first for kind in drawn],
        left_out=len(kinds) - len(drawn),
        chapters=[
            Chapter(
                kind, describe_kind(kind), describe_diagnosis(kind), [(run, list_class_rows(run)) for run in kind.runs]
            )
            for kind in kinds
        ],
        kind_rows=list_kind_rows(kinds, [name for name, _ in metrics], drawn=len(drawn)),
        warning=find_differences(kinds),
        summary=summarise(runs[0]) if len(runs) == 1 else [],
        sections=make_sections(kinds, metrics),
        memory_rows=list_memory_rows([kind.first for kind in drawn]),
        albums=collect_albums([kind.first for kind in drawn]),
    )


def name_page(kinds: Sequence[Kind]) -> str:
    """What the page is about."""
    runs = len(list_runs(kinds))
    if runs == 1:
        return kinds[0].name
    if len(kinds) == 1:
        return f"{kinds[0].name}: {runs} seeds"
    return f"{runs} runs{'' if runs == len(kinds) else f' of {len(kinds)} kinds'} side by side"


def collect_albums(runs: Sequence[Run]) -> list[Album]:
    """Sample frames by kind; a kind or a run without any is left out."""
    filled = []
    for kind, (title, note) in SAMPLE_KINDS.items():
        by_run = [(run.name, shown) for run in runs if (shown := make_pictures(run, kind))]
        if by_run:
            if not any(picture.boxes for _, shown in by_run for picture in shown):
                note += " There is no box in any of these frames."
            filled.append(Album(kind, title, note, by_run))
    return filled


def describe_kind(kind: Kind) -> str:
    """What the run was, or the runs, and by which metrics it was judged when they are not the usual ones."""
    results = kind.first.results
    plug_in = describe_plugin(ema=results.ema, pseudo_labels=results.pseudo_labels, plus=results.plus)
    frames = "frame" if results.labels_per_step == 1 else "frames"
    labels = f", {results.labels_per_step} labelled {frames} in each" if results.labels_per_step is not None else ""
    if results.is_short_of_labels:
        labels = f", {pluralize(results.labelled_frames, 'labelled frame')} in all"
    nested = " (nested)" if results.labels_nested else ""
    chosen = results.definitions
    measured = "" if chosen == Definitions() else f" Measured: {chosen.ap_name}, {chosen.forgetting_name}."
    seeds = f"seed{'' if kind.is_single else 's'} {list_some([str(seed) for seed in kind.by_seed], MOST_NAMED)}"
    return (
        f"Strategy {results.strategy} {plug_in}, detector {results.detector}, on {results.benchmark}: "
        f"{pluralize(results.steps, 'step')}{labels}{nested}, {seeds}.{measured}"
    )


def describe_diagnosis(kind: Kind) -> str | None:
    """A warning that the figures are not the method's, when they are not."""
    diagnosis = kind.first.results.diagnosis
    return None if diagnosis is None else f"Diagnosis: {diagnosis}. Not a result of the method."


def find_differences(kinds: Sequence[Kind]) -> str | None:
    """A warning when runs were not put to the same test as the first ones."""
    first, *others = kinds
    reasons = [f"{kind.name} ({reason})" for kind in others if (reason := explain_obstacle(kind, first))]
    if not reasons:
        return None
    return f"These do not compare directly with {first.name}: {list_some(reasons, MOST_NAMED)}."
