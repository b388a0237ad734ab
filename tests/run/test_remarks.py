from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leocod.run.config import load_mapping
from leocod.run.experiment import build
from leocod.run.remarks import list_remarks

WORLD = {"name": "wander", "steps": 1, "frames_per_step": 1, "classes": 2, "places": 1}


def remarks(**config: Any) -> list[str]:
    return list_remarks(build(load_mapping({"benchmark": WORLD, "labels": {"per_step": 1}, **config})))


def test_a_usual_run_needs_no_remark() -> None:
    assert remarks() == []


@pytest.mark.parametrize(
    ("plugin", "effect"),
    [
        (None, "nothing is learnt, and the detector stays as it started"),
        ({"pseudo_labels": False}, "nothing is learnt, and the detector stays as it started"),
        ({}, "the detector learns from its own pseudo labels only"),
    ],
)
def test_a_run_without_labels_says_what_it_learns_from(plugin: dict[str, Any] | None, effect: str) -> None:
    [remark] = remarks(labels={"per_step": 0}, efficient_cls=plugin)

    assert remark == f"No frame is labelled (labels.per_step is 0): {effect}."


def test_a_start_that_knows_none_of_the_classes_is_told_with_what_it_knows() -> None:
    [remark] = remarks(benchmark={**WORLD, "classes": 20, "only": ["dog", "bus"]})

    assert "(detector.weights is start) know none of the 2 classes of this benchmark" in remark
    assert "The weights know mug, chair, book, lamp, car, bench, bottle, plant." in remark


def test_a_start_by_chance_knows_nothing_and_promises_nothing() -> None:
    assert (
        remarks(benchmark={**WORLD, "classes": 20, "only": ["dog", "bus"]}, detector={"name": "tiny", "weights": None})
        == []
    )


def test_a_run_that_goes_on_from_another_does_not_start_from_the_weights() -> None:
    config = load_mapping({"benchmark": {**WORLD, "classes": 20, "only": ["dog", "bus"]}, "labels": {"per_step": 1}})
    experiment = build(config)

    later = replace(experiment, config=config.model_copy(update={"earlier_run": Path("runs/first")}))

    assert list_remarks(later) == []
