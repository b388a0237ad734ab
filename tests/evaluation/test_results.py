"""One class writes and reads results, those of earlier versions too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import find_metrics
from leocod.evaluation.results import LONGEST, Counts, MetricWords, Results

FIRST_FORM: dict[str, Any] = {
    "benchmark": "wander",
    "detector": "tiny",
    "strategy": "icarl",
    "efficient_cls": True,
    "ema": True,
    "pseudo_labels": True,
    "labels_per_step": 4,
    "labels_nested": False,
    "seed": 0,
    "diagnosis": None,
    "metrics": {"ap": "voc", "forgetting_bins": None, "forgetting_weights": "oak", "presence": "stream"},
    "steps": 20,
    "labelled_frames": 80,
    "skipped_frames": 0,
    "skipped_test_frames": 1,
    "refused_steps": 0,
    "warnings": 2,
    "fap": 27.098382770607888,
    "cap": 23.27723963113489,
    "forgetfulness": None,
    "evaluations": [{"step": 9, "ap50": 20.5, "ap50_by_class": {"mug": None, "car": 20.5}}],
    "seconds": 6.1,
    "seconds_by_part": {"train": 4.0},
    "memory_bytes": 2291208,
}
"""As commit a9415f2 wrote it."""


def test_results_of_the_first_form_are_read() -> None:
    results = Results.model_validate(FIRST_FORM)

    assert results.scores == {"fap": 27.098382770607888, "cap": 23.27723963113489, "forgetting": None}
    assert results.definitions == Definitions(ap="voc", forgetting_weights="oak")
    assert (results.evaluations[0].step, results.evaluations[0].ap) == (9, 20.5)
    assert results.evaluations[0].ap_by_class == {"mug": None, "car": 20.5}
    assert (results.start, results.pseudo_label_counts, results.warnings) == (None, None, 2)
    assert (results.labelled_boxes, results.labelling_seconds) == (None, None)


def test_metrics_of_the_first_form_have_words() -> None:
    results = Results.model_validate(FIRST_FORM)

    assert results.words("fap") == MetricWords(label="FAP", title="mean VOC AP50 at the end", direction="higher")
    assert results.words("forgetting").title == "forgetfulness (OAK weights)"
    assert (results.words("forgetting").arrow, results.words("cap").arrow) == ("↓", "↑")


def test_what_is_written_is_read_as_it_was() -> None:
    results = Results.model_validate(FIRST_FORM)

    again = Results.model_validate(json.loads(json.dumps(results.model_dump(mode="json"))))

    assert again == results
    assert again.model_dump(mode="json") == results.model_dump(mode="json")


def test_a_metric_of_ones_own_is_shown_by_what_the_file_says_of_it() -> None:
    words = {"label": "Worst", "title": "the worst class", "direction": "lower", "unit": "steps"}
    changed = {"scores": {"worst": 3.0, "unknown": 1.0}, "metrics": {"worst": words}, "definitions": {}}
    results = Results.model_validate(FIRST_FORM | changed | {"evaluations": []})

    assert results.words("worst").model_dump() == words
    assert results.words("unknown").label == "unknown"


def test_a_name_that_leads_elsewhere_is_not_imported() -> None:
    results = Results.model_validate(FIRST_FORM)

    assert results.words("os:system").label == "os:system"


def test_the_words_of_a_metric_are_cut_rather_than_refused() -> None:
    metric = find_metrics(["fap"])[0]

    class Talkative(type(metric)):  # type: ignore[misc]
        title = "x" * 1000

    assert len(MetricWords.of(Talkative(), Definitions()).title) == LONGEST


@pytest.mark.parametrize("key", ["benchmark", "steps", "evaluations", "seconds"])
def test_a_key_that_must_be_there_is_named(key: str) -> None:
    values = {name: value for name, value in FIRST_FORM.items() if name != key}

    with pytest.raises(ValidationError, match=key):
        Results.model_validate(values)


def test_neither_form_is_refused_by_the_name_of_the_newer_key() -> None:
    values = {name: value for name, value in FIRST_FORM.items() if name != "fap"}

    with pytest.raises(ValidationError, match="scores"):
        Results.model_validate(values)


def test_counts_are_not_negative() -> None:
    with pytest.raises(ValidationError, match="labels"):
        Counts(frames=1, labels=-1, right=0, objects=0)


@pytest.mark.parametrize("odd", [None, 3, [3], [None], {"0": 1}, "text"])
def test_odd_evaluations_are_refused_not_stumbled_over(odd: Any) -> None:
    with pytest.raises(ValidationError):
        Results.model_validate(FIRST_FORM | {"evaluations": odd})
