"""What tells two kinds apart, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from leocod.report.contrast import contrast
from leocod.report.kinds import Kind, group_runs
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def load_kind(path: Path, **settings: Any) -> Kind:
    """A kind of one run, whose config has these values, too."""
    config = yaml.safe_load((path / "config.yaml").read_text()) | settings
    (path / "config.yaml").write_text(yaml.safe_dump(config))
    return group_runs([Run.load(path)])[0]


@pytest.mark.parametrize(
    ("changed", "here", "there"),
    [
        ({"strategy": "gdumb"}, "gdumb", "icarl"),
        ({"ema": True, "pseudo_labels": True}, "with Efficient-CLS", "without Efficient-CLS"),
        ({"ema": True}, "with EMA only", "without Efficient-CLS"),
        ({"labels_per_step": 1}, "1 labelled frame a step", "2 labelled frames a step"),
        ({"detector": "retinanet"}, "detector retinanet", "detector tiny"),
    ],
)
def test_facts_are_told_in_the_words_of_the_tables(
    changed: dict[str, Any], here: str, there: str, a_run: MakeRun
) -> None:
    usual = {"strategy": "icarl", "ema": False, "pseudo_labels": False, "labels_per_step": 2, "detector": "tiny"}
    kinds = load_kind(a_run("one", **(usual | changed))), load_kind(a_run("two", **usual))

    assert contrast(*kinds) == (f"one ({here})", f"two ({there})")


def test_options_are_told_by_their_keys(a_run: MakeRun) -> None:
    one = load_kind(a_run("one"), detector={"name": "tiny", "learning_rate": 0.1}, sinks=["console"])
    other = load_kind(a_run("two"), detector={"name": "tiny", "learning_rate": 0.2}, sinks=["jsonl"])

    assert contrast(one, other) == ("one (detector.learning_rate=0.1)", "two (detector.learning_rate=0.2)")


def test_options_of_another_strategy_are_not_listed_beside_its_name(a_run: MakeRun) -> None:
    one = load_kind(a_run("one", strategy="gdumb"), strategy={"name": "gdumb", "epochs": 3})
    other = load_kind(a_run("two", strategy="icarl"), strategy={"name": "icarl", "replay_per_step": 16})

    assert contrast(one, other) == ("one (gdumb)", "two (icarl)")


def test_many_differences_are_counted(a_run: MakeRun) -> None:
    one = load_kind(a_run("one"), strategy=dict.fromkeys("abcde", 1))

    assert contrast(one, load_kind(a_run("two"), strategy={"a": 1}))[0] == (
        "one (strategy.b=1, strategy.c=1, strategy.d=1 and 1 more)"
    )


def test_the_same_run_made_again_has_only_its_name(a_run: MakeRun) -> None:
    assert contrast(load_kind(a_run("before")), load_kind(a_run("after"))) == ("before", "after")
