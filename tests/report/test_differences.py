"""What the page says about which kind is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from leocod.report.differences import show_differences
from leocod.report.kinds import group_runs
from leocod.report.reading import Run
from leocod.report.report import list_metrics

MakeRun = Callable[..., Path]


def show_verdicts(runs: list[Run]) -> list[tuple[str | int, ...]]:
    """The rows of the table of differences."""
    (section,) = show_differences(group_runs(runs), list_metrics(runs))
    return list(section.tables[0].rows)


def load_seeds(a_run: MakeRun, name: str, faps: Sequence[float | None], **changed: Any) -> list[Run]:
    """A run for each seed, with this FAP and nothing by class."""
    return [
        Run.load(a_run(f"{name}-seed{seed}", seed=seed, scores={"fap": fap}, evaluations=[], **changed))
        for seed, fap in enumerate(faps)
    ]


def test_a_difference_is_paired_over_seeds_and_comes_with_its_interval(a_run: MakeRun) -> None:
    base = load_seeds(a_run, "base", [30.0, 40.0, 50.0])
    better = load_seeds(a_run, "better", [32.0, 42.2, 51.8], strategy="gdumb")

    # 2.0, 2.2 and 1.8 are 2 with a standard deviation of 0.2: 2 -+ 4.303 * 0.2 / sqrt(3).
    assert show_verdicts(base + better) == [
        ("better (gdumb) against base (icarl)", "better by 2.0 (1.5 to 2.5), 3 seeds")
    ]
    assert show_verdicts(better + base) == [
        ("base (icarl) against better (gdumb)", "worse by 2.0 (1.5 to 2.5), 3 seeds")
    ]


def test_only_seeds_that_both_have_count(a_run: MakeRun) -> None:
    base = load_seeds(a_run, "base", [30.0, 40.0, 99.0])
    other = load_seeds(a_run, "other", [31.0, 38.0], strategy="gdumb")

    # 1 and -2 are -0.5 with a standard deviation of 2.12: 12.706 * 1.5 to both sides.
    assert show_verdicts(base + other) == [
        ("other (gdumb) against base (icarl)", "undecided: worse by 0.5 (−18.6 to 19.6), 2 seeds")
    ]


def test_one_seed_has_no_interval(a_run: MakeRun) -> None:
    runs = load_seeds(a_run, "base", [30.0]) + load_seeds(a_run, "other", [33.0], strategy="gdumb")

    assert show_verdicts(runs) == [
        ("other-seed0 (gdumb) against base-seed0 (icarl)", "better by 3.0, one seed: no interval")
    ]


def test_runs_without_a_seed_in_common_are_not_compared(a_run: MakeRun) -> None:
    base, other = load_seeds(a_run, "base", [30.0]), load_seeds(a_run, "other", [33.0, 34.0], strategy="gdumb")[1:]

    (section,) = show_differences(group_runs(base + other), list_metrics(base + other))

    assert section.missing == (
        "No two of these can be compared: other-seed1 (gdumb) against base-seed0 (icarl): no seed in common."
    )


def test_runs_without_a_metric_are_not_compared(a_run: MakeRun) -> None:
    runs = load_seeds(a_run, "base", [None]) + load_seeds(a_run, "other", [None], strategy="gdumb")

    (section,) = show_differences(group_runs(runs), list_metrics(runs))

    assert section.missing == "No metric is defined at a seed that two of these have."


def test_many_kinds_are_compared_with_the_first(a_run: MakeRun) -> None:
    runs = [run for number in range(6) for run in load_seeds(a_run, f"kind{number}", [30.0], strategy=f"s{number}")]

    few, many = show_verdicts(runs[:4]), show_verdicts(runs)

    assert len(few) == 6
    assert [row[0] for row in many] == [
        f"kind{number}-seed0 (s{number}) against kind0-seed0 (s0)" for number in range(1, 6)
    ]


def test_one_kind_has_nothing_to_be_compared_with(a_run: MakeRun) -> None:
    runs = load_seeds(a_run, "base", [30.0, 31.0])

    assert show_differences(group_runs(runs), list_metrics(runs)) == []
