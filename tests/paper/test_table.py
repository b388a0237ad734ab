import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from leocod.errors import InvalidConfig, UnknownName
from leocod.paper.table import Row, Table, list_paper_tables, list_tables, load_table
from leocod.run.config import load_mapping
from leocod.run.layers import overlay
from leocod.run.plugin import is_plus

SOURCE = Path(__file__).parents[3] / "shared" / "seed"

WANDER = {"benchmark": {"name": "wander"}}


def test_the_tables_are_in_the_order_of_the_paper() -> None:
    assert list_tables()[:4] == ["main", "low-annotation", "ablation", "tau"]
    assert list_tables()[-1] == "figures"
    assert len(list_paper_tables()) == 12


def test_tables_that_are_not_in_the_paper_come_after_it_and_are_not_among_its_own() -> None:
    assert list_tables()[-2:] == ["profile", "figures"]
    assert [name for name in list_tables() if name != "profile"] == list_paper_tables()


@pytest.mark.parametrize("name", list_tables())
def test_every_row_of_every_table_is_a_config(name: str) -> None:
    for row in load_table(name).rows:
        for settings in row.list_settings():
            config = load_mapping(overlay(row.configure(WANDER, seed=0), settings))
            assert config.strategy.name == row.strategy


@pytest.mark.parametrize("name", list_tables())
def test_every_row_can_be_run_with_the_twenty_classes_of_the_standard_world(name: str, a_detector: Any) -> None:
    for row in load_table(name).rows:
        strategy = load_mapping(overlay(row.configure(WANDER, seed=0), row.list_settings()[0])).strategy
        strategy.find()(a_detector(), strategy.options).check(20)


@pytest.mark.parametrize("name", list_paper_tables())
def test_every_table_shows_the_room_left(name: str) -> None:
    rows = load_table(name).rows
    assert any(row.strategy == "offline" for row in rows)
    # Where all frames are labelled there is nothing to take the place of.
    sparse = any(row.labels < 16 for row in rows)
    assert sparse == any(row.diagnosis for row in rows)


@pytest.mark.parametrize("name", [name for name in list_paper_tables() if name != "figures"])
def test_the_figures_are_those_of_the_papers_source(name: str) -> None:
    if not SOURCE.is_dir():
        pytest.skip(f"The paper's source is not at {SOURCE}.")
    table = load_table(name)

    assert sorted(_ours(table)) == sorted(_theirs(_source_of(table.label)))


def _ours(table: Table) -> Iterator[tuple[float, ...]]:
    """FAP, CAP and F of each row and data set, with their spread: what stands together stays together."""
    for row in table.rows:
        for dataset, figures in ({} if row.as_in else row.paper).items():
            spread = row.paper_spread.get(dataset, ())
            yield tuple(value for value in (*figures, *spread) if value is not None)


def _source_of(label: str) -> str:
    text = "\n".join(file.read_text(encoding="utf-8") for file in SOURCE.glob("*.txt"))
    blocks = re.findall(r"\\begin{tabular}.*?\\label{[^}]*}", text, flags=re.DOTALL)
    return next(block for block in blocks if rf"\label{{{label}}}" in block)


NONE = 999.99


def _theirs(block: str) -> list[tuple[float, ...]]:
    """The same from LaTeX: three numbers after one another in a line, or one under another where FAP is a line."""
    body = block[: block.index(r"\end{tabular}")]
    body = re.sub(r"\(\\textcolor{\w+}{[^}]*}\)", "", body)
    # A dash is a figure that there is not.
    body = re.sub(r"&\s*-\s", f"& {NONE} ", body)
    rows = [re.findall(r"-?\d+\.\d\d(?!\d)(?!\\%)", row.rpartition("cline")[2]) for row in body.split(r"\\")]
    found = [[float(number) for number in row] for row in rows if len(row) > 1]
    if "FAP ($\\uparrow$) &" in body.replace("\n", " ").replace("  ", " ") and len(found) == 3 and len(found[0]) > 3:
        columns = list(zip(*found, strict=True))
        # Means and standard deviations take turns.
        if "pm" in body:
            return [(*mean, *spread) for mean, spread in zip(columns[::2], columns[1::2], strict=True)]
        return columns
    threes = [row[start : start + 3] for row in found for start in range(0, len(row), 3)]
    return [tuple(value for value in three if value != NONE) for three in threes]


def test_a_figure_stands_in_the_row_where_the_paper_has_it() -> None:
    main = load_table("main")
    assert main.row("icarl+ecls at 25 %").paper == {"oak": (38.36, 26.64, -8.20), "egoobjects": (61.26, 39.58, -3.48)}
    assert main.row("derpp").paper["oak"] == (37.79, 25.24, -2.87)
    assert load_table("low-annotation").row("agem+ecls").paper["egoobjects"] == (38.96, 23.79, -5.64)
    assert load_table("ablation").row("pseudo at 12.5 %").paper["oak"] == (31.60, 22.44, -4.83)


def test_a_row_of_another_table_is_repeated_with_its_figures() -> None:
    main, repeated = load_table("main").row("agem+ecls"), load_table("low-annotation").row("agem+ecls at 100 %")

    assert (repeated.strategy, repeated.plug_in, repeated.labels) == ("agem", "whole", 16)
    assert (repeated.name, repeated.paper) == (main.name, main.paper)
    assert repeated.over == "agem at 100 %"


def test_a_row_lays_its_own_over_the_benchmark() -> None:
    row = Row(key="k", name="n", labels=2, plug_in="pseudo", set={"efficient_cls": {"score_threshold": 0.5}})
    config = load_mapping(overlay(row.configure(WANDER, seed=3), row.list_settings()[0]))
    assert config.efficient_cls is not None
    assert config.efficient_cls.score_threshold == 0.5
    assert (config.labels.per_step, config.seed) == (2, 3)
    assert config.efficient_cls is not None
    assert (config.efficient_cls.ema, config.efficient_cls.pseudo_labels) == (False, True)
    assert row.cost == "12.5 %"


def test_the_benchmarks_own_options_hold_for_every_strategy_that_has_them() -> None:
    base = {**WANDER, "strategy": {"name": "icarl", "memory_per_class": 7}, "efficient_cls": {"ema_warmup": False}}
    agem = load_mapping(Row(key="k", name="n", strategy="agem", plug_in="whole").configure(base, seed=0))
    assert agem.strategy.options.model_dump()["memory_per_class"] == 7
    assert agem.efficient_cls is not None
    assert not agem.efficient_cls.ema_warmup
    assert load_mapping(Row(key="k", name="n", strategy="incremental").configure(base, seed=0)).efficient_cls is None


def test_a_row_of_efficient_cls_plus_has_its_memory_whatever_the_benchmark_sets() -> None:
    base = {**WANDER, "strategy": {"name": "icarl", "memory_per_class": 7, "replay_per_step": 8}}

    config = load_mapping(Row(key="k", name="n", strategy="agem", plug_in="plus").configure(base, seed=0))

    assert config.efficient_cls is not None
    assert is_plus(config.efficient_cls, "agem", config.strategy.options)
    assert config.strategy.options.model_dump()["replay_per_step"] == 8


def test_a_half_that_the_benchmark_switches_off_is_on_in_rows_that_are_about_it() -> None:
    base = {**WANDER, "efficient_cls": {"ema": False, "score_threshold": 0.6}}

    whole = load_mapping(Row(key="k", name="n", plug_in="whole").configure(base, seed=0)).efficient_cls

    assert whole is not None
    assert (whole.ema, whole.pseudo_labels, whole.score_threshold) == (True, True, 0.6)


@pytest.mark.parametrize("name", list_tables())
def test_a_row_stands_under_the_one_that_it_is_compared_with(name: str) -> None:
    base = None
    for row in load_table(name).rows:
        base = base if row.over else row.key
        assert row.over in (None, base)


def test_an_annotation_cost_that_the_steps_cannot_have_is_refused() -> None:
    odd = {"benchmark": {"name": "wander", "frames_per_step": 6}}
    with pytest.raises(InvalidConfig, match="multiple of 16"):
        Row(key="k", name="n", labels=1).configure(odd, seed=0)
    assert Row(key="k", name="n", labels=8).configure(odd, seed=0)["labels"]["per_step"] == 3


def test_choices_of_labelled_frames_are_runs_of_their_own() -> None:
    row = Row(key="k", name="n", selections=2)
    assert [settings["labels"]["seed"] for settings in row.list_settings()] == [0, 1]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"seed": 7}, "it has seed. Give the row seeds: [7] instead."),
        ({"labels": {"per_step": 1}}, "it has labels.per_step. Give the row labels instead"),
        ({"strategy": "agem"}, "it has strategy.name. Give the row strategy instead"),
        ({"strategy": {"name": "agem"}}, "it has strategy.name. Give the row strategy instead"),
        ({"diagnosis": "copies"}, "it has diagnosis. Give the row diagnosis instead"),
        ({"plugin": "none"}, "it has plugin. Give the row plug_in instead"),
        ({"efficient_cls": {"keep": 0.9}}, "set has efficient_cls, but plug_in is none"),
    ],
)
def test_what_the_table_says_about_a_row_is_not_set_behind_its_back(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(told)):
        Row.model_validate({"key": "k", "set": settings})


def test_choices_by_chance_leave_no_other_labeller() -> None:
    with pytest.raises(ValidationError, match="Remove labels from set"):
        Row.model_validate({"key": "k", "selections": 2, "set": {"labels": {"name": "uncertain"}}})


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(ValidationError, match="metrics"):
        Table.model_validate({"name": "n", "title": "t", "rows": [{"key": "a"}], "metrics": []})


def test_an_unknown_table_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'ablation'"):
        load_table("ablatoin")


def test_a_table_knows_its_rows() -> None:
    whole = {"name": "n", "title": "t", "in_paper": "Table 9", "label": "tab:n", "seeds": [0], "claims": []}
    row = {"key": "a", "name": "a"}
    assert Table.model_validate({**whole, "rows": [row]}).row("a").name == "a"
    with pytest.raises(ValidationError, match="there is no row 'b'"):
        Table.model_validate({**whole, "rows": [{**row, "over": "b"}]})
    with pytest.raises(ValidationError, match="two rows have the key 'a'"):
        Table.model_validate({**whole, "rows": [row, row]})


OWN = """
title: Mine
defaults: {strategy: agem, labels: 4, set: {strategy: {memory_per_class: 7}}}
rows:
  - {key: bare, seeds: [5]}
  - {key: whole, name: with the plug-in, plug_in: whole, over: bare}
  - {key: paper, as_in: [main, icarl]}
comparisons: [[whole, bare]]
benchmark: data.yaml
finished: mine-runs.csv
"""


def test_a_table_of_ones_own_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)

    table = load_table(str(file))

    assert (table.name, table.argument, table.claims) == ("mine", str(file), ())
    assert (table.benchmark, table.finished) == (str(tmp_path / "data.yaml"), str(tmp_path / "mine-runs.csv"))
    assert [row.title for row in table.rows] == ["bare", "with the plug-in", "iCaRL (our impl.)"]
    assert {row.strategy for row in table.rows[:2]} == {"agem"}
    assert table.row("bare").seeds == (5,)


def test_a_repeated_row_does_not_take_the_defaults_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)

    repeated, source = load_table(str(file)).row("paper"), load_table("main").row("icarl")

    assert repeated.model_dump(exclude={"key", "as_in"}) == source.model_dump(exclude={"key", "as_in"})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{title: t, rows: [{key: a, lables: 4}]}", r"rows.0.lables: unknown key. Did you mean 'labels'\?"),
        ("{title: t, rows: [{key: a, labels: 17}]}", "rows.0.labels is 17: it should be at least 0 and at most 16."),
        ("{title: t, rows: [{key: a}], seeds: [1, 1]}", "seeds: a seed is there twice"),
        ("{title: t, rows: [{key: a}], seeds: []}", "seeds is "),
        ("{title: t, rows: [{key: a, seeds: [-1]}]}", "rows.0.seeds.0 is -1"),
        ("{title: t, rows: []}", "a table needs at least one row"),
        ("{title: t, rows: 3}", "rows is 3"),
        ("{title: t, rows: [3]}", "rows.0 is 3: it should be a mapping"),
        ("{title: t, rows: [{key: a}], defaults: 3}", "defaults: it should be a mapping"),
        ("{title: t, rows: [{key: a, as_in: [main, nobody]}]}", "the table main has no row 'nobody'"),
        ("{title: t, rows: [{key: a, as_in: main}]}", "as_in: it should be a shipped table and the key"),
        ("{title: t, rows: [{key: a, as_in: [mine.yaml, a]}]}", "as_in: it should be a shipped table and the key"),
        ("{title: t, rows: [{key: a}], metrics: [fpa]}", r"No metric 'fpa'. Did you mean 'fap'\?"),
        ("{title: t, rows: [{key: a}], chance: -1}", "chance is -1"),
        ("{title: t, name: ../up, rows: [{key: a}]}", "a table has the name of its file"),
        ("{title: t, rows: [{key: a}], comparisons: [[a, b]]}", "there is no row 'b'"),
    ],
)
def test_what_is_wrong_in_a_table_file_is_one_line_with_its_name(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)

    with pytest.raises(InvalidConfig, match=f"mine.yaml: .*{words}"):
        load_table(str(file))


def test_a_table_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidConfig, match="No table file 'nowhere/mine.yaml'"):
        load_table("nowhere/mine.yaml")


def test_no_labels_are_a_cost_too() -> None:
    row = Row(key="start", labels=0)

    assert row.cost == "none"
    assert row.configure(WANDER, seed=0)["labels"]["per_step"] == 0
