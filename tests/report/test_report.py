"""The page says what the run directory holds, and stands alone."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from leocod.errors import InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import find_metrics
from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepLearned
from leocod.report.reading import Run
from leocod.report.report import write_report
from leocod.report.tables import list_class_rows
from leocod.run.record.results import ResultsFile

MakeRun = Callable[..., Path]

ABOUT = (
    *("benchmark", "detector", "strategy", "efficient_cls", "ema", "pseudo_labels", "labels_per_step", "seed"),
    *("labels_nested", "diagnosis"),
)


def page_of(out: Path, *runs: Path) -> str:
    return write_report(runs, out / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(whole_run: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page about a complete run, drawn once."""
    return page_of(tmp_path_factory.mktemp("page"), whole_run)


def words_of(page: str) -> str:
    """What a person reads: no tags, no style, single spaces."""
    bare = re.sub(r"<style.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())


def events_of(run: Run) -> Iterator[Event]:
    """What a stored run was told as when it was running."""
    yield RunStarted(run.name, run.classes, run.results.steps, first_step=0)
    ap = {one.step: one.ap_by_class for one in run.results.evaluations}
    for step, present in run.present.items():
        yield StepLearned(step, {}, (), present, run.labelled[step], audit=None, memory_bytes=0, seconds={})
        if step in ap:
            in_units = {name: None if value is None else value / 100 for name, value in ap[step].items()}
            yield Evaluated(step, in_units, 0.1, {})
    yield RunFinished(run.results.steps, 1.0)


def test_headline_figures_are_those_of_the_results(page: str) -> None:
    words = words_of(page)

    for expected in (
        "41.2 FAP: mean AP50 at the end",
        "33.5 CAP: mean AP50 over all evaluations",
        "−6.8 F: forgetfulness",
        "120 frames labelled by a person, with 345 boxes",
        "46 min 15 s of a person's time for the labels",
        "12 min 34 s",
        "1.2 MB of frames kept",
        "812.3 MB of RAM at most, in the process of the run",
        "Strategy icarl with Efficient-CLS, detector tiny, on wander: 60 steps, 2 labelled frames in each, seed 0.",
    ):
        assert expected in words


def test_what_labels_took_a_person_is_left_out_where_nobody_said_it(a_run: MakeRun, tmp_path: Path) -> None:
    words = words_of(page_of(tmp_path, a_run(labelled_boxes=None, labelling_seconds=None)))

    assert "120 frames labelled by a person " in words
    assert "a person's time" not in words


def test_a_run_whose_ram_nobody_measured_says_so(a_run: MakeRun, tmp_path: Path) -> None:
    words = words_of(page_of(tmp_path, a_run(peak_ram_bytes=None)))

    assert "– RAM was not measured" in words


def test_every_part_of_the_page_is_there(page: str) -> None:
    for title in (
        "AP50 over time",
        "Each class over time",
        "Each class at the end",
        "What is wrong with the detections at the end",
        "What is left of a class that has been away",
        "How right the pseudo labels were",
        "Where the time went",
        "What the replay memory held at the end",
        "What is found in test frames at the end",
        "Pseudo labels on training frames",
        "Frames in the replay memory at the end",
        "Numbers by class",
        "How it was run",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count('<svg class="wide" role="img"') == page.count('<svg class="narrow" role="img"') == 6
    assert page.count("data:image/png;base64,") >= 7
    assert 'class="missing"' not in page


def test_class_values_appear_in_the_bars(page: str, whole_run: Path) -> None:
    last = json.loads((whole_run / "results.json").read_text())["evaluations"][-1]["ap_by_class"]

    for value in (value for value in last.values() if value is not None):
        assert f">{value:.1f}</text>" in page
    assert "Left out, having no test box: never tested." in page


def test_names_cannot_become_markup(a_run: MakeRun, tmp_path: Path) -> None:
    page = page_of(tmp_path, a_run("<b>bold & brave<"))

    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<b>bold &" not in page
    assert "<h1>&lt;b&gt;bold &amp; brave&lt;</h1>" in page
    assert "$5 &amp; $10 note" in page


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page) + re.findall(r"url\(([^)]*)\)", page)
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in addresses)
    assert "@import" not in page
    assert "<link" not in page


class Nesting(HTMLParser):
    """Fails at an end tag that does not close the tag opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in {"meta", "br"}:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


def test_tags_are_balanced_and_ids_are_unique(page: str, a_run: MakeRun, tmp_path: Path) -> None:
    two = page_of(tmp_path, a_run("first"), a_run("second", pseudo=False, memory=False))

    for text in (page, two):
        nesting = Nesting()
        nesting.feed(text)
        assert nesting.opened == []
        # Figures refer to their parts by id, so two figures on a page must not share one.
        ids = re.findall(r'\bid="([^"]*)"', text)
        assert len(ids) == len(set(ids)) > 0
        assert set(re.findall(r'(?:href="|url\()#([^")]*)', text)) <= set(ids)


def test_a_diagnosis_is_announced(page: str, a_run: MakeRun, tmp_path: Path) -> None:
    runs = (
        a_run("plain"),
        a_run("peeking", diagnosis="true boxes as pseudo labels"),
        a_run("other", diagnosis="something_new"),
    )

    words = words_of(page_of(tmp_path, *runs))

    assert "peeking: Diagnosis: true boxes as pseudo labels. Not a result of the method." in words
    assert "other: Diagnosis: something_new. Not a result of the method." in words
    assert "plain: Diagnosis" not in words
    assert "Diagnosis" not in page


def test_two_runs_stand_side_by_side(a_run: MakeRun, tmp_path: Path) -> None:
    bare = a_run("bare", pseudo=False, level=45.0, scores={"fap": 30.14, "cap": 25.2, "forgetting": 9.9})
    plugged = a_run("plugged")

    page = page_of(tmp_path, bare, plugged)
    words = words_of(page)

    assert "2 runs side by side" in words
    assert "120 345 46 min 15 s 1.2 MB 812.3 MB 12 min 34 s" in words
    compared = "plugged (with Efficient-CLS) against bare (without Efficient-CLS)"
    assert f"{compared} better by 11.1, one seed: no interval" in words
    assert "30.1 25.2 9.9" in words
    assert "41.2 33.5 −6.8" in words
    # Six figures, and the heat map twice.
    assert page.count('<svg class="wide" role="img"') == 7
    assert "plugged: precision" in words
    assert "bare: precision" not in words
    assert "do not compare directly" not in words


@pytest.fixture(scope="module")
def page_of_seeds(runs_of_two_kinds: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page about two kinds, of three seeds each, drawn once."""
    return page_of(tmp_path_factory.mktemp("page"), *runs_of_two_kinds)


def test_runs_that_differ_only_in_the_seed_are_one_row_with_mean_and_spread(page_of_seeds: str) -> None:
    words = words_of(page_of_seeds)

    assert "6 runs of 2 kinds side by side" in words
    assert "2 labelled frames in each, seeds 0, 1, 2. 3 32.0 ± 2.0 120 345 46 min 15 s 1.2 MB 1.2 GB" in words
    assert "mean ± standard deviation over seeds" in words
    assert "Every run Run Seed FAP ↑ RAM at most Time bare-seed0 0 30.0 1.0 GB" in words
    # Six figures, and the heat map of each kind.
    assert page_of_seeds.count('<svg class="wide" role="img"') == 7


def test_differences_between_kinds_are_said_in_words(page_of_seeds: str) -> None:
    words = words_of(page_of_seeds)

    compared = re.escape("plugged (with Efficient-CLS) against bare (without Efficient-CLS)")
    assert re.search(rf"Compared FAP {compared} (undecided: )?better by 3\.0 \(\S+ to \S+\), 3 seeds", words)


def test_seeds_of_one_kind_have_a_page_of_their_own(a_run: MakeRun, tmp_path: Path) -> None:
    page = page_of(tmp_path, *(a_run(f"icarl-seed{seed}", seed=seed) for seed in range(2)))

    words = words_of(page)
    assert "<h1>icarl: 2 seeds</h1>" in page
    assert "Which is better" not in words
    assert "Line and band: mean and standard deviation over the seeds of a kind." in words


def test_of_many_runs_the_tables_have_all_and_the_figures_the_first(
    a_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leocod.report.sections.MOST_DRAWN", 2)
    monkeypatch.setattr("leocod.report.report.MOST_DRAWN", 2)
    runs = [a_run(f"run{number}", strategy=f"strategy{number}") for number in range(6)]

    page = page_of(tmp_path, *runs)

    words = words_of(page)
    assert (
        "Figures and sample frames show the first 2 of 6 rows, in the order of the command; tables have all." in words
    )
    assert "All are compared with the first, run0: name another run first to compare with that one." in words
    assert all(f"run{number} (strategy{number}) against run0 (strategy0)" in words for number in range(1, 6))
    assert "AP50 by class over time, run1" in page
    assert "AP50 by class over time, run2" not in page
    assert page.count("<h3>run") == 2 + 3 * 2


def test_a_metric_that_only_one_run_has_is_a_column_with_a_dash(a_run: MakeRun, tmp_path: Path) -> None:
    own = {"label": "Worst", "title": "the <worst> class", "direction": "lower", "unit": "steps"}
    runs = a_run("one"), a_run("two", scores={"fap": 12.0, "worst": 7.0}, metrics={"worst": own})

    page = page_of(tmp_path, *runs)

    words = words_of(page)
    assert "Worst ↓ steps" in words
    assert "Worst: the <worst> class." in words
    assert "41.2 33.5 −6.8 –" in words
    assert "12.0 – – 7.0" in words


def test_a_metric_that_runs_define_differently_has_both_titles(a_run: MakeRun, tmp_path: Path) -> None:
    words = words_of(page_of(tmp_path, a_run("one"), a_run("two", definitions={"ap": "voc"})))

    assert "FAP: mean AP50 at the end / mean VOC AP50 at the end." in words


def test_errors_are_counted_in_all_and_by_class(page: str) -> None:
    words = words_of(page)

    # A mug is found, and taken for something else besides; a laptop is missed.
    assert "Run objects right missed wrong class badly placed duplicate background" in words
    assert "icarl-efficient_cls-2of16-seed0 2 1 1 1 0 0 0" in words
    assert "mug 1 1 0 0 0 0 0 laptop 1 0 1 0 0 0 0 <script>alert(1)</script> 0 0 0 1 0 0 0" in words


def test_a_run_of_the_first_form_has_the_page_that_it_would_have_now(a_run: MakeRun, page: str, tmp_path: Path) -> None:
    """As commit a9415f2 wrote results.json."""
    run = a_run("icarl-efficient_cls-2of16-seed0")
    results = json.loads((run / "results.json").read_text())
    scores = results.pop("scores")
    results |= {"fap": scores["fap"], "cap": scores["cap"], "forgetfulness": scores["forgetting"], "metrics": {}}
    for evaluation in results["evaluations"]:
        evaluation |= {"ap50": evaluation.pop("ap"), "ap50_by_class": evaluation.pop("ap_by_class")}
    (run / "results.json").write_text(json.dumps(results))

    assert page_of(tmp_path, run) == page


def test_runs_on_different_benchmarks_come_with_a_warning(a_run: MakeRun, tmp_path: Path) -> None:
    words = words_of(page_of(tmp_path, a_run("one"), a_run("two", benchmark="oak")))

    assert "These do not compare directly with one: two (benchmark oak, not wander)." in words
    assert "No two of these can be compared: two against one: benchmark oak, not wander." in words


def test_runs_by_different_metrics_come_with_a_warning(a_run: MakeRun, tmp_path: Path) -> None:
    words = words_of(page_of(tmp_path, a_run("one"), a_run("two", definitions={"forgetting_weights": "oak"})))

    assert "These do not compare directly with one: two (other metrics)." in words
    assert words.count("Measured: AP50, forgetfulness (OAK weights).") == words.count("Measured") == 1


def test_another_metric_is_named_beside_every_figure(page: str, a_run: MakeRun, tmp_path: Path) -> None:
    choices = {"ap": "voc", "forgetting_bins": 4, "forgetting_weights": "oak", "presence": "labelled"}

    words = words_of(page_of(tmp_path, a_run(definitions=choices)))

    # Wherever the usual page says AP50, and nowhere without saying which.
    usual = words_of(page)
    assert "VOC" not in usual
    assert words.count("VOC AP50") == words.count("AP50") == usual.count("AP50") + 1
    assert "−6.8 F: forgetfulness (4 bins, OAK weights, labelled presence), points" in words
    assert "steps since the class was last in a label" in words


def test_nested_labels_are_named(a_run: MakeRun, tmp_path: Path) -> None:
    assert "2 labelled frames in each (nested), seed 0." in words_of(page_of(tmp_path, a_run(labels_nested=True)))


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"forgetting_bins": 3},
        {"forgetting_weights": "oak"},
        {"presence": "labelled"},
        {"forgetting_bins": 2, "forgetting_weights": "oak", "presence": "labelled"},
    ],
)
def test_forgetfulness_by_class_has_that_of_the_results_for_its_mean(choices: dict[str, Any], a_run: MakeRun) -> None:
    path, labels, definitions = a_run(), SimpleNamespace(count=0, boxes=None, seconds=None), Definitions(**choices)
    stored, metrics = Run.load(path), find_metrics(["forgetting"])
    about = {key: getattr(stored.results, key) for key in ABOUT}
    sink = ResultsFile(path / "results.json", about, labels, definitions, metrics, single_pass=True)
    for event in events_of(stored):
        sink(event)

    run = Run.load(path)

    assert run.results.definitions == definitions
    assert run.results.scores["forgetting"] == pytest.approx(
        np.nanmean([row["forgetting"] for row in list_class_rows(run)]), rel=1e-12
    )


def test_what_a_run_does_not_have_is_said_in_a_sentence(a_run: MakeRun, tmp_path: Path) -> None:
    scores = {"fap": 41.23, "forgetting": None}
    run = a_run(pseudo=False, memory=False, scores=scores, seconds_by_part={})
    (run / "environment.json").unlink()
    (run / "detections" / "step_00059.json").unlink()
    for file in (run / "samples").iterdir():
        file.unlink()

    words = words_of(page_of(tmp_path, run))

    assert "without Efficient-CLS" in words
    assert "No pseudo labels were given." in words
    assert "no replay memory was kept." in words
    assert "No forgetfulness" in words
    assert "CAP" not in words
    assert "The detections of the last evaluation were not kept." in words
    assert "– F: forgetfulness" in words
    assert "The run did not record it." in words
    assert "The command was not recorded." in words
    assert "Pseudo labels on training frames" not in words


def test_a_memory_that_holds_nothing_is_no_memory(a_run: MakeRun, tmp_path: Path) -> None:
    run = a_run()
    (run / "memory.json").write_text('{"bytes": 0, "frames": 0, "by_class": {}}')

    assert "no replay memory was kept." in words_of(page_of(tmp_path, run))


def test_a_run_that_keeps_the_whole_stream_says_so(a_run: MakeRun, tmp_path: Path) -> None:
    run = a_run()
    (run / "memory.json").write_text('{"bytes": 2500000, "frames": 0, "by_class": {}}')

    words = words_of(page_of(tmp_path, run))

    assert "no replay memory, but every labelled frame of the stream, 2.5 MB." in words


def test_a_run_without_evaluations_or_presence_still_has_a_page(a_run: MakeRun, tmp_path: Path) -> None:
    run = a_run(evaluations=[], scores={"fap": None, "forgetting": None}, labels_per_step=None)
    first = (run / "events.jsonl").read_text().splitlines()[0]
    (run / "events.jsonl").write_text(first)

    words = words_of(page_of(tmp_path, run))

    assert "There was no evaluation." in words
    assert "on wander: 60 steps, seed 0." in words


def test_command_and_configuration_close_the_page(page: str) -> None:
    words = words_of(page)

    assert "leocod run 'my config.yaml'" in words
    assert "strategy: name: icarl" in words
    assert "numpy: 2.4.6" in words


def test_the_same_run_gives_the_same_page(page: str, whole_run: Path, tmp_path: Path) -> None:
    assert page_of(tmp_path, whole_run) == page


def test_only_the_page_is_left_in_its_directory(a_run: MakeRun, tmp_path: Path) -> None:
    out = tmp_path / "new" / "place" / "page.html"

    assert write_report([a_run()], out) == out
    assert list(out.parent.iterdir()) == [out]


def test_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidRun, match="No run given"):
        write_report([], tmp_path / "report.html")


def test_reports_do_without_torch() -> None:
    command = "import sys, leocod.report.report; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", command], env=environment, check=False).returncode == 0


def test_what_looked_wrong_on_the_way_is_listed_and_what_is_too_much_is_counted(
    whole_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole_run, run)
    lines = (run / "events.jsonl").read_text().splitlines()
    told = json.loads(lines[3]) | {"refused": "the loss current/classes is nan"}
    warned = [{"event": "Warned", "step": step, "what": f"The <source> was away {step}."} for step in range(12)]
    lines[3] = json.dumps(told)
    lines[4:4] = map(json.dumps, warned)
    (run / "events.jsonl").write_text("\n".join(lines) + "\n")

    words = words_of(page_of(tmp_path, run))

    assert "What looked wrong" not in words_of(page_of(tmp_path, whole_run))
    assert f"Step {told['step'] + 1}: not learnt, the loss current/classes is nan." in words
    assert "Step 2: The <source> was away 1." in words
    assert "and 3 more, in the events of the run" in words


def without_truth(run: Path) -> Path:
    """As on one's own video: nobody has labelled the frames that get pseudo labels."""
    events = run / "events.jsonl"
    before = re.compile(r'"frames": 14, "labels": 15, "right": \d+, "objects": 28')
    events.write_text(before.sub('"frames": 0, "labels": 0, "right": 0, "objects": 0', events.read_text()))
    samples = run / "samples" / "samples.json"
    unknown = [one | ({"truth": None} if one["kind"] == "pseudo" else {}) for one in json.loads(samples.read_text())]
    samples.write_text(json.dumps(unknown))
    return run


def test_a_run_without_hidden_truth_does_not_speak_of_it(a_run: MakeRun, tmp_path: Path) -> None:
    page = page_of(tmp_path, without_truth(a_run(labelled_frames=39)))

    words = words_of(page)
    assert "hidden truth" not in words
    assert "Nobody has labelled the frames that got pseudo labels, so nothing tells how right these are." in words
    assert "Precision and recall of the pseudo labels" not in page
    assert "nobody has labelled the frame, so nobody knows whether it is right" in words
    assert "60 steps, 39 labelled frames in all, seed 0." in words


def test_what_the_run_could_tell_by_itself_is_shown_also_without_hidden_truth(a_run: MakeRun, tmp_path: Path) -> None:
    page = page_of(tmp_path, without_truth(a_run(pseudo_label_check={"labels": 8, "right": 6})))

    words = words_of(page)
    assert "all, on labelled frames – 8 6 – 75.0 % –" in words
    assert "hidden truth" not in words


def test_a_run_without_truth_beside_one_with_it_draws_that_one_only(a_run: MakeRun, tmp_path: Path) -> None:
    page = page_of(tmp_path, without_truth(a_run("own")), a_run("whole"))

    assert " whole: precision" in page
    assert " own: precision" not in page


def test_no_empty_figure_is_drawn_where_nothing_is_tested(a_run: MakeRun, tmp_path: Path) -> None:
    run = a_run()
    content = json.loads((run / "results.json").read_text())
    for evaluation in content["evaluations"]:
        evaluation |= {"ap": None, "ap_by_class": dict.fromkeys(evaluation["ap_by_class"])}
    (run / "results.json").write_text(json.dumps(content))

    page = page_of(tmp_path, run)

    assert words_of(page).count("No class has a test box.") == 3
    assert 'aria-label="AP50 over time"' not in page
