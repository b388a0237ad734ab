"""A table as files: Markdown and CSV to read and to compute with, and a page that stands alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.files.atomic import write_text
from leocod.paper import budgets, glance, starts
from leocod.paper.columns import find_column
from leocod.paper.details import format_classes, format_over_time
from leocod.paper.display import (
    DIFFERENCES,
    NO_FIGURES,
    build_lines,
    explain_claims,
    explain_intervals,
    explain_verdicts,
    list_datasets,
    list_differences,
    stand_under_their_rows,
)
from leocod.paper.labelling_quality import HEADINGS, HELP, NONE, THIRD_HEADINGS, build_quality_lines
from leocod.paper.outcome import Outcome
from leocod.paper.over_time import draw_rows_over_time
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord, format_runs
from leocod.paper.sheets import format_csv
from leocod.paper.table import DATASETS, Table
from leocod.report.drawing import make_standalone
from leocod.report.page import render_template
from leocod.run.config import load_mapping


def write_table(plan: Plan, table: Table) -> list[Path]:
    """Write everything about a table that its finished cells tell. Returns the files."""
    outcome, records = Outcome.read(plan, table), read_records(plan, table)
    content = format_numbers(plan, outcome, records)
    if (drawing := glance.draw_rows(outcome, alone=True)) is not None:
        content[f"{table.name}.svg"] = make_standalone(drawing)
    return write_files(plan, {**content, f"{table.name}.html": render_page(plan, outcome, records)})


def read_records(plan: Plan, table: Table) -> list[RunRecord]:
    """The finished runs of a table, row by row, each once."""
    cells = {cell.name: cell for row in table.rows for cell in plan.cells_of(table, row)}
    return [record for cell in cells.values() if (record := cell.record) is not None]


def format_numbers(plan: Plan, outcome: Outcome, records: Sequence[RunRecord]) -> dict[str, str]:
    """The content of the Markdown and CSV files by their names."""
    name = outcome.table.name
    by_class = {record.run: record.by_class for record in records if record.by_class}
    over_time = {record.run: record.over_time for record in records if record.over_time}
    content = {
        f"{name}.md": format_markdown(plan, outcome, records),
        f"{name}.csv": format_rows(outcome),
        f"{name}-runs.csv": format_runs(records),
    }
    # Of runs of earlier versions only the line above may be left.
    if by_class:
        content[f"{name}-classes.csv"] = format_classes(by_class)
    if over_time:
        content[f"{name}-over-time.csv"] = format_over_time(over_time)
    return content


def write_files(plan: Plan, content: Mapping[str, str]) -> list[Path]:
    """Write each file whole or not at all."""
    for name, text in content.items():
        write_text(plan.out / name, text)
    return [plan.out / name for name in content]


def format_markdown(plan: Plan, outcome: Outcome, records: Sequence[RunRecord]) -> str:
    """For people, and for places that cannot show a page."""
    table = outcome.table
    parts = [
        [f"# {table.title}"],
        [describe(plan, outcome)],
        _format_figures(outcome),
        [table.note] if table.note else [],
        _format_quality(outcome),
        _format_differences(outcome),
        _format_budgets(outcome),
        _format_claims(outcome),
        [describe_origin(plan, table, records)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def describe(plan: Plan, outcome: Outcome) -> str:
    """The text above the figures."""
    table = outcome.table
    spread_over = "choices of the labelled frames" if any(row.selections for row in table.rows) else "seeds"
    several = any(row.expected > 1 for row in outcome.rows.values())
    ours = f"mean ± standard deviation over {spread_over}" if several else "single runs"
    which = "that it stands under" if stand_under_their_rows(table) else "named beside it"
    under = f"; in brackets the difference to the row {which}, and its interval"
    brackets = under if any(row.over for row in table.rows) else ""
    sentences = [
        f"{table.in_paper} of the paper on {plan.benchmark}." if table.in_paper else f"On {plan.benchmark}.",
        f"{'Ours' if table.in_paper else 'Figures'}: {ours}, in points{brackets}.",
    ]
    sentences += [_count_runs(outcome), explain_intervals(outcome)]
    pairs = [(outcome.rows[row.key].runs, outcome.rows[row.over].runs) for row in table.rows if row.over]
    if any(own and other and own.keys() != other.keys() for own, other in pairs):
        sentences.append("A difference is over the runs that both rows have, and not the difference of the two means.")
    if list_datasets(table):
        sentences.append(
            "Beside it the paper's, from other data and another detector: compare differences, not heights."
        )
    if (chosen := load_mapping(plan.base).evaluate.definitions) != Definitions():
        sentences.append(f"Measured: {chosen.ap_name}, {chosen.forgetting_name}.")
    if not outcome.complete:
        sentences.append("Not all of it has been run yet.")
    sentences += starts.warn_of_other_starts(outcome)
    return " ".join(sentences)


def _count_runs(outcome: Outcome) -> str:
    there, expected = (
        sum(counts) for counts in zip(*((len(row.runs), row.expected) for row in outcome.rows.values()), strict=True)
    )
    count = f"{there} of {expected}" if there < expected else str(expected)
    return f"It rests on {count} {'run' if expected == 1 else 'runs'}."


def describe_origin(plan: Plan, table: Table, records: Sequence[RunRecord]) -> str:
    """The command and the code that made the figures."""
    commits = dict.fromkeys(commit for record in records for commit in record.commits)
    code = f", code of commit {', '.join(commits)}" if commits else ""
    return f"Made by `{shlex.join(plan.command(table))}`{code}. Run by run: {table.name}-runs.csv."


def format_rows(outcome: Outcome) -> str:
    """One CSV line for each row: all figures, unrounded."""
    lines: list[dict[str, Any]] = []
    for row in outcome.table.rows:
        runs = outcome.rows[row.key]
        line: dict[str, Any] = {"row": row.key, "strategy": row.strategy, "plug_in": row.plug_in, "labels": row.labels}
        line |= {"diagnosis": row.diagnosis, "over": row.over, "runs": len(runs.runs)}
        for metric in outcome.table.metrics:
            line |= {metric: runs.mean(metric), f"{metric}_spread": runs.spread(metric)}
            difference = outcome.difference(row, metric)
            low, high = (difference and difference.interval) or (None, None)
            line[f"{metric}_difference"] = difference and difference.mean
            line |= {f"{metric}_low": low, f"{metric}_high": high}
        for dataset in list_datasets(outcome.table):
            figures = row.paper.get(dataset, NO_FIGURES)
            line |= {f"{dataset}_{metric}": value for metric, value in zip(PAPER_METRICS, figures, strict=True)}
        lines.append(line)
    return format_csv(lines)


def render_page(plan: Plan, outcome: Outcome, records: Sequence[RunRecord]) -> str:
    """The table as one HTML file that needs nothing else."""
    table = outcome.table
    quality_headings, quality = _list_quality(outcome)
    return render_template(
        Path(__file__).parent / "table.html.j2",
        table=table,
        about=describe(plan, outcome),
        origin=describe_origin(plan, table, records),
        headings=[find_column(metric).heading for metric in table.metrics],
        paper_headings=[find_column(metric).heading for metric in PAPER_METRICS],
        labels=[find_column(metric).label for metric in table.metrics],
        datasets=[(dataset, DATASETS[dataset]) for dataset in list_datasets(table)],
        lines=build_lines(outcome),
        named=not stand_under_their_rows(table),
        rows_help=glance.HELP,
        rows=glance.draw_rows(outcome),
        over_time=draw_rows_over_time(outcome),
        quality_help=HELP,
        quality_headings=quality_headings,
        quality=quality,
        differences_help=DIFFERENCES,
        differences=list_differences(outcome),
        budgets_help=budgets.HELP,
        budget_headings=list(budgets.SPENT.values()),
        budgets=budgets.compare_budgets(outcome),
        claims_title=_title_claims(table),
        claims_help=explain_verdicts(outcome),
        claims=explain_claims(outcome),
    )


def _format_figures(outcome: Outcome) -> list[str]:
    datasets = list_datasets(outcome.table)
    ours = [find_column(metric).heading for metric in outcome.table.metrics]
    paper = [f"{DATASETS[dataset]} {find_column(metric).label}" for dataset in datasets for metric in PAPER_METRICS]
    named = not stand_under_their_rows(outcome.table)
    text = _format_head(["", "labels", *(["over"] if named else []), *ours, *paper, "runs"])
    for line in build_lines(outcome):
        paper = [str(figure) for dataset in datasets for figure in line.paper[dataset]]
        name = f"&nbsp;&nbsp;{line.row.title}" if line.row.over else line.row.title
        over = [line.over] if named else []
        text.append(_format_row([name, line.row.cost, *over, *map(str, line.ours), *paper, line.runs]))
    return text


def _list_quality(outcome: Outcome) -> tuple[list[str], list[list[str]]]:
    """Headings and lines of the table of pseudo labels; without thirds where no run knows them."""
    lines = build_quality_lines((row.row, list(row.records.values())) for row in outcome.rows.values())
    thirds = any(line.right_by_third != NONE for line in lines)
    headings = [*HEADINGS, *(THIRD_HEADINGS if thirds else ())]
    return headings, [list(line[: len(headings)]) for line in lines]


def _format_quality(outcome: Outcome) -> list[str]:
    headings, lines = _list_quality(outcome)
    return ["## Pseudo labels", "", HELP, "", *_format_head(headings), *map(_format_row, lines)] if lines else []


def _format_differences(outcome: Outcome) -> list[str]:
    differences = list_differences(outcome)
    if not differences:
        return []
    labels = [find_column(metric).label for metric in outcome.table.metrics]
    rows = [_format_row([first, second, *amounts]) for first, second, amounts in differences]
    return ["## Differences", "", DIFFERENCES, "", *_format_head(["", "over", *labels]), *rows]


def _format_budgets(outcome: Outcome) -> list[str]:
    if not outcome.table.budgets:
        return []
    lines = [_format_row([one.first, one.second, *one.shares, one.word]) for one in budgets.compare_budgets(outcome)]
    return [
        "## Budgets",
        "",
        budgets.HELP,
        "",
        *_format_head(["", "beside", *budgets.SPENT.values(), "spends"]),
        *lines,
    ]


def _format_claims(outcome: Outcome) -> list[str]:
    if not outcome.table.claims:
        return []
    text = [f"## {_title_claims(outcome.table)}", "", explain_verdicts(outcome), ""]
    for claim in explain_claims(outcome):
        source = f" (Paper: {claim.source})" if claim.source else ""
        text.append(f"- **{claim.verdict.word}**: {claim.verdict.claim.text}.{source}")
        for rows, parts in claim.comparisons:
            text.append(f"  - {rows}: {'; '.join(f'{amount} {word}' for amount, word in parts)}")
    return text


def _title_claims(table: Table) -> str:
    return "What the paper says, and what came out here" if table.in_paper else "Claims"


def _format_head(cells: Sequence[str]) -> list[str]:
    return [_format_row(cells), _format_row(["---"] * len(cells))]


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
