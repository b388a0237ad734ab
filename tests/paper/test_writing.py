import csv
import io
import json
from dataclasses import replace

import pytest

from leocod.paper import writing
from leocod.paper.outcome import Found, Outcome
from leocod.paper.plan import Plan
from leocod.paper.table import Metric, Row, Table
from leocod.paper.writing import about, comma_separated, lines, markdown, page, write_table

Figures = dict[Metric, float]


@pytest.fixture
def found(table: Table) -> Outcome:
    """The plug-in gives 3 points of FAP, takes half a point of CAP, and forgets 2 less."""

    def runs(row: Row, fap: float, cap: float, f: float) -> Found:
        return Found(row, {(seed, None): {"fap": fap + seed, "cap": cap, "f": f} for seed in (0, 1)}, 2)

    bare, whole = table.rows
    return Outcome(table, {"bare": runs(bare, 30.0, 20.0, 1.0), "whole": runs(whole, 33.0, 19.5, -1.0)})


def test_a_line_has_mean_spread_and_the_difference_to_its_base(found: Outcome) -> None:
    bare, whole = lines(found)

    assert [str(figure) for figure in bare.ours] == ["30.5 ± 0.7", "20.0 ± 0.0", "1.0 ± 0.0"]
    assert [str(figure) for figure in whole.ours] == ["33.5 ± 0.7 (+3.0)", "19.5 ± 0.0 (−0.5)", "−1.0 ± 0.0 (−2.0)"]


def test_better_is_told_from_worse_whichever_way_it_lies(found: Outcome) -> None:
    assert [figure.verdict for figure in lines(found)[1].ours] == ["better", "worse", "better"]


def test_no_difference_is_neither_better_nor_worse(found: Outcome) -> None:
    same = Outcome(
        found.table, {"bare": found.found["bare"], "whole": replace(found.found["bare"], row=found.table.rows[1])}
    )

    assert [(figure.change, figure.verdict) for figure in lines(same)[1].ours] == [("(+0.0)", "")] * 3


def test_a_run_that_went_on_with_other_code_names_both(plan: Plan, table: Table) -> None:
    cell = plan.cells[0]
    cell.run(threads=1)
    made = cell.environment | {"source": {"commit": "a" * 40, "changed": False}}
    cell.directory.environment.write_text(json.dumps(made | {"resumed": [{"source": {"commit": "b" * 40}}]}))

    write_table(plan, table)

    assert "code of commit aaaaaaaaaa, bbbbbbbbbb" in (plan.out / "small.md").read_text()


def test_the_papers_figures_stand_beside_with_their_own_differences(found: Outcome) -> None:
    assert [str(figure) for figure in lines(found)[1].paper["oak"]] == ["9.00 (+0.62)", "7.50 (−0.22)", "−1.00 (−1.03)"]


def test_the_text_has_figures_verdicts_and_the_command(plan: Plan, found: Outcome) -> None:
    text = markdown(plan, found, [])

    assert "| bare | 100 % | 30.5 ± 0.7 |" in text
    assert "- **holds**: It helps. (Paper: Somewhere. Its own figures: OAK within the spread.)\n" in text
    assert "  - whole over bare: FAP +3.0 (+3.0, +3.0) holds\n" in text
    assert "`leocod paper small --benchmark wander --seeds 0,1`" in text
    assert "Not all of it" not in text


def test_single_runs_are_not_passed_off_as_means(plan: Plan, found: Outcome) -> None:
    single = {key: replace(one, runs=dict(list(one.runs.items())[:1]), asked=1) for key, one in found.found.items()}

    assert "Ours: single runs, in points" in about(plan, Outcome(found.table, single))
    assert "Ours: mean ± standard deviation over seeds, in points" in about(plan, found)


def test_a_page_stands_alone_and_colours_the_differences(plan: Plan, found: Outcome) -> None:
    text = page(plan, found, [])

    assert '<span class="better">(+3.0)</span>' in text
    assert '<span class="worse">(−0.5)</span>' in text
    assert '<span class="verdict holds">holds</span>' in text
    for address in ("http://", "https://", "src=", "<script", "<link"):
        assert address not in text


def test_names_cannot_become_part_of_the_page(plan: Plan, found: Outcome) -> None:
    table = found.table.model_copy(update={"title": "<b>bold</b>"})

    assert "<b>bold</b>" not in page(plan, Outcome(table, found.found), [])


def test_numbers_to_compute_with_are_exact(found: Outcome) -> None:
    bare, whole = csv.DictReader(io.StringIO(comma_separated(found)))

    assert (float(whole["fap"]), float(whole["fap_difference"]), float(whole["oak_f"])) == (33.5, 3.0, -1.0)
    assert (bare["fap_difference"], bare["egoobjects_fap"]) == ("", "")


def test_every_run_is_listed_with_its_command_and_commit(plan: Plan, table: Table) -> None:
    plan.cells[0].run(threads=1)

    files = write_table(plan, table)

    assert [file.name for file in files] == ["small.md", "small.csv", "small-runs.csv", "small.html"]
    [run] = csv.DictReader(io.StringIO((plan.out / "small-runs.csv").read_text()))
    assert run["run"] == plan.cells[0].name
    assert run["command"]
    assert float(run["seconds"]) > 0
    assert "1 of 2" in (plan.out / "small.md").read_text()
    assert "Not all of it has been run yet." in (plan.out / "small.html").read_text()


def test_every_run_tells_how_right_its_pseudo_labels_were(plan: Plan, table: Table) -> None:
    for cell in plan.cells[:2]:
        cell.run(threads=1)

    bare, whole = csv.DictReader(io.StringIO(writing.runs(plan.cells[:2])))

    assert (bare["pseudo_labels"], bare["pseudo_right"], bare["pseudo_objects"]) == ("", "", "")
    assert int(whole["pseudo_objects"]) > 0


def test_a_run_whose_log_is_damaged_is_listed_without_them(plan: Plan, table: Table) -> None:
    cell = plan.cells[0]
    cell.run(threads=1)
    cell.directory.events.write_text("no log")

    [run] = csv.DictReader(io.StringIO(writing.runs([cell])))

    assert (run["run"], run["pseudo_labels"]) == (cell.name, "")
    assert run["fap"]


def test_the_same_cells_give_the_same_files(plan: Plan, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    plan.cells[0].run(threads=1)

    first, second = ({file: file.read_bytes() for file in write_table(plan, table)} for _ in range(2))

    assert first == second


def test_nothing_is_half_written(plan: Plan, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be written is made before the first file is touched."""

    def fails(*arguments: object) -> str:
        raise RuntimeError("no page")

    monkeypatch.setattr(writing, "page", fails)
    with pytest.raises(RuntimeError):
        write_table(plan, table)

    assert not list(plan.out.glob("small*"))


def test_a_table_without_any_run_can_be_written(plan: Plan, table: Table) -> None:
    write_table(plan, table)

    assert "not run" in (plan.out / "small.md").read_text()
    assert (plan.out / "small-runs.csv").read_text() == "run\n"


def test_unreadable_notes_about_a_run_are_no_obstacle(plan: Plan, table: Table) -> None:
    cell = plan.cells[0]
    cell.run(threads=1)
    cell.directory.environment.write_text("[]")

    write_table(plan, table)

    assert cell.name in (plan.out / "small-runs.csv").read_text()
