from leocod.paper.budgets import compare_budgets
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.record import RunRecord
from leocod.paper.table import Table

SAME = {"labelled_frames": 40, "updates": 20, "frames_trained_on": 320, "memory_bytes": 1000}


def outcome(*, ours: list[dict[str, int]], theirs: list[dict[str, int]]) -> Outcome:
    """Two rows by what their runs spend, seed by seed."""
    rows = [{"key": "a", "name": "ours"}, {"key": "b", "name": "theirs"}]
    table = Table.model_validate({"name": "n", "title": "t", "rows": rows, "budgets": [["a", "b"]]})
    runs = {}
    for key, spent in {"a": ours, "b": theirs}.items():
        records = {
            (seed, None): RunRecord(run=f"{key}{seed}", seed=seed, scores={}, **one) for seed, one in enumerate(spent)
        }
        runs[key] = RowRuns(table.row(key), {place: {} for place in records}, len(spent), records)
    return Outcome(table, runs)


def test_equal_budgets_are_no_more() -> None:
    (line,) = compare_budgets(outcome(ours=[SAME, SAME | {"memory_bytes": 900}], theirs=[SAME, SAME]))
    assert line == ("a", "b", ["100.0 %", "100.0 %", "100.0 %", "100.0 %"], "no more")


def test_one_run_that_spends_more_is_told() -> None:
    spent = [SAME, SAME | {"memory_bytes": 1010, "frames_trained_on": 400}]
    (line,) = compare_budgets(outcome(ours=spent, theirs=[SAME, SAME]))
    assert line.shares == ["100.0 %", "100.0 %", "125.0 %", "101.0 %"]
    assert line.word == "more frames trained on and bytes kept"


def test_what_nobody_counted_is_not_known() -> None:
    uncounted = {name: value for name, value in SAME.items() if name != "updates"}
    (line,) = compare_budgets(outcome(ours=[SAME], theirs=[uncounted]))
    assert line.shares[1] == "–"
    assert line.word == "not known"


def test_only_runs_that_both_rows_have_count() -> None:
    (line,) = compare_budgets(outcome(ours=[SAME, SAME | {"updates": 99}], theirs=[SAME]))
    assert line.word == "no more"


def test_something_beside_nothing_is_more() -> None:
    (line,) = compare_budgets(outcome(ours=[SAME], theirs=[SAME | {"memory_bytes": 0}]))
    assert line.word == "more bytes kept"
