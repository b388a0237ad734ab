from pathlib import Path

import numpy as np
import pytest

from leocod.errors import InvalidConfig
from leocod.evaluation.results import Results
from leocod.paper.details import (
    format_classes,
    format_over_time,
    list_evaluations,
    measure_by_class,
    name_beside,
    read_classes,
    read_over_time,
)
from leocod.paper.plan import Plan

RESULTS = Results.model_validate(
    {"benchmark": "wander", "detector": "tiny", "strategy": "icarl", "efficient_cls": False, "ema": False}
    | {"pseudo_labels": False, "labels_per_step": 1, "seed": 0, "steps": 8, "labelled_frames": 8, "seconds": 1.0}
    | {"scores": {"fap": 35.0, "cap": 22.5, "forgetting": None}}
    | {
        "evaluations": [
            {"step": 3, "ap": 10.0, "ap_by_class": {"mug": 0.0, "dog": 20.0, "bus": None}},
            {"step": 7, "ap": 35.0, "ap_by_class": {"mug": 30.0, "dog": 40.0, "bus": None}},
        ]
    }
)


def test_means_over_classes_are_the_figures_of_the_run(tmp_path: Path) -> None:
    by_class = measure_by_class(tmp_path, RESULTS)

    assert by_class == {"fap": {"mug": 30.0, "dog": 40.0}, "cap": {"mug": 15.0, "dog": 30.0}}
    assert {metric: np.mean(list(values.values())) for metric, values in by_class.items()} == {"fap": 35.0, "cap": 22.5}


def test_a_run_that_was_not_evaluated_has_no_classes(tmp_path: Path) -> None:
    assert measure_by_class(tmp_path, RESULTS.model_copy(update={"evaluations": []})) == {}


def test_a_metric_that_the_run_does_not_have_has_no_classes(tmp_path: Path) -> None:
    assert list(measure_by_class(tmp_path, RESULTS.model_copy(update={"scores": {"cap": 22.5}}))) == ["cap"]


def test_without_its_events_a_run_has_no_forgetting_by_class(tmp_path: Path) -> None:
    scores = {"fap": 35.0, "cap": 22.5, "forgetting": 1.0}

    assert list(measure_by_class(tmp_path, RESULTS.model_copy(update={"scores": scores}))) == ["fap", "cap"]


def test_every_figure_of_a_real_run_is_the_mean_over_its_classes(plan: Plan) -> None:
    """Forgetting, too, which needs several evaluations of a class after different times away."""
    world = {"name": "wander", "steps": 10, "frames_per_step": 4, "classes": 8, "places": 3, "stay": 1}
    base = {"benchmark": world, "detector": {"name": "tiny"}, "evaluate": {"every": 3}}
    [cell, *_] = Plan(plan.tables, base, (), plan.out).cells
    cell.run(threads=1)

    record = cell.record

    assert record is not None
    assert {"fap", "cap", "forgetting"} <= record.scores.keys()
    assert all(len(set(values.values())) > 1 for values in record.by_class.values())
    for metric in ("fap", "cap", "forgetting"):
        assert np.mean(list(record.by_class[metric].values())) == pytest.approx(record.scores[metric])


def test_details_are_read_back_to_the_last_digit(tmp_path: Path) -> None:
    classes = {"a": {"fap": {"a, b": 1 / 3, "dog": 2.0}, "forgetting": {"dog": -1.0}}, "b": {"cap": {"mug": 1.5}}}
    (tmp_path / "classes.csv").write_text(format_classes(classes))
    (tmp_path / "over-time.csv").write_text(format_over_time({"a": list_evaluations(RESULTS)}))

    assert read_classes(tmp_path / "classes.csv") == classes
    assert read_over_time(tmp_path / "over-time.csv") == {"a": {4: 10.0, 8: 35.0}}


def test_a_table_of_an_earlier_version_has_no_details(tmp_path: Path) -> None:
    assert read_classes(tmp_path / "nowhere.csv") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run,class,fap\na,mug,high\n", "line 2: fap is 'high'"),
        ("run,class,fap\na,mug,1.0\na,,1.0\n", "line 3: class: needed"),
        ("run,class,fpa\na,mug,1.0\n", "line 2: fpa: unknown key"),
        ("run,class,fap\na,mug,inf\n", "line 2: fap"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "classes.csv").write_text(text)

    with pytest.raises(InvalidConfig, match=f"classes.csv, {words}"):
        read_classes(tmp_path / "classes.csv")


@pytest.mark.parametrize(
    ("runs", "classes"),
    [("main-runs.csv", "main-classes.csv"), ("runs.csv", "classes.csv"), ("old.csv", "old-classes.csv")],
)
def test_details_lie_beside_the_file_of_runs(runs: str, classes: str) -> None:
    assert name_beside(Path("folder") / runs, "classes") == Path("folder") / classes
