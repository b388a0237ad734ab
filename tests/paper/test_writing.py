import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from leocod.paper import writing
from leocod.paper.outcome import Outcome
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord, format_runs
from leocod.paper.table import Table
from leocod.paper.writing import describe, format_markdown, format_rows, render_page, write_table


def test_the_text_has_figures_verdicts_and_the_command(plan: Plan, outcome: Outcome) -> None:
    text = format_markdown(plan, outcome, [])

    assert "| bare | 100 % | 30.5 ± 0.7 |" in text
    assert "- **holds**: It helps. (Paper: Somewhere. Its own figures: OAK undecided.)\n" in text
    assert "  - whole over bare: FAP +3.0 [+3.0, +3.0] (+3.0, +3.0) holds\n" in text
    assert "`leocod paper small --benchmark wander --seeds 0,1`" in text
    assert "Not all of it" not in text
    assert "It rests on 4 runs. Intervals are 95 %, over seeds only" in text


def test_single_runs_are_not_called_means(plan: Plan, outcome: Outcome) -> None:
    single = {key: replace(row, runs=dict(list(row.runs.items())[:1]), expected=1) for key, row in outcome.rows.items()}

    assert "Ours: single runs, in points" in describe(plan, Outcome(outcome.table, single))
    assert "Ours: mean ± standard deviation over seeds, in points" in describe(plan, outcome)


def test_a_table_without_the_papers_figures_does_not_speak_of_the_paper(plan: Plan, own_table: Table) -> None:
    outcome = Outcome.read(plan, own_table)

    for text in (format_markdown(plan, outcome, []), render_page(plan, outcome, [])):
        assert "OAK" not in text
        assert "of the paper" not in text
        assert "What the paper says" not in text
        assert "Differences" in text
    header = format_rows(outcome).splitlines()[0]
    assert "oak" not in header
    assert "egoobjects" not in header


def test_a_table_says_when_its_metrics_are_defined_in_another_way(plan: Plan, outcome: Outcome) -> None:
    evaluate = {"ap": "voc", "forgetting_weights": "oak"}
    other = replace(plan, base={**plan.base, "evaluate": {**plan.base["evaluate"], **evaluate}})

    assert "Measured: " not in describe(plan, outcome)
    assert "Measured: VOC AP50, forgetfulness (OAK weights)." in describe(other, outcome)


def test_a_row_that_stands_elsewhere_names_its_base_in_text_and_page(plan: Plan, own_table: Table) -> None:
    bare, whole = own_table.rows
    third = whole.model_copy(update={"key": "third", "name": "a third", "over": "whole"})
    apart = Outcome.read(plan, own_table.model_copy(update={"rows": (bare, whole, third)}))
    under = Outcome.read(plan, own_table)

    assert "| labels | over |" in format_markdown(plan, apart, [])
    assert "<th>labels</th><th>over</th>" in render_page(plan, apart, [])
    assert f'<td class="name">{whole.title}</td>' in render_page(plan, apart, [])
    assert "the row named beside it" in describe(plan, apart)
    assert "| labels | over |" not in format_markdown(plan, under, [])
    assert "<th>labels</th><th>over</th>" not in render_page(plan, under, [])


def test_the_columns_are_the_metrics_of_the_table(plan: Plan, outcome: Outcome) -> None:
    table = outcome.table.model_copy(update={"metrics": ("cap",), "comparisons": (("whole", "bare"),)})
    chosen = Outcome(table, outcome.rows)

    text = format_markdown(plan, chosen, [])

    assert "| bare | 100 % | 20.0 ± 0.0 | 8.38 | 7.72 | 0.03 | 2 |" in text
    assert "| whole | bare | −0.5 [−0.5, −0.5] (−0.5, −0.5) |" in text
    assert "cap,cap_spread,cap_difference,cap_low,cap_high,oak_fap" in format_rows(chosen)
    assert "30.5" not in render_page(plan, chosen, [])


def test_a_page_stands_alone_and_colours_the_differences(plan: Plan, outcome: Outcome) -> None:
    text = render_page(plan, outcome, [])

    assert '<span class="better">(+3.0 [+3.0, +3.0])</span>' in text
    assert '<span class="worse">(−0.5 [−0.5, −0.5])</span>' in text
    assert '<span class="verdict holds">holds</span>' in text
    # The name of a namespace looks like an address, and nothing fetches it.
    fetched = re.sub(r'xmlns(:xlink)?="[^"]*"', "", text)
    for address in ("http://", "https://", "src=", "<script", "<link"):
        assert address not in fetched


def test_names_cannot_become_part_of_the_page(plan: Plan, outcome: Outcome) -> None:
    table = outcome.table.model_copy(update={"title": "<b>bold</b>"})

    assert "<b>bold</b>" not in render_page(plan, Outcome(table, outcome.rows), [])


def test_numbers_to_compute_with_are_exact(outcome: Outcome) -> None:
    bare, whole = csv.DictReader(io.StringIO(format_rows(outcome)))

    assert (float(whole["fap"]), float(whole["fap_difference"]), float(whole["oak_forgetting"])) == (33.5, 3.0, -1.0)
    assert (bare["fap_difference"], "egoobjects_fap" in bare) == ("", False)


def test_every_run_is_listed_with_its_command_and_commit(plan: Plan, table: Table) -> None:
    plan.cells[0].run(threads=1)

    files = write_table(plan, table)

    details = ["small-classes.csv", "small-over-time.csv"]
    assert [file.name for file in files] == [
        "small.md",
        "small.csv",
        "small-runs.csv",
        *details,
        "small.svg",
        "small.html",
    ]
    [run] = csv.DictReader(io.StringIO((plan.out / "small-runs.csv").read_text()))
    assert run["run"] == plan.cells[0].name
    assert run["command"]
    assert float(run["seconds"]) > 0
    assert "1 of 2" in (plan.out / "small.md").read_text()
    assert "It rests on 1 of 4 runs." in (plan.out / "small.md").read_text()
    assert "Not all of it has been run yet." in (plan.out / "small.html").read_text()


def test_a_page_draws_ap_over_time_and_lists_how_right_pseudo_labels_were(plan: Plan, outcome: Outcome) -> None:
    counts = {"pseudo_labels": 10, "pseudo_right": 5, "pseudo_objects": 20}
    record = RunRecord(run="a", seed=0, scores={}, over_time={50: 10.0, 100: 20.0}, **counts)
    known = replace(outcome.rows["whole"], records={(0, None): record})

    pages = [render_page(plan, Outcome(outcome.table, {**outcome.rows, "whole": row}), []) for row in (known, known)]
    text = format_markdown(plan, Outcome(outcome.table, {**outcome.rows, "whole": known}), [])

    assert pages[0] == pages[1]
    assert 'aria-label="AP over time of every row"' in pages[0]
    assert "AP over time" not in render_page(plan, outcome, [])
    assert "<td>50.0 / – / –</td><td>25.0 / – / –</td>" in pages[0]
    assert "| whole | 50 % | 10 | 50.0 / – / – | 25.0 / – / – |\n" in text
    assert "## Pseudo labels" not in format_markdown(plan, outcome, [])


def test_the_same_cells_give_the_same_files(plan: Plan, table: Table) -> None:
    plan.cells[0].run(threads=1)

    first, second = ({file: file.read_bytes() for file in write_table(plan, table)} for _ in range(2))

    assert first == second


def test_recorded_runs_give_the_table_of_the_runs_themselves(plan: Plan, table: Table, tmp_path: Path) -> None:
    for cell in plan.cells[:2]:
        cell.run(threads=1)
    before = {file.name: file.read_bytes() for file in write_table(plan, table)}
    for name in ("runs", "classes", "over-time"):
        (tmp_path / f"{name}.csv").write_bytes(before[f"small-{name}.csv"])

    recorded = table.model_copy(update={"finished": tmp_path / "runs.csv"})
    elsewhere = Plan([recorded], plan.base, (), tmp_path / "elsewhere")

    assert {file.name: file.read_bytes() for file in write_table(elsewhere, recorded)} == before


def test_the_code_of_all_runs_is_named(plan: Plan, table: Table, tmp_path: Path) -> None:
    records = [
        RunRecord(run=cell.name, seed=cell.config.seed, scores={"fap": 1.0}, commit=commit)
        for cell, commit in zip(plan.cells, ("aaaaaaaaaa", "bbbbbbbbbb with changes", "aaaaaaaaaa"), strict=False)
    ]
    (tmp_path / "runs.csv").write_text(format_runs(records))
    recorded = table.model_copy(update={"finished": tmp_path / "runs.csv"})

    write_table(Plan([recorded], plan.base, (), plan.out), recorded)

    assert "code of commit aaaaaaaaaa, bbbbbbbbbb with changes." in (plan.out / "small.md").read_text()


def test_nothing_is_half_written(plan: Plan, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """All content is made before the first file is touched."""

    def fail(*arguments: object) -> str:
        raise RuntimeError("no page")

    monkeypatch.setattr(writing, "render_page", fail)
    with pytest.raises(RuntimeError):
        write_table(plan, table)

    assert not list(plan.out.glob("small*"))


def test_a_table_without_any_run_can_be_written(plan: Plan, table: Table) -> None:
    write_table(plan, table)

    assert "not run" in (plan.out / "small.md").read_text()
    assert (plan.out / "small-runs.csv").read_text() == "run\n"
