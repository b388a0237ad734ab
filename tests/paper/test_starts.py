from pathlib import Path
from typing import Any

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.paper.outcome import Outcome, RowRuns
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord
from leocod.paper.starts import warn_of_other_starts
from leocod.paper.table import Table
from leocod.paper.writing import write_table
from leocod.run.layers import overlay
from leocod.weights.saved import save_weights


def build(ours: list[str], theirs: list[str], settings: dict[str, Any] | None = None) -> Outcome:
    """Two rows that are compared, by the starts of their runs, seed by seed."""
    rows = [{"key": "ours", "over": "theirs", "set": settings or {}}, {"key": "theirs"}, {"key": "apart"}]
    table = Table.model_validate({"name": "n", "title": "t", "rows": rows})
    runs = {}
    for key, starts in {"ours": ours, "theirs": theirs, "apart": ["another"] * 2}.items():
        records = {
            (seed, None): RunRecord(run=f"{key}{seed}", seed=seed, scores={}, start=start)
            for seed, start in enumerate(starts)
        }
        runs[key] = RowRuns(table.row(key), {place: {} for place in records}, len(records), records)
    return Outcome(table, runs)


def test_compared_rows_with_different_starts_are_named_with_their_seeds():
    (warning,) = warn_of_other_starts(build(["a", "b", "c"], ["a", "x", "y"]))
    assert "different weights" in warning
    assert "ours and theirs (seed 1, 2)" in warning
    assert "apart" not in warning, "nothing is compared with that row"


def test_same_starts_and_seeds_that_one_row_lacks_are_no_reason_to_warn():
    assert warn_of_other_starts(build(["a", "b"], ["a"])) == []


def test_a_start_that_is_not_known_is_no_reason_to_warn():
    assert warn_of_other_starts(build(["a", ""], ["", "b"])) == []


def test_a_row_may_choose_other_weights():
    assert warn_of_other_starts(build(["a"], ["b"], {"detector": {"weights": "mine.safetensors"}})) == []


def test_weights_that_were_replaced_between_two_runs_are_noticed(table: Table, base: dict[str, Any], tmp_path: Path):
    weights = tmp_path / "start.safetensors"
    plan = Plan([table], overlay(base, {"detector": {"weights": str(weights)}}), [0], tmp_path / "paper")

    for seed, cell in enumerate(plan.cells):
        detector = Tiny(("mug", "chair"), TinyOptions(weights=None), seed=seed)
        save_weights(weights, detector.model, detector.classes, {})
        cell.run(threads=1)

    (warning,) = warn_of_other_starts(Outcome.read(plan, table))
    assert "whole and bare (seed 0)" in warning
    write_table(plan, table)
    assert warning in (plan.out / "small.md").read_text()
