"""What the terminal says about a report: the words of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from leocod.report.report import load_kinds, render
from leocod.report.verdict import tell_verdict

MakeRun = Callable[..., Path]


def test_one_run_has_the_words_of_the_first_screen(a_run: MakeRun) -> None:
    kinds = load_kinds([a_run("one")])

    learnt, advice = tell_verdict(kinds)

    page = render(kinds)
    for line, heading in ((learnt, "What was learnt"), (advice, "What to do next")):
        assert line.startswith(f"{heading}: ")
        assert heading in page
        assert line.removeprefix(f"{heading}: ").split(". ")[0] in page


def test_seeds_of_one_kind_have_a_mean_and_a_spread(a_run: MakeRun) -> None:
    kinds = load_kinds([a_run(f"own-seed{seed}", seed=seed, scores={"fap": 40.0 + 2 * seed}) for seed in (0, 1)])

    assert list(tell_verdict(kinds)) == ["own: FAP 41.0 ± 1.4, 2 seeds."]


def test_kinds_have_their_differences_with_intervals(a_run: MakeRun) -> None:
    runs = [
        a_run(f"{strategy}-seed{seed}", seed=seed, strategy=strategy, scores={"fap": fap}, evaluations=[])
        for strategy, faps in (("icarl", (30.0, 40.0, 50.0)), ("gdumb", (32.0, 42.2, 51.8)))
        for seed, fap in enumerate(faps)
    ]

    assert list(tell_verdict(load_kinds(runs))) == [
        "gdumb (gdumb) against icarl (icarl): FAP better by 2.0 (1.5 to 2.5), 3 seeds."
    ]


def test_kinds_that_do_not_compare_say_why(a_run: MakeRun) -> None:
    runs = [a_run("one", scores={"fap": 1.0}), a_run("two", scores={"fap": 1.0}, strategy="gdumb", steps=61)]

    [line] = tell_verdict(load_kinds(runs))

    assert line.startswith("No two of these can be compared: two")
    assert "61 steps, not 60" in line
