from typing import Any

from leocod.paper.labelling_quality import build_quality_lines
from leocod.paper.pseudo_labels import GroupCounts
from leocod.paper.record import RunRecord
from leocod.paper.table import Row

ROW = Row(key="whole", labels=4, plug_in="whole")


def record(labels: int | None, right: int | None, objects: int | None, **more: Any) -> RunRecord:
    about = {"run": "a", "seed": 0, "scores": {}}
    return RunRecord.model_validate(
        {**about, "pseudo_labels": labels, "pseudo_right": right, "pseudo_objects": objects, **more}
    )


def test_shares_are_means_over_runs_and_not_of_all_labels_together() -> None:
    """100 % of one label and 50 % of a hundred are 75 % on average over the two runs."""
    [line] = build_quality_lines([(ROW, [record(1, 1, 10), record(100, 50, 100)])])

    assert line[:5] == ("whole", "25 %", "50", "75.0 / – / –", "30.0 / – / –")


def test_known_new_and_thirds_are_shown_where_runs_know_them() -> None:
    known, new = GroupCounts(labels=8, right=6, objects=12), GroupCounts(labels=0, right=0, objects=8)
    groups = {"known": known, "new": new, "third_1": known, "third_3": known}

    [line] = build_quality_lines([(ROW, [record(8, 6, 20, pseudo_groups=groups)])])

    # No label of a new class: none was wrong, and none of its objects was found.
    assert (line.right, line.found) == ("75.0 / 75.0 / –", "30.0 / 50.0 / 0.0")
    assert (line.right_by_third, line.found_by_third) == ("75.0 / – / 75.0", "50.0 / – / 50.0")


def test_rows_without_frames_to_pseudo_label_are_left_out() -> None:
    every = Row(key="all labels", plug_in="whole")

    assert build_quality_lines([(ROW, [record(None, None, None)]), (every, [record(0, 0, 0)]), (ROW, [])]) == []
