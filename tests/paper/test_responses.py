import pytest

from leocod.errors import InvalidConfig
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.responses import measure_responses
from leocod.paper.table import Table, load_table


def an_outcome(table: Table, **fap: tuple[float, ...]) -> Outcome:
    """The FAP of each row, seed by seed."""
    rows = {
        row.key: RowRuns(row, {(seed, None): {"fap": value} for seed, value in enumerate(fap[row.key])}, 2)
        for row in table.rows
    }
    return Outcome(table, rows)


def test_a_response_is_the_mean_of_the_ratios_of_each_seed_with_their_range(table: Table) -> None:
    found = measure_responses(an_outcome(table, bare=(10.0, 20.0), whole=(20.0, 30.0)))

    assert found.fap == 15
    [response] = found.rows
    assert (response.ratio, response.lowest, response.highest, response.runs) == (1.75, 1.5, 2.0, 2)


def test_the_papers_ratios_come_from_its_figures_in_the_table(table: Table) -> None:
    found = measure_responses(an_outcome(table, bare=(), whole=()))

    assert found.paper_fap == {"oak": 8.38}
    assert found.rows[0].paper == {"oak": pytest.approx(9.0 / 8.38)}


def test_only_seeds_that_both_rows_have_count(table: Table) -> None:
    [response] = measure_responses(an_outcome(table, bare=(10.0,), whole=(20.0, 30.0))).rows

    assert (response.ratio, response.runs) == (2.0, 1)


def test_a_baseline_that_has_learnt_nothing_has_no_ratio(table: Table) -> None:
    [response] = measure_responses(an_outcome(table, bare=(0.0,), whole=(20.0,))).rows

    assert (response.ratio, response.lowest, response.runs) == (None, None, 0)


def test_a_row_that_is_compared_with_another_one_is_refused(table: Table) -> None:
    free = table.model_copy(update={"rows": (table.rows[0], table.rows[1].model_copy(update={"over": None}))})
    with pytest.raises(InvalidConfig, match="row 'whole' should be compared with the first"):
        measure_responses(an_outcome(free, bare=(1.0,), whole=(1.0,)))


def test_the_shipped_table_has_the_figures_of_the_papers_tables() -> None:
    table = load_table("profile")
    found = measure_responses(an_outcome(table, **{row.key: () for row in table.rows}))

    ratios = {row.key: row.paper for row in found.rows}
    main = {row.key: row.paper for row in load_table("main").rows}
    assert found.paper_fap["oak"] == main["icarl"]["oak"][0]
    for dataset in ("oak", "egoobjects"):
        for key in ("incremental", "gdumb", "icarl_wang", "offline"):
            assert ratios[key][dataset] == pytest.approx(main[key][dataset][0] / main["icarl"][dataset][0])
    assert set(ratios["icarl at 25 %"]) == {"oak"}
    assert set(ratios["icarl at 6.25 %"]) == {"oak", "egoobjects"}


def test_no_row_of_the_shipped_table_has_the_plug_in_but_for_diagnoses() -> None:
    assert {row.plug_in for row in load_table("profile").rows if not row.diagnosis} == {"none"}
