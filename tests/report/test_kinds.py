"""Which runs are one kind, and what is told about all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from leocod.report.kinds import Kind, average_known, group_runs
from leocod.report.reading import Run

MakeRun = Callable[..., Path]


def configure(path: Path, **changed: object) -> Run:
    """A run whose config has these values, too."""
    config = yaml.safe_load((path / "config.yaml").read_text()) | changed
    (path / "config.yaml").write_text(yaml.safe_dump(config))
    return Run.load(path)


def seeds(kinds: list[Kind]) -> list[list[int]]:
    return [list(kind.by_seed) for kind in kinds]


def test_runs_that_differ_only_in_the_seed_are_one_kind(a_run: MakeRun) -> None:
    runs = [configure(a_run(f"icarl-seed{seed}", seed=seed), seed=seed) for seed in (3, 1)]
    other = configure(a_run("gdumb-seed3", seed=3, strategy="gdumb"), seed=3)

    kinds = group_runs([runs[0], other, runs[1]])

    assert [kind.name for kind in kinds] == ["icarl", "gdumb-seed3"]
    assert seeds(kinds) == [[3, 1], [3]]


@pytest.mark.parametrize(
    ("key", "value", "is_one"),
    [
        ("threads", 4, True),
        ("device", "cuda", True),
        ("sinks", ["console"], True),
        ("checkpoint", {"every": 7}, True),
        ("precision", "bfloat16", False),
        ("detector", {"learning_rate": 0.1}, False),
    ],
)
def test_where_a_run_ran_does_not_make_it_another_kind_but_its_options_do(
    key: str, value: object, is_one: bool, a_run: MakeRun
) -> None:
    runs = [configure(a_run("one", seed=0)), configure(a_run("two", seed=1), seed=1, **{key: value})]

    assert (len(group_runs(runs)) == 1) == is_one


def test_a_run_that_was_composed_in_python_has_its_seed_elsewhere(a_run: MakeRun) -> None:
    runs = [configure(a_run(f"own {seed}", seed=seed), composed={"seed": seed, "learner": "mine"}) for seed in (0, 1)]

    assert seeds(group_runs(runs)) == [[0, 1]]


def test_a_seed_that_comes_again_begins_another_kind(a_run: MakeRun) -> None:
    before = [Run.load(a_run(f"before/icarl-seed{seed}", seed=seed)) for seed in (0, 1)]
    after = [Run.load(a_run(f"after/icarl-seed{seed}", seed=seed)) for seed in (0, 1)]

    kinds = group_runs(before + after)

    assert [kind.name for kind in kinds] == ["icarl", "icarl (2)"]
    assert [kind.runs for kind in kinds] == [tuple(before), tuple(after)]


def test_runs_whose_names_have_nothing_in_common_are_listed(a_run: MakeRun) -> None:
    runs = [Run.load(a_run(name, seed=seed)) for seed, name in enumerate(("kitchen", "garden", "street"))]

    assert group_runs(runs)[0].name == "kitchen, garden and 1 more"


def test_mean_and_spread_are_over_the_seeds_that_have_the_metric(a_run: MakeRun) -> None:
    scores = [{"fap": 10.0, "forgetting": None}, {"fap": 14.0, "forgetting": 2.0}]
    (kind,) = group_runs([Run.load(a_run(f"{seed}", seed=seed, scores=one)) for seed, one in enumerate(scores)])

    assert kind.list_scores("fap") == {0: 10.0, 1: 14.0}
    assert kind.spread("fap") == pytest.approx(8**0.5)
    assert kind.list_scores("forgetting") == {1: 2.0}
    assert kind.spread("forgetting") is None


def test_tables_are_of_the_evaluations_that_all_runs_have(a_run: MakeRun) -> None:
    one, other = (Run.load(a_run(f"{seed}", seed=seed, level=60.0 + 10 * seed)) for seed in range(2))
    fewer = Run(
        **{**vars(other), "results": other.results.model_copy(update={"evaluations": other.results.evaluations[1:]})}
    )

    (kind,) = group_runs([one, fewer])

    assert kind.evaluated_steps == one.evaluated_steps[1:]
    np.testing.assert_allclose(kind.table, (one.table[1:] + fewer.table) / 2)


def test_what_is_not_known_is_left_out_of_a_mean() -> None:
    values = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])

    np.testing.assert_array_equal(average_known(values), [2.0, 4.0, np.nan])
