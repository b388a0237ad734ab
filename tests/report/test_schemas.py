"""Numbers in the files of a run are such as a run can have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.results import MOST_STEPS
from leocod.report.reading import Run

MakeRun = Callable[..., Path]

AN_EVALUATION: dict[str, Any] = {"step": 3, "ap": 1.0, "ap_by_class": {"mug": 1.0}}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"steps": -1}, "steps: Input should be greater than or equal to 0"),
        ({"steps": MOST_STEPS}, f"steps: Input should be less than {MOST_STEPS}"),
        ({"steps": 1.5}, "steps: Input should be a valid integer"),
        ({"seed": -1}, "seed: "),
        ({"seed": 2**200}, "seed: "),
        ({"scores": {"fap": float("nan")}}, r"scores\.fap: Input should be a finite number"),
        ({"scores": {"fap": float("inf")}}, r"scores\.fap: Input should be a finite number"),
        ({"scores": {"fap": "high"}}, r"scores\.fap: Input should be a valid number"),
        ({"scores": {str(number): 1.0 for number in range(101)}}, "scores: "),
        ({"metrics": {"fap": {"label": "x" * 500, "title": "", "direction": "lower"}}}, r"metrics\.fap\.label: "),
        ({"metrics": {"fap": {"label": "F", "title": "", "direction": "up"}}}, r"metrics\.fap\.direction: "),
        ({"start": {"ap": 1e300, "ap_by_class": {}}}, r"start\.ap: Input should be less than or equal to 101"),
        ({"seconds": -1}, "seconds: "),
        ({"seconds": 1e300}, "seconds: "),
        ({"memory_bytes": 10**30}, "memory_bytes: "),
        ({"benchmark": None}, "benchmark: Input should be a valid string"),
        ({"evaluations": {}}, "evaluations: Input should be a valid list"),
        ({"evaluations": [AN_EVALUATION | {"step": -1}]}, r"evaluations\.0\.step: "),
        ({"evaluations": [AN_EVALUATION | {"ap_by_class": {"mug": -1e9}}]}, r"evaluations\.0\.ap_by_class\.mug: "),
        ({"evaluations": [AN_EVALUATION] * 2}, "evaluations: Value error, step 3 comes after step 3"),
        ({"evaluations": [AN_EVALUATION | {"ap_by_class": {"cow": 1}}]}, r"evaluations\.0: 'cow' is no class"),
        ({"definitions": {"forgetting_bins": 10**30}}, "definitions: Value error, forgetting_bins: more than"),
        ({"seconds_by_part": {str(number): 1.0 for number in range(101)}}, "seconds_by_part: "),
    ],
)
def test_a_number_that_no_run_has_is_refused_with_its_key(
    a_run: MakeRun, changed: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidRun, match=rf"results\.json cannot be read \({complaint}") as caught:
        Run.load(a_run(**changed))

    assert str(caught.value).isprintable()
