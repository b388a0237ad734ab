from dataclasses import replace
from xml.etree import ElementTree

from leocod.paper.glance import _draw_row, draw_rows
from leocod.paper.outcome import Outcome
from leocod.report.drawing import make_standalone


def test_every_row_that_has_been_run_is_there(outcome: Outcome) -> None:
    drawn = draw_rows(outcome)
    without = {**outcome.rows, "whole": replace(outcome.rows["whole"], runs={}, records={})}

    assert drawn is not None
    assert all(f">{key}<" in drawn for key in outcome.rows)
    assert ">whole<" not in (draw_rows(Outcome(outcome.table, without)) or "")


def test_a_page_has_two_forms_and_a_file_one(outcome: Outcome) -> None:
    page, alone = draw_rows(outcome), draw_rows(outcome, alone=True)

    assert page is not None
    assert alone is not None
    assert (page.count("<svg "), alone.count("<svg ")) == (2, 1)
    assert ElementTree.fromstring(make_standalone(alone)).get("aria-label") == "FAP of every row"


def test_without_runs_there_is_no_figure(outcome: Outcome) -> None:
    empty = {key: replace(row, runs={}, records={}) for key, row in outcome.rows.items()}

    assert draw_rows(Outcome(outcome.table, empty)) is None


def test_the_mark_of_a_row_is_where_that_row_is(outcome: Outcome) -> None:
    """Also where it has runs that the other one does not have, over which no difference is taken."""
    over = outcome.table.row("whole").over
    assert over is not None
    scores, *_ = outcome.rows[over].runs.values()
    another = {**outcome.rows[over].runs, (99, None): {name: value + 30 for name, value in scores.items()}}
    moved = Outcome(outcome.table, {**outcome.rows, over: replace(outcome.rows[over], runs=another)})
    marked: list[float] = []

    class Axes:
        def plot(self, x: list[float], y: list[float], *_: object, linewidth: float = 0, **others: object) -> None:
            marked.extend(x[:1] if linewidth == 1 else [])

    _draw_row(Axes(), moved, moved.rows["whole"], 0)  # type: ignore[arg-type]

    assert marked == [moved.rows[over].mean(outcome.table.metrics[0])]
