from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from leocod.evaluation.intervals import Difference, find_t_quantile
from leocod.paper.outcome import Outcome, RowRuns, Verdict, spread
from leocod.paper.plan import Plan
from leocod.paper.record import RunRecord
from leocod.paper.table import Row, Table


def outcome(claim: Mapping[str, Any], **fap: list[float]) -> Outcome:
    """Rows by their FAP, seed by seed; forgetting is the same number."""
    about = {"text": "t", "metrics": ["fap"], **claim}
    rows = [{"key": key, "name": key} for key in fap]
    whole = {"name": "n", "title": "t", "rows": rows}
    table = Table.model_validate({**whole, "claims": [about]})
    runs = {}
    for key, values in fap.items():
        scores = {(seed, None): {"fap": value, "forgetting": value} for seed, value in enumerate(values)}
        runs[key] = RowRuns(table.row(key), scores, 3)
    return Outcome(table, runs)


def with_classes(**runs: list[dict[str, float]]) -> Outcome:
    """Rows by the FAP of each class, seed by seed."""
    plain = outcome(BETTER, **{key: [sum(one.values()) / len(one) for one in values] for key, values in runs.items()})
    rows = {}
    for key, values in runs.items():
        records = {
            (seed, None): RunRecord(run=f"{key}{seed}", seed=seed, scores={}, by_class={"fap": one})
            for seed, one in enumerate(values)
        }
        rows[key] = replace(plain.rows[key], records=records)
    return Outcome(plain.table, rows)


def difference_of(verdict: Verdict) -> Difference:
    """Of its first comparison."""
    difference = verdict.comparisons[0].difference
    assert difference is not None
    return difference


BETTER = {"better": [["a", "b"]]}

SINGLE = 1.959964 * 2**0.5
"""How far the interval of two single runs reaches that differ by 1 point each."""


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ([12.0, 13.0, 14.0], [10.0, 11.0, 12.2], "holds"),
        ([10.0, 11.0, 12.0], [12.0, 13.2, 14.0], "does not hold"),
        # Two for, one against: the mean is above 0, but its interval is not.
        ([12.0, 13.0, 9.0], [10.0, 11.0, 12.0], "undecided"),
        ([], [10.0], "not run"),
        # Single runs differ by 1 point each, so their difference by 1.4; 1.96 times that is 2.8.
        ([13.0], [10.0], "holds"),
        ([12.5], [10.0], "undecided"),
        ([7.0], [10.0], "does not hold"),
        # Two runs that agree on half a point, to a tenth: t with one degree of freedom is 12.7.
        ([10.5, 11.4], [10.0, 11.0], "undecided"),
    ],
)
def test_a_row_is_better_when_the_whole_interval_is_above_0(first: list[float], second: list[float], word: str) -> None:
    [verdict] = outcome(BETTER, a=first, b=second).judge_claims()

    assert verdict.word == word


def test_differences_are_taken_run_by_run() -> None:
    """Seeds that are far apart are no noise where both rows move with them."""
    [verdict] = outcome(BETTER, a=[11.0, 51.0, 91.2], b=[10.0, 50.0, 90.0]).judge_claims()

    assert verdict.word == "holds"
    assert difference_of(verdict).by_run == pytest.approx((1.0, 1.0, 1.2))


def test_only_runs_that_both_rows_have_are_compared() -> None:
    [verdict] = outcome(BETTER, a=[20.0, 0.0], b=[10.0]).judge_claims()

    assert difference_of(verdict).by_run == (10.0,)


def test_less_forgetting_is_better() -> None:
    [verdict] = outcome({**BETTER, "metrics": ["forgetting"]}, a=[-3.0], b=[2.0]).judge_claims()

    assert verdict.word == "holds"
    assert difference_of(verdict).mean == 5.0
    assert difference_of(verdict).interval == pytest.approx((5.0 - SINGLE, 5.0 + SINGLE))


def test_a_gain_is_compared_with_another_gain() -> None:
    """Four single runs: chance counts four times."""
    claim = {"gains": [["a", "b", "c", "d"]]}

    [more] = outcome(claim, a=[17.0], b=[10.0], c=[22.0], d=[20.0]).judge_claims()
    [less] = outcome(claim, a=[12.0], b=[10.0], c=[27.0], d=[20.0]).judge_claims()
    [neither] = outcome(claim, a=[15.0], b=[10.0], c=[22.0], d=[20.0]).judge_claims()

    assert [verdict.word for verdict in (more, less, neither)] == ["holds", "does not hold", "undecided"]
    assert difference_of(more).mean == 5.0
    assert difference_of(more).interval == pytest.approx((5.0 - 2**0.5 * SINGLE, 5.0 + 2**0.5 * SINGLE))


def test_pairs_are_compared_in_their_mean() -> None:
    claim = {"on_average": [["a", "b"], ["c", "d"]]}

    [better] = outcome(claim, a=[17.0], b=[10.0], c=[21.0], d=[20.0]).judge_claims()
    [less] = outcome(claim, a=[13.0], b=[10.0], c=[20.0], d=[20.0]).judge_claims()
    [unrun] = outcome(claim, a=[17.0], b=[10.0], c=[21.0], d=[]).judge_claims()

    assert [verdict.word for verdict in (better, less, unrun)] == ["holds", "undecided", "not run"]
    assert difference_of(better).mean == 4.0
    assert difference_of(better).interval == pytest.approx((4.0 - SINGLE, 4.0 + SINGLE))


def test_other_comparisons_tell_how_much_one_varies_from_seed_to_seed() -> None:
    rows = {"a": [11.0, 12.0], "b": [10.0, 10.0], "c": [12.0, 11.0], "d": [10.0, 10.0]}
    alone, beside = outcome(BETTER, **rows), outcome({"better": [["a", "b"], ["c", "d"]]}, **rows)

    widths = []
    for one in (alone, beside):
        interval = difference_of(one.judge_claims()[0]).interval
        assert interval is not None
        widths.append(interval.high - interval.low)

    # Each pair has the variance 0.5 over two runs: t with one degree of freedom, and with 1 + 1 / (1 / 4 + 1 / 1).
    assert widths == pytest.approx([2 * 12.706 * 0.5, 2 * find_t_quantile(1.8) * 0.5], abs=0.001)


def test_a_mean_over_pairs_is_judged_by_its_own_runs() -> None:
    """What a seed does to all pairs does not average out."""
    rows = {"a": [11.0, 12.0], "b": [10.0, 10.0], "c": [11.0, 12.0], "d": [10.0, 10.0]}

    [verdict] = outcome({"on_average": [["a", "b"], ["c", "d"]]}, **rows).judge_claims()

    assert difference_of(verdict).interval == pytest.approx((1.5 - 12.706 * 0.5, 1.5 + 12.706 * 0.5), abs=0.001)


@pytest.mark.parametrize(("seeds", "is_told"), [(3, True), (2, False)])
def test_one_class_decides_nothing_for_other_classes_but_seeds_may_agree_on_these(seeds: int, is_told: bool) -> None:
    """One class of four gains 20 with every seed, the others gain nothing."""
    gains = [[{"one": 20.0 + seed, "two": 0.0, "three": 0.0, "four": 0.0} for seed in range(seeds)]] * 2
    none = [[dict.fromkeys(gains[0][0], 0.0)] * seeds] * 2
    rows = with_classes(a=gains[0], b=none[0], c=gains[1], d=none[1])

    difference = rows.subtract("fap", "a", "b", "c", "d", signs=(0.5, -0.5, 0.5, -0.5))

    assert difference is not None
    assert difference.interval is not None
    assert not difference.interval.is_above
    if not is_told:
        assert difference.over_seeds is None
        return
    assert difference.over_seeds is not None
    # 5, 5.25 and 5.5 in three seeds: t with two degrees of freedom.
    assert difference.over_seeds == pytest.approx(
        (5.25 - 4.303 * 0.25 / 3**0.5, 5.25 + 4.303 * 0.25 / 3**0.5), abs=0.001
    )
    assert difference.flip().over_seeds == pytest.approx((-difference.over_seeds.high, -difference.over_seeds.low))


@pytest.mark.parametrize(("seeds", "is_told"), [((0, 0, 0), False), ((0, 1, 1), False), ((0, 1, 2, 2), True)])
def test_choices_of_labelled_frames_are_no_seeds(seeds: Sequence[int], is_told: bool) -> None:
    gains = [[{"one": 4.0, "two": 0.0}] * len(seeds), [{"one": 0.0, "two": 0.0}] * len(seeds)]
    rows = with_classes(a=gains[0], b=gains[1])
    places = [(seed, number) for number, seed in enumerate(seeds)]
    moved = {
        key: replace(
            row,
            runs=dict(zip(places, row.runs.values(), strict=True)),
            records=dict(zip(places, row.records.values(), strict=True)),
        )
        for key, row in rows.rows.items()
    }

    difference = Outcome(rows.table, moved).subtract("fap", "a", "b")

    assert difference is not None
    assert (difference.over_seeds is not None) == is_told


def test_no_better_holds_when_the_whole_interval_is_below_the_margin() -> None:
    claim = {"no_better": [["a", "b"]]}

    # The interval reaches 2.8 to both sides.
    words = [outcome(claim, a=[a], b=[10.0]).judge_claims()[0].word for a in (8.0, 8.3, 13.0, 14.0)]
    generous = outcome({**claim, "margin": 6.0}, a=[13.0], b=[10.0]).judge_claims()[0].word

    assert words == ["holds", "undecided", "undecided", "does not hold"]
    assert generous == "holds"
    assert outcome(claim, a=[], b=[10.0]).judge_claims()[0].word == "not run"


def test_classes_that_differ_make_the_interval_wider() -> None:
    """Given the same means, when one class gains all and the other loses, then nothing is decided."""
    alike = with_classes(a=[{"mug": 14.0, "dog": 14.1}, {"mug": 14.1, "dog": 14.0}], b=[{"mug": 10.0, "dog": 10.0}] * 2)
    apart = with_classes(a=[{"mug": 28.0, "dog": 0.1}, {"mug": 28.1, "dog": 0.0}], b=[{"mug": 10.0, "dog": 10.0}] * 2)

    words = [one.judge_claims()[0].word for one in (alike, apart)]

    assert [difference_of(one.judge_claims()[0]).mean for one in (alike, apart)] == pytest.approx([4.05, 4.05])
    assert words == ["holds", "undecided"]


def test_classes_that_not_every_run_has_do_not_count() -> None:
    """With a single class left the interval is over seeds: two runs, 4 and 5 better, 12.7 * 0.5 to both sides."""
    only_mug = with_classes(a=[{"mug": 14.0, "dog": 14.0}, {"mug": 15.0}], b=[{"mug": 10.0, "dog": 10.0}] * 2)

    interval = difference_of(only_mug.judge_claims()[0]).interval

    assert interval is not None
    assert interval.high - interval.low == pytest.approx(12.706, abs=0.001)


def test_of_a_single_run_the_classes_count_and_the_chance_of_the_table() -> None:
    """Classes 2 and 6 better: variance 8 over 2 classes is 4; and 2 of chance. t with one degree is 12.706."""
    single = with_classes(a=[{"mug": 12.0, "dog": 16.0}], b=[{"mug": 10.0, "dog": 10.0}])
    lucky = Outcome(single.table.model_copy(update={"chance": 0.0}), single.rows)

    wide, narrow = (difference_of(one.judge_claims()[0]).interval for one in (single, lucky))

    assert wide == pytest.approx((4 - 12.706 * 6**0.5, 4 + 12.706 * 6**0.5), abs=0.01)
    assert narrow == pytest.approx((4 - 12.706 * 2, 4 + 12.706 * 2), abs=0.01)


def test_choices_of_labelled_frames_are_compared_within_their_seed() -> None:
    row = Row(key="a", name="a", selections=2)
    runs = {(seed, choice): {"fap": 50.0 * seed + choice} for seed in (0, 1) for choice in (0, 1)}

    assert RowRuns(row, runs, 4).spread("fap") == pytest.approx(0.5**0.5)


def test_choices_of_labelled_frames_do_not_count_as_other_worlds() -> None:
    table = outcome(BETTER, a=[], b=[]).table
    # Two worlds that differ by 2, with three choices each that differ by nothing.
    first = {(seed, choice): {"fap": 50.0 + 2 * seed} for seed in (0, 1) for choice in (0, 1, 2)}
    second = {place: {"fap": 50.0} for place in first}
    rows = {"a": RowRuns(table.row("a"), first, 6), "b": RowRuns(table.row("b"), second, 6)}

    difference = Outcome(table, rows).subtract("fap", "a", "b")

    assert difference is not None
    assert difference.interval == pytest.approx((1 - 12.706, 1 + 12.706), abs=0.01)


def test_a_row_that_stands_on_both_sides_does_not_count() -> None:
    rows = outcome(BETTER, a=[12.0, 13.0, 15.0], b=[10.0, 11.5, 12.0], c=[70.0, 20.0, 90.0])
    alone = outcome(BETTER, a=[12.0], b=[10.0], c=[70.0])

    assert rows.subtract("fap", "a", "c", "b", "c") == rows.subtract("fap", "a", "b")
    assert alone.subtract("fap", "a", "c", "b", "c") == alone.subtract("fap", "a", "b")


def test_a_row_that_several_pairs_share_counts_as_one() -> None:
    alone = outcome(BETTER, a=[12.0], b=[12.0], c=[10.0])

    gain = alone.subtract("fap", "a", "c", "b", "c", signs=(1, -1, 1, -1))

    assert gain is not None
    assert gain.interval is not None
    # c counts twice, and so four times as much in the variance.
    assert gain.interval.high - 4 == pytest.approx(1.959964 * 6**0.5)


def test_the_papers_own_figures_get_a_verdict_too(table: Table) -> None:
    [verdict] = Outcome.from_paper(table, "oak").judge_claims()

    assert verdict.word == "undecided"
    assert difference_of(verdict).by_run == pytest.approx((0.62,))
    assert difference_of(verdict).interval is None
    assert Outcome.from_paper(table, "egoobjects").judge_claims()[0].word == "not run"


def test_rows_are_alike_when_the_whole_interval_is_within_the_margin() -> None:
    claim = {"alike": [["a", "b"]]}

    [alike] = outcome(claim, a=[10.0, 12.0], b=[10.1, 12.1]).judge_claims()
    [unsure] = outcome(claim, a=[10.0, 12.0], b=[11.0, 11.5]).judge_claims()
    [apart] = outcome(claim, a=[10.0, 10.0], b=[15.0, 15.1]).judge_claims()

    assert [verdict.word for verdict in (alike, unsure, apart)] == ["holds", "undecided", "does not hold"]


def test_a_row_is_steady_when_its_runs_differ_little() -> None:
    claim = {"steady": [["a"]], "at_most": 1.2}

    words = [outcome(claim, a=values).judge_claims()[0].word for values in ([10.0, 11.0], [10.0, 15.0], [10.0])]

    assert words == ["holds", "does not hold", "not run"]


def test_a_claim_is_as_good_as_its_worst_comparison() -> None:
    claim = {"better": [["a", "b"], ["a", "c"]]}

    words = [outcome(claim, a=[13.0], b=[10.0], c=[c]).judge_claims()[0].word for c in (10.0, 12.9, 16.0)]

    assert words == ["holds", "undecided", "does not hold"]


def test_the_spread_is_the_standard_deviation_of_a_sample() -> None:
    assert spread([[1.0, 3.0]]) == pytest.approx(2**0.5)
    assert spread([[1.0]]) is None
    assert spread([]) is None


def test_the_spread_of_several_groups_is_pooled() -> None:
    # Squares of 2 and of 32, with 1 and 2 degrees of freedom.
    assert spread([[1.0, 3.0], [10.0, 14.0, 18.0], [99.0]]) == pytest.approx(((2 + 32) / 3) ** 0.5)


def test_it_is_read_from_the_finished_cells(plan: Plan, table: Table) -> None:
    before = Outcome.read(plan, table)
    plan.cells_of(table, table.row("whole"))[1].run(threads=1)
    after = Outcome.read(plan, table)

    assert before.rows["whole"].runs == {}
    assert list(after.rows["whole"].runs) == [(1, None)]
    assert after.rows["whole"].expected == 2
    assert not after.complete


def test_a_mean_over_pairs_of_single_runs_is_no_surer_than_one_pair() -> None:
    """What a seed does to all pairs does not average out."""
    fap = {f"{side}{pair}": [11.4 if side == "a" else 10.0] for pair in range(4) for side in "ab"}
    pairs = [[f"a{pair}", f"b{pair}"] for pair in range(4)]

    [mean] = outcome({"on_average": pairs}, **fap).judge_claims()
    [one] = outcome({"better": pairs[:1]}, **fap).judge_claims()

    assert difference_of(mean).interval == pytest.approx(difference_of(one).interval)
    assert mean.word == one.word == "undecided"


def test_rows_without_a_run_in_common_cannot_be_compared() -> None:
    apart = outcome(BETTER, a=[12.0], b=[10.0])
    moved = replace(apart.rows["b"], runs={(5, None): {"fap": 10.0}})

    [verdict] = Outcome(apart.table, {**apart.rows, "b": moved}).judge_claims()

    assert verdict.word == "cannot be compared"
