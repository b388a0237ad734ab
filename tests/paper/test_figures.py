"""The figures say what the cells hold, whatever part of them there is."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from leocod import report
from leocod.errors import UnknownName
from leocod.paper.cells import Cell
from leocod.paper.figures import (
    BARE,
    BLUE,
    GREY,
    NAIVE,
    RED,
    WHOLE,
    WORDS,
    build_over_time_section,
    choose_classes,
    draw_bars,
    draw_over_time,
    load_example_runs,
    pair_by_cost,
    pair_pseudo_labels,
    render_page,
    write_figures,
)
from leocod.paper.outcome import Outcome
from leocod.paper.plan import Plan
from leocod.paper.table import Table, load_table
from leocod.report.drawing import INK, draw_axes, make_standalone
from leocod.report.reading import Run

Write = Callable[..., Cell]

CLASSES = ("mug", "laptop", "<b>& $5 note</b>", "plant", "car", "lamp", "bus", "never shown", "never tested")
STEPS = 8


def shown_in(step: int) -> list[int]:
    """Mug in one step, laptop in two, ... bus in seven; the last but one never, the last always."""
    return [number for number in range(7) if step <= number] + [8]


def write_cell(cell: Cell, frames: tuple[int, ...], **changed: Any) -> None:
    """What a run would have left, made up by a fixed rule."""
    (cell.path / "samples").mkdir(parents=True)
    plugged_in = cell.config.efficient_cls is not None
    points = {name: None if name == "never tested" else 10.0 + number for number, name in enumerate(CLASSES)}
    evaluations = [{"step": step, "ap50": 14.0, "ap50_by_class": points} for step in (3, 7)]
    results = {"benchmark": "wander", "detector": "tiny", "strategy": "icarl", "efficient_cls": plugged_in}
    results |= {"ema": plugged_in, "pseudo_labels": plugged_in, "labels_per_step": 1, "seed": cell.config.seed}
    results |= {"steps": STEPS, "labelled_frames": 8, "fap": 40.0, "cap": 30.0, "forgetfulness": 2.0, "seconds": 1.0}
    cell.directory.results.write_text(json.dumps({**results, "evaluations": evaluations, **changed}))
    cell.directory.config.write_text(cell.config.to_yaml())
    cell.directory.memory.write_text(json.dumps({"bytes": 0, "frames": 0}))
    cell.directory.report.write_text("")
    events: list[dict[str, Any]] = [{"event": "RunStarted", "classes": CLASSES}]
    audit = {"frames": 3, "labels": 5, "right": 4, "objects": 8} if plugged_in else None
    events += [
        {"event": "StepLearned", "step": step, "present": shown_in(step), "labelled": [], "audit": audit}
        for step in range(STEPS)
    ]
    cell.directory.events.write_text("".join(json.dumps(event) + "\n" for event in events))
    samples = []
    for number in frames:
        Image.fromarray(np.full((24, 32, 3), number, np.uint8)).save(cell.path / "samples" / f"{number}.png")
        # One right box, one wrong one, one true box that nobody found.
        boxes = [[2, 2, 10, 10, 0, 1.0], [20, 2, 30, 10, 1, 1.0]]
        sample = {"kind": "pseudo", "step": number // 4, "frame": number, "file": f"{number}.png", "boxes": boxes}
        samples.append(sample | {"truth": [[2, 2, 10, 10, 0], [2, 12, 10, 20, 3]]})
    (cell.path / "samples" / "samples.json").write_text(json.dumps(samples))


@pytest.fixture
def table() -> Table:
    """Two strategies at two annotation costs, and the naive row; in another order than they are drawn."""
    rows: list[dict[str, Any]] = []
    for strategy, labels, cost in (("icarl", 16, 100), ("icarl", 4, 25), ("agem", 16, 100), ("agem", 4, 25)):
        bare = {"key": f"{strategy} at {cost} %", "name": strategy.upper(), "labels": labels, "strategy": strategy}
        with_plug_in = {"key": f"{strategy}+ecls at {cost} %", "plug_in": "whole", "over": bare["key"]}
        rows += [bare, {**bare, **with_plug_in}]
    naive = {"key": NAIVE, "name": "naive", "labels": 4, "plug_in": "pseudo", "over": BARE}
    true = {"key": "true boxes", "labels": 4, "plug_in": "whole", "diagnosis": "true_boxes", "over": BARE}
    about = {"name": "figures", "title": "Figures", "in_paper": "Figures 3 and 4", "label": "fig", "seeds": [0, 1]}
    return Table.model_validate({**about, "rows": [*rows, naive, true], "claims": []})


@pytest.fixture
def plan(table: Table, base: dict[str, Any], tmp_path: Path) -> Plan:
    return Plan([table], base, (), tmp_path / "paper")


@pytest.fixture
def finish(plan: Plan, table: Table) -> Write:
    """Let the run of a row end: `finish(BARE, seed=1, fap=20.0)`."""

    def write(key: str, *, seed: int = 0, frames: tuple[int, ...] = (4, 8), **changed: Any) -> Cell:
        cell = next(cell for cell in plan.cells_of(table, table.row(key)) if cell.config.seed == seed)
        write_cell(cell, frames, **changed)
        return cell

    return write


def words_of(text: str) -> str:
    """What a person reads: no tags, no style, single spaces."""
    bare = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())


def sizes(svg: str, style: str) -> list[tuple[float, float]]:
    """Width and height of the shapes that are drawn in this style, in points of the page."""
    shapes = re.findall(rf'<path d="([^"]*)" clip-path="[^"]*" style="{style}', svg)
    corners = [np.array(re.findall(r"[ML] (\S+) (\S+)", shape), np.float64) for shape in shapes]
    return [tuple(np.ptp(one, axis=0).tolist()) for one in corners]


def bars_of(svg: str, colour: str) -> list[float]:
    """Heights of the bars of a colour."""
    return [height for _, height in sizes(svg, f'fill: {colour}"/>')]


def test_bars_stand_by_strategy_and_the_lowest_cost_comes_first(table: Table) -> None:
    costs = {strategy: [whole.cost for _, whole in pairs] for strategy, pairs in pair_by_cost(table).items()}

    assert costs == {"icarl": ["25 %", "100 %"], "agem": ["25 %", "100 %"]}


def test_the_papers_own_bars_are_of_four_strategies_at_five_costs() -> None:
    pairs = pair_by_cost(load_table("figures"))

    assert list(pairs) == ["icarl", "agem", "gdumb", "derpp"]
    for of_one in pairs.values():
        assert [bare.cost for bare, _ in of_one] == ["6.25 %", "12.5 %", "25 %", "50 %", "100 %"]
        assert all((bare.plug_in, whole.plug_in) == ("none", "whole") for bare, whole in of_one)


def test_a_bar_for_each_row_that_was_run_and_a_word_for_each_that_was_not(
    finish: Write, plan: Plan, table: Table
) -> None:
    finish(BARE)
    finish(WHOLE)
    finish("agem at 100 %")

    svg = draw_bars(Outcome.read(plan, table))

    # Three metrics each.
    assert (len(bars_of(svg, BLUE)), len(bars_of(svg, RED))) == (2 * 3, 1 * 3)
    assert svg.count(">not run</text>") == (8 - 3) * 3


def test_a_run_without_forgetting_is_marked_as_none(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE, forgetfulness=None)

    svg = draw_bars(Outcome.read(plan, table))

    assert svg.count(">none</text>") == 1
    assert len(bars_of(svg, BLUE)) == 2


def test_only_several_seeds_have_whiskers(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE)
    one = draw_bars(Outcome.read(plan, table))
    finish(BARE, seed=1)
    two = draw_bars(Outcome.read(plan, table))

    # Of no length, as both seeds gave the same: two ends for each metric.
    assert two.count("<use") == one.count("<use") + 2 * 3


def test_bars_are_means_and_whiskers_reach_one_standard_deviation(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE, fap=40.0, cap=None, forgetfulness=None)
    finish(BARE, seed=1, fap=50.0, cap=None, forgetfulness=None)
    finish(WHOLE, fap=22.5, cap=None, forgetfulness=None)

    svg = draw_bars(Outcome.read(plan, table))
    [bare], [whole] = bars_of(svg, BLUE), bars_of(svg, RED)
    [(_, whisker)] = sizes(svg, f"fill: none; stroke: {INK}")

    assert whole / bare == pytest.approx(22.5 / 45.0)
    assert whisker / bare == pytest.approx(2 * 50**0.5 / 45.0)


def test_the_page_says_what_has_not_been_run(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE)

    write_figures(plan, table)
    words = words_of((plan.out / "figures.html").read_text())

    assert "Not run yet: 7 of 8 rows. Not with all seeds yet: icarl at 25 % (1 of 2)." in words
    assert "Not run yet: iCaRL with Efficient-CLS." in words
    assert "Not run yet: iCaRL with naive pseudo labels, iCaRL with Efficient-CLS." in words


def test_there_is_a_page_before_anything_has_been_run(plan: Plan, table: Table) -> None:
    files = write_figures(plan, table, ["a class that nobody can know yet"])

    assert not [file for file in files if file.suffix == ".svg"]
    assert "None of it has been run yet." in (plan.out / "figures.html").read_text()


def test_what_is_only_begun_is_not_drawn(finish: Write, plan: Plan, table: Table) -> None:
    finish(WHOLE).directory.report.unlink()

    assert load_example_runs(plan, table) == {}


def test_runs_are_load_example_runs_by_the_first_seed(finish: Write, plan: Plan, table: Table) -> None:
    finish(WHOLE)
    finish(WHOLE, seed=1)
    finish(BARE, seed=1)

    assert {key: run.results.seed for key, run in load_example_runs(plan, table).items()} == {WHOLE: 0}


def test_without_a_choice_rare_middling_and_frequent_classes_are_drawn(finish: Write) -> None:
    run = Run.load(finish(BARE).path)

    assert choose_classes({BARE: run}) == ["mug", "laptop", "<b>& $5 note</b>", "plant", "lamp", "bus"]


def test_the_choice_of_classes_does_not_look_at_what_was_found(finish: Write) -> None:
    upside_down = {name: 90.0 - number for number, name in enumerate(CLASSES[:-1])}
    evaluation = {"step": 7, "ap50": 86.0, "ap50_by_class": upside_down}
    one, other = finish(BARE), finish(WHOLE, evaluations=[evaluation])

    assert choose_classes({BARE: Run.load(one.path)}) == choose_classes({WHOLE: Run.load(other.path)})


def test_few_classes_are_all_drawn(finish: Write) -> None:
    run = Run.load(finish(BARE).path)
    few = replace(run, present={step: tuple(set(there) & {0, 6}) for step, there in run.present.items()})

    assert choose_classes({BARE: few}) == ["mug", "bus"]


def test_classes_are_drawn_as_chosen_once_each(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE)
    finish(WHOLE)

    section = build_over_time_section(load_example_runs(plan, table), ["bus", "mug", "bus", "never tested"])
    titles = re.findall(r">([^<]*: in \d of 8 steps[^<]*)</text>", section.figures[0][1])

    assert titles == ["bus: in 7 of 8 steps", "mug: in 1 of 8 steps", "never tested: in 8 of 8 steps, no test box"]
    assert "Nobody has chosen" not in section.note


def test_a_class_that_does_not_exist_leaves_no_file_and_names_the_nearest(
    finish: Write, plan: Plan, table: Table
) -> None:
    finish(BARE)

    with pytest.raises(UnknownName, match="No class 'laptpo'. Did you mean 'laptop'?"):
        write_figures(plan, table, ["laptpo"])

    assert not list(plan.out.glob("figure*"))


def test_a_line_for_each_run_and_grey_where_the_stream_shows_the_class(finish: Write) -> None:
    def rising(points: float) -> list[dict[str, Any]]:
        return [{"step": step, "ap50": 0, "ap50_by_class": {"bus": points * (step == 7)}} for step in (3, 7)]

    cells = {BARE: finish(BARE, evaluations=rising(20.0)), WHOLE: finish(WHOLE, evaluations=rising(60.0))}

    svg = draw_over_time({key: Run.load(cell.path) for key, cell in cells.items()}, ["bus"])
    [(wide, bare)], [(_, whole)] = (sizes(svg, f"fill: none; stroke: {colour}") for colour in (BLUE, RED))
    [(grey, _)] = sizes(svg, f"fill: {GREY}")

    assert whole / bare == pytest.approx(3)
    # Seven of eight steps; the evaluations are four steps apart.
    assert grey / wide == pytest.approx(7 / 4)


def test_a_run_that_has_not_ended_has_no_line(finish: Write) -> None:
    svg = draw_over_time({BARE: Run.load(finish(BARE).path)}, ["mug"])

    assert RED not in svg
    assert "iCaRL with Efficient-CLS" not in svg


def test_frames_that_both_runs_kept_stand_side_by_side(finish: Write, plan: Plan, table: Table) -> None:
    finish(NAIVE, frames=(4, 8, 12))
    finish(WHOLE, frames=(12, 4, 16))

    frames = pair_pseudo_labels(load_example_runs(plan, table))

    assert [title for title, _, _ in frames] == ["frame 4, step 1", "frame 12, step 3"]
    for _, naive, whole in frames:
        assert (naive.title, whole.title) == ("naive", "Efficient-CLS")
        assert naive.data == whole.data
        assert [box.verdict for box in whole.boxes] == ["true", "true", "right", "wrong"]
    assert frames[0][1].data != frames[1][1].data


def test_runs_without_a_frame_in_common_are_said_to_have_none(finish: Write, plan: Plan, table: Table) -> None:
    finish(NAIVE, frames=(4,))
    finish(WHOLE, frames=(8,))

    text = render_page(plan, table, [], load_example_runs(plan, table))

    assert "kept no frame that both gave pseudo labels to" in text


def test_pseudo_labels_are_counted_over_the_whole_run(finish: Write, plan: Plan, table: Table) -> None:
    finish(NAIVE)

    text = render_page(plan, table, [], load_example_runs(plan, table))

    # Eight steps of 5 labels, 4 of them right, and 8 objects.
    assert re.findall("<td>(.*?)</td>", text) == [WORDS[NAIVE], "32", "8", "32", "80.0 %", "50.0 %"]


def test_the_page_stands_alone_and_the_same_cells_give_the_same_files(finish: Write, plan: Plan, table: Table) -> None:
    for key in (BARE, WHOLE, NAIVE):
        finish(key)

    files = write_figures(plan, table)
    first = [file.read_bytes() for file in files]
    text = (plan.out / "figures.html").read_text()
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    template = (Path(report.__file__).parent / "template.html.j2").read_text()

    numbers = ["figures.md", "figures.csv", "figures-runs.csv", "figures-classes.csv", "figures-over-time.csv"]
    assert [file.name for file in files] == [*numbers, "figures.html", "figure-bars.svg", "figure-over-time.svg"]
    assert [file.read_bytes() for file in write_figures(plan, table)] == first
    assert policy.findall(text) == policy.findall(template)
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert "<script" not in text
    assert "<b>&" not in text
    assert "iCaRL with naive pseudo labels 32 8 32 80.0 % 50.0 %" in words_of(text)


def test_a_drawing_is_sound_xml_by_itself_and_lies_on_white(finish: Write, plan: Plan, table: Table) -> None:
    finish(BARE)

    drawings = [file for file in write_figures(plan, table) if file.suffix == ".svg"]

    for file in drawings:
        root = ElementTree.fromstring(file.read_bytes())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert (root[0].tag.rpartition("}")[2], root[0].get("fill")) == ("rect", "#ffffff")
    assert "&lt;b&gt;&amp; $5 note&lt;/b&gt;" in drawings[1].read_text()


def test_a_name_with_an_angle_bracket_does_not_cut_a_drawing_short() -> None:
    root = ElementTree.fromstring(make_standalone(draw_axes("a > b", 2.0, lambda axes: axes.set(xlabel="x"))))

    assert root.get("aria-label") == "a > b"


@pytest.mark.slow
def test_real_runs_keep_the_same_frames(plan: Plan, table: Table) -> None:
    for key in (NAIVE, WHOLE):
        plan.cells_of(table, table.row(key))[0].run(threads=1)
    runs = load_example_runs(plan, table)

    kept = [[(one.step, one.frame) for one in run.samples if one.kind == "pseudo"] for run in runs.values()]

    assert kept[0] == kept[1]
    assert len(pair_pseudo_labels(runs)) == len(kept[0]) > 0
    assert write_figures(plan, table)[0].stat().st_size > 0
