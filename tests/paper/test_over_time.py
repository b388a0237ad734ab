from dataclasses import replace

from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.over_time import average_over_time, draw_rows_over_time
from leocod.paper.record import RunRecord


def give(row: RowRuns, *runs: dict[int, float]) -> RowRuns:
    records = {
        (seed, None): RunRecord(run=f"run{seed}", seed=seed, scores={}, over_time=one) for seed, one in enumerate(runs)
    }
    return replace(row, records=records)


def test_a_row_is_the_mean_of_its_runs_at_the_steps_that_all_have(outcome: Outcome) -> None:
    row = give(outcome.rows["bare"], {50: 10.0, 100: 20.0}, {50: 14.0}, {})

    assert average_over_time(row) == {50: 12.0}
    assert average_over_time(outcome.rows["bare"]) == {}


def test_every_row_that_is_known_has_a_line(outcome: Outcome) -> None:
    bare, whole = outcome.rows["bare"], outcome.rows["whole"]
    both = {"bare": give(bare, {50: 10.0, 100: 20.0}), "whole": give(whole, {50: 15.0, 100: 25.0})}

    of_both = draw_rows_over_time(Outcome(outcome.table, both))
    of_one = draw_rows_over_time(Outcome(outcome.table, {**both, "bare": bare}))

    assert of_both is not None
    assert of_one is not None
    assert (" bare<" in of_both, " whole<" in of_both) == (True, True)
    assert (" bare<" in of_one, " whole<" in of_one) == (False, True)


def test_without_evaluations_there_is_no_figure(outcome: Outcome) -> None:
    assert draw_rows_over_time(outcome) is None
