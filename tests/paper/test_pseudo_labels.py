from typing import Any

from leocod.evaluation.results import Results
from leocod.paper.pseudo_labels import GroupCounts, count_groups, flatten_groups, split_groups

KNOWN = GroupCounts(labels=8, right=6, objects=12)


def results(**changed: Any) -> Results:
    about = {"benchmark": "wander", "detector": "tiny", "strategy": "icarl", "efficient_cls": True, "ema": True}
    about |= {"pseudo_labels": True, "labels_per_step": 1, "seed": 0, "steps": 9, "labelled_frames": 8, "seconds": 1.0}
    return Results.model_validate({**about, "scores": {}, "evaluations": [], **changed})


def counts(labels: int) -> dict[str, int]:
    return {"frames": 1, "labels": labels, "right": 1, "objects": 10}


def period(first: int, last: int, labels: int) -> dict[str, Any]:
    nothing = {"frames": 0, "labels": 0, "right": 0, "objects": 0}
    return {"first_step": first, "last_step": last, "all": counts(labels), "known": counts(labels), "new": nothing}


def test_known_and_new_classes_are_counted_apart() -> None:
    groups = count_groups(results(pseudo_label_groups={"known": counts(4), "new": counts(2)}))

    assert {group: one.labels for group, one in groups.items()} == {"known": 4, "new": 2}


def test_periods_are_put_together_to_thirds_of_the_stream() -> None:
    """Nine steps: the third period, steps 3 to 5, lies in the middle, the last one, step 8, at the end."""
    periods = [period(0, 1, 1), period(2, 2, 2), period(3, 5, 4), period(6, 7, 8), period(8, 8, 16)]

    groups = count_groups(results(pseudo_label_periods=periods))

    assert {group: one.labels for group, one in groups.items()} == {"third_1": 1 + 2, "third_2": 4, "third_3": 8 + 16}
    assert groups["third_3"] == GroupCounts(labels=24, right=2, objects=20)


def test_results_of_an_earlier_version_have_no_groups() -> None:
    assert count_groups(results()) == {}


def test_a_share_is_none_of_nothing() -> None:
    nothing = GroupCounts(labels=0, right=0, objects=0)

    assert (KNOWN.precision, KNOWN.recall) == (0.75, 0.5)
    assert (nothing.precision, nothing.recall) == (None, None)


def test_columns_are_told_from_those_of_other_things() -> None:
    line = {"run": "a", **flatten_groups({"known": KNOWN}, ["known", "new"])}

    groups, rest = split_groups({key: value for key, value in line.items() if value is not None})

    assert line["pseudo_labels_new"] is None
    assert groups == {"known": {"labels": 8, "right": 6, "objects": 12}}
    assert rest == {"run": "a"}
