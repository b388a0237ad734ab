"""What a report comes to, in a few lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leocod.report.differences import show_differences
from leocod.report.kinds import Kind, list_runs
from leocod.report.report import list_metrics
from leocod.report.summary import ADVICE, LEARNT, summarise
from leocod.report.tables import list_kind_rows
from leocod.text import pluralize


def tell_verdict(kinds: Sequence[Kind]) -> Iterator[str]:
    """One run: what was learnt, and what to do next. Several: their means over seeds, and which is better."""
    runs = list_runs(kinds)
    if len(runs) == 1:
        told = {paragraph.heading: paragraph.sentences for paragraph in summarise(runs[0])}
        yield from (f"{heading}: {' '.join(told[heading])}" for heading in (LEARNT, ADVICE))
        return
    metrics = list_metrics(runs)
    labels = [words.label for _, words in metrics]
    if len(kinds) == 1:
        [row] = list_kind_rows(kinds, [name for name, _ in metrics], drawn=0)
        means = (
            f"{label} {mean}{'' if spread is None else f' ± {spread}'}"
            for label, (mean, spread) in zip(labels, row.scores, strict=True)
        )
        yield f"{kinds[0].name}: {', '.join(means)}, {pluralize(len(runs), 'seed')}."
    for section in show_differences(kinds, metrics):
        if section.missing:
            yield section.missing
        for grid in section.tables:
            for compared, *verdicts in grid.rows:
                cells = (f"{label} {verdict}" for label, verdict in zip(grid.head[1:], verdicts, strict=True))
                yield f"{compared}: {'; '.join(cells)}."
