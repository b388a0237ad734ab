"""A run that was broken off, wherever, and goes on comes to the same as one that was not: bit for bit."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from pathlib import Path

import pytest
import yaml
from digests import digests

from leocod.benchmarks.wander import Wander
from leocod.detectors.tiny import START, Tiny
from leocod.errors import Diverged, Interrupted, InvalidConfig, InvalidRun, SourceAway, SourceEnded
from leocod.evaluation.evaluator import Evaluator
from leocod.events import Evaluated, RunFinished, StepArrived, StepFinished, StepLearned, StreamEnded
from leocod.files.checkpoint import read_checkpoint, read_newest_checkpoint, write_checkpoint
from leocod.files.run_directory import RunDirectory
from leocod.run.config import load_config, load_run_config
from leocod.run.layers import parse_override
from leocod.run.session import resume_experiment, run_experiment
from leocod.sinks.base import BaseSink
from leocod.strategies.base import STRATEGIES

SMALLEST = (
    "benchmark={name: wander, steps: 3, frames_per_step: 3, width: 40, height: 32, places: 1}",
    "benchmark={instances: 3, classes: 2}",
    "detector={weights: null, short_side: 32, regions: 8, proposals: 12}",
    "efficient_cls={score_threshold: 0.2, watch_steps: 1}",
    "labels.per_step=2",
    "evaluate={every: 2, start: false}",
    "checkpoint.every=1",
    "threads=1",
)
SOON = {"boundary_every": 1, "warp_every": 1, "replay_per_step": 1}
"""Options that say after how many steps something happens, or how much is drawn: in a few steps it should matter."""


class Broken(Exception):
    """Nothing that anybody expects."""


class BreaksOff(BaseSink):
    """Ends the run, as a power cut would, when it is told of some event."""

    def __init__(self, kind, step=None):
        self.kind, self.step = kind, step

    def __call__(self, event):
        if isinstance(event, self.kind) and self.step in (None, getattr(event, "step", None)):
            raise Broken


@pytest.fixture(autouse=True)
def _quick_report(monkeypatch):
    """The report has tests of its own, and takes longer than these runs."""
    monkeypatch.setattr("leocod.run.session.write_report", lambda runs, file: file.write_text("a report"))


def configured(*texts):
    return load_config(None, [parse_override(text) for text in (*SMALLEST, *texts)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the run of a config comes to that nobody disturbs; each is run once."""
    known = {}

    def digests_of(*texts):
        if texts not in known:
            known[texts] = tmp_path_factory.mktemp("whole") / "run"
            run_experiment(configured(*texts), known[texts])
        return digests(known[texts])

    return digests_of


def broken_off(out, config, kind, step=None):
    with pytest.raises(Broken):
        run_experiment(config, out, [BreaksOff(kind, step)])


def saved_steps(run):
    return [int(path.name[5:-3]) for path in sorted((run / "checkpoints").glob("*.pt"))]


def told(run):
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def files(run):
    """Every file with its content and date."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in run.rglob("*") if path.is_file()}


def of_strategy(name):
    fields = STRATEGIES.find(name).Options.model_fields
    return [f"strategy={name}", *(f"strategy.{key}={value}" for key, value in SOON.items() if key in fields)]


@pytest.mark.parametrize("plug_in", [[], ["efficient_cls=null"]], ids=["wrapped", "bare"])
@pytest.mark.parametrize("name", STRATEGIES.names())
def test_every_strategy_goes_on_the_same(name, plug_in, whole, tmp_path):
    texts = (*of_strategy(name), *plug_in)
    # Not sooner: there must be something to draw from the memory on either side of the break.
    broken_off(tmp_path / "run", configured(*texts), StepLearned, 2)
    assert saved_steps(tmp_path / "run") == [0, 1]

    resume_experiment(configured(*texts), tmp_path / "run")

    assert digests(tmp_path / "run") == whole(*texts)


@pytest.mark.parametrize(
    ("kind", "step", "saved"),
    [
        (StepArrived, 0, []),
        (StepFinished, 0, []),
        (StepLearned, 1, [0]),
        (Evaluated, 1, [0]),
        (StepFinished, 2, [0, 1]),
        (StreamEnded, None, [1, 2]),
        (RunFinished, None, [1, 2]),
    ],
)
def test_wherever_it_is_broken_off_it_goes_on_the_same(kind, step, saved, whole, tmp_path):
    broken_off(tmp_path / "run", configured(), kind, step)
    assert saved_steps(tmp_path / "run") == saved

    resume_experiment(configured(), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


OTHERS = {
    "open classes": ["classes=open"],
    "true boxes": ["diagnosis=true_boxes"],
    "packed events": ["sinks=[{name: jsonl, pack_every: 2}]"],
    "pruned detections": ["record.detections=1", "evaluate.every=1"],
    "few test frames": ["evaluate.frames=2"],
    "everything labelled": ["labels.per_step=3"],
    "the joint recipe": ["strategy.recipe=joint"],
    "asked where it is unsure": ["labels={name: uncertain, per_step: null, total: 4}"],
    "asked where two disagree": ["labels={name: disagreement, per_step: 1}"],
    "asked for what is new": ["labels={name: novelty, per_step: null, per_hour: 1800, frames_per_second: 1}"],
    "labels that are late": ["labels.delay=1"],
    "labels that are late and in part": ["labels.delay=2", "labels.boxes=1"],
    "a paused plug-in": ["efficient_cls={score_threshold: 1.0, watch_steps: 1, pause: true}"],
}


@pytest.mark.parametrize("texts", OTHERS.values(), ids=OTHERS)
def test_whatever_it_does_it_goes_on_the_same(texts, whole, tmp_path):
    broken_off(tmp_path / "run", configured(*texts), Evaluated, 1)

    resume_experiment(configured(*texts), tmp_path / "run")

    assert digests(tmp_path / "run") == whole(*texts)


@pytest.mark.slow
def test_with_processes_that_read_ahead_it_goes_on_the_same(whole, tmp_path):
    broken_off(tmp_path / "run", configured(), StepLearned, 1)

    resume_experiment(configured("workers=1"), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


def test_it_can_be_broken_off_again_and_again(whole, tmp_path):
    broken_off(tmp_path / "run", configured(), StepFinished, 1)
    for kind, step in ((StepLearned, 1), (StepLearned, 2), (RunFinished, None)):
        with pytest.raises(Broken):
            resume_experiment(configured(), tmp_path / "run", [BreaksOff(kind, step)])

    resume_experiment(configured(), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()
    assert [one["from_step"] for one in json.loads((tmp_path / "run" / "environment.json").read_text())["resumed"]] == [
        *(1, 1, 2, 3)
    ]


@pytest.mark.parametrize("step", [0, 1])
def test_asked_to_stop_while_it_learns_it_saves_that_step_and_goes_on_the_same(step, whole, tmp_path):
    class Asks(BaseSink):
        def __call__(self, event):
            if isinstance(event, StepArrived) and event.step == step:
                signal.raise_signal(signal.SIGTERM)

    rarely = configured("checkpoint.every=100")

    with pytest.raises(Interrupted, match="SIGTERM"):
        run_experiment(rarely, tmp_path / "run", [Asks()])
    assert saved_steps(tmp_path / "run") == [step]
    resume_experiment(rarely, tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


@pytest.mark.parametrize("texts", [(), ("labels.delay=1",)], ids=["", "labels are under way"])
def test_asked_to_stop_while_it_evaluates_it_leaves_at_once_and_evaluates_again(texts, whole, tmp_path, monkeypatch):
    config, asked = configured(*texts), []

    def evaluate(*_):
        asked.append(signal.raise_signal(signal.SIGINT))
        pytest.fail("it went on")

    with monkeypatch.context() as patched, pytest.raises(Interrupted, match="SIGINT"):
        patched.setattr(Evaluator, "evaluate", evaluate)
        run_experiment(config, tmp_path / "run")
    state = read_checkpoint(tmp_path / "run" / "checkpoints" / "step_00001.pt")
    assert (state["step"], state["finished"]) == (1, False)
    # Saved again when the step is finished, and before the next one has come.
    with pytest.raises(Broken):
        resume_experiment(config, tmp_path / "run", [BreaksOff(StepArrived, 2)])
    resume_experiment(config, tmp_path / "run")

    assert digests(tmp_path / "run") == whole(*texts)


def test_asked_twice_it_ends_without_saving_and_goes_on_the_same(whole, tmp_path):
    class Asks(BaseSink):
        def __call__(self, event):
            if isinstance(event, StepArrived) and event.step == 1:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_experiment(configured(), tmp_path / "run", [Asks()])
    assert saved_steps(tmp_path / "run") == [0]
    resume_experiment(configured(), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


def test_killed_between_checkpoints_by_time_it_goes_on_the_same(whole, tmp_path):
    class Kills(BaseSink):
        def __call__(self, event):
            if isinstance(event, StepArrived) and event.step == 1:
                raise KeyboardInterrupt

    # Every step takes longer than that.
    by_time = configured("checkpoint.every=100", "checkpoint.minutes=1.0e-9")

    with pytest.raises(KeyboardInterrupt):
        run_experiment(by_time, tmp_path / "run", [Kills()])
    assert saved_steps(tmp_path / "run") == [0]
    resume_experiment(by_time, tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


def test_a_source_that_is_away_ends_it_with_a_checkpoint_of_all_that_it_learnt(whole, tmp_path, monkeypatch):
    moment = Wander.frames_of

    def away(self, step):
        if step == 2:
            raise SourceAway("Gone.")
        return moment(self, step)

    with monkeypatch.context() as patched, pytest.raises(SourceAway, match=r"Step 2: Gone\."):
        patched.setattr(Wander, "frames_of", away)
        run_experiment(configured("checkpoint.every=100"), tmp_path / "run")
    assert saved_steps(tmp_path / "run") == [1]
    resume_experiment(configured("checkpoint.every=100"), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


def test_a_source_that_ends_early_ends_it_well(tmp_path, monkeypatch, caplog):
    moment = Wander.frames_of

    def ended(self, step):
        if step == 1:
            raise SourceEnded("No more.")
        return moment(self, step)

    monkeypatch.setattr(Wander, "frames_of", ended)
    results = run_experiment(configured("efficient_cls=null"), tmp_path / "run")

    assert (results.steps, results.warnings) == (1, 1)
    assert [one.step for one in results.evaluations] == [0]
    assert "No more." in caplog.messages
    assert [line["what"] for line in told(tmp_path / "run") if line["event"] == "Warned"] == [
        "The source ended after 1 of 3 steps."
    ]


def test_frames_that_change_their_size_midway_are_learnt(tmp_path, monkeypatch):
    moment = Wander.frames_of
    large = Wander(configured("benchmark.width=64", "benchmark.height=48").benchmark.options, seed=0)
    monkeypatch.setattr(Wander, "frames_of", lambda self, step: moment(large if step == 1 else self, step))

    results = run_experiment(configured("labels.per_step=3"), tmp_path / "run")

    assert (results.steps, results.refused_steps) == (3, 0)
    saved = read_newest_checkpoint(tmp_path / "run" / "checkpoints")[1]["learner"]["strategy"]["memory"]["frames"]
    assert {tuple(frame["pixels"].shape[:2]) for frame in saved} >= {(32, 40), (48, 64)}


def test_when_the_newest_checkpoint_is_damaged_the_one_before_is_used_and_it_is_said(whole, tmp_path, caplog):
    broken_off(tmp_path / "run", configured(), StepLearned, 2)
    newest = tmp_path / "run" / "checkpoints" / "step_00001.pt"
    os.truncate(newest, newest.stat().st_size - 1)

    resume_experiment(configured(), tmp_path / "run")

    assert "step_00001.pt cannot be loaded" in caplog.text
    assert digests(tmp_path / "run") == whole()


def test_a_checkpoint_that_is_whole_but_not_of_this_run_is_told(tmp_path):
    from leocod.files.checkpoint import write_checkpoint

    broken_off(tmp_path / "run", configured(), StepLearned, 1)
    file = tmp_path / "run" / "checkpoints" / "step_00000.pt"
    state = read_checkpoint(file)

    write_checkpoint(file, {**state, "learner": {"strategy": 3}})
    with pytest.raises(InvalidRun, match=r"step_00000.pt cannot be loaded \(KeyError"):
        resume_experiment(configured(), tmp_path / "run")
    write_checkpoint(file, {"step": 0})
    with pytest.raises(InvalidRun, match=r"step_00000.pt is not a checkpoint of a run: it has no config"):
        resume_experiment(configured(), tmp_path / "run")


def test_a_run_that_has_ended_gives_its_results_again_and_changes_no_file(tmp_path):
    results = run_experiment(configured(), tmp_path / "run")
    before = files(tmp_path / "run")

    again = resume_experiment(configured(), tmp_path / "run")

    assert again == results
    assert results.model_dump(mode="json") == json.loads((tmp_path / "run" / "results.json").read_text())
    assert files(tmp_path / "run") == before


def test_a_run_that_has_ended_but_for_its_report_ends_with_one(whole, tmp_path):
    run_experiment(configured(), tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink()

    resume_experiment(configured(), tmp_path / "run")

    assert (tmp_path / "run" / "report.html").exists()
    assert digests(tmp_path / "run") == whole()


def test_a_directory_that_holds_no_run_cannot_go_on(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidRun, match=r"is not a run directory: it has no config\.yaml"):
            resume_experiment(configured(), path)

    assert list(tmp_path.iterdir()) == []


def test_another_config_is_refused_with_every_key_that_differs_and_nothing_changes(tmp_path):
    broken_off(tmp_path / "run", configured(), StepLearned, 1)
    before = files(tmp_path / "run")

    with pytest.raises(InvalidConfig) as caught:
        resume_experiment(configured("seed=1", "labels.per_step=1", "strategy.memory_per_class=9"), tmp_path / "run")

    for key in ("seed was 0 and is 1", "labels.per_step was 2 and is 1", "strategy.memory_per_class was 5 and is 9"):
        assert key in str(caught.value)
    assert "config.yaml" in str(caught.value)
    assert files(tmp_path / "run") == before


def test_a_config_file_that_was_edited_meanwhile_is_refused_by_the_checkpoint(tmp_path):
    broken_off(tmp_path / "run", configured(), StepLearned, 1)
    file = tmp_path / "run" / "config.yaml"
    file.write_text(file.read_text().replace("precision: float32", "precision: bfloat16"))

    with pytest.raises(InvalidConfig, match=r'step_00000\.pt\. precision was "float32" and is "bfloat16"\.'):
        resume_experiment(load_config(file), tmp_path / "run")


def test_what_nothing_depends_on_may_be_another_and_is_noted(whole, tmp_path):
    broken_off(tmp_path / "run", configured(), StepLearned, 2)
    other = configured("checkpoint={every: 2, keep: 5}", "sinks=[{name: jsonl, pack_every: 7}]", "patience=9")

    resume_experiment(other, tmp_path / "run")

    assert digests(tmp_path / "run") == whole()
    assert load_config(tmp_path / "run" / "config.yaml") == other


def test_other_versions_than_before_are_told(tmp_path, caplog):
    broken_off(tmp_path / "run", configured(), StepLearned, 2)
    file = tmp_path / "run" / "environment.json"
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"torch": "1.0"}))

    resume_experiment(configured(), tmp_path / "run")

    assert f"torch was 1.0 and is {about['torch']}" in caplog.text
    assert json.loads(file.read_text())["torch"] == "1.0"


def test_with_the_same_versions_nothing_is_told(tmp_path, caplog):
    broken_off(tmp_path / "run", configured(), StepLearned, 2)

    resume_experiment(configured(), tmp_path / "run")

    assert "Other versions" not in caplog.text


def test_killed_before_anything_but_the_config_was_written_it_begins_again(whole, tmp_path):
    RunDirectory.create(tmp_path / "run")
    (tmp_path / "run" / "config.yaml").write_text(configured().to_yaml())

    resume_experiment(configured(), tmp_path / "run")

    assert digests(tmp_path / "run") == whole()


def read_start(run):
    return json.loads((run / "environment.json").read_text())["start"]


def test_the_start_is_that_of_the_weights_and_not_of_the_strategy(tmp_path):
    for name, texts in {"one": (), "other": ("strategy=incremental",), "drawn_anew": ("seed=1",)}.items():
        broken_off(tmp_path / name, configured(*texts), StepArrived, 0)

    assert read_start(tmp_path / "one") == read_start(tmp_path / "other")
    assert read_start(tmp_path / "one") != read_start(tmp_path / "drawn_anew")


def test_a_resumed_run_keeps_its_start_unless_it_begins_again(tmp_path):
    broken_off(tmp_path / "run", configured(), StepLearned, 2)
    start = read_start(tmp_path / "run")
    resume_experiment(configured(), tmp_path / "run")
    assert read_start(tmp_path / "run") == start

    broken_off(tmp_path / "again", configured(), StepArrived, 0)
    file = tmp_path / "again" / "environment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"start": "of other weights"}))
    resume_experiment(configured(), tmp_path / "again")
    assert read_start(tmp_path / "again") == start


def poisoned(monkeypatch, steps, learnt):
    """Let the loss be no number in some steps; `learnt` is a sink that knows which step it is."""
    loss = Tiny.loss
    monkeypatch.setattr(
        Tiny,
        "loss",
        lambda *given: {
            name: value * float("nan") if learnt.step in steps else value for name, value in loss(*given).items()
        },
    )


class Counts(BaseSink):
    """Knows which step is being learnt."""

    step = -1

    def __call__(self, event):
        if isinstance(event, StepArrived):
            self.step = event.step


def test_a_bad_step_is_counted_told_and_the_run_goes_on(tmp_path, monkeypatch):
    counts = Counts()
    poisoned(monkeypatch, {1}, counts)

    results = run_experiment(configured(), tmp_path / "run", [counts])

    assert results.refused_steps == 1
    learned = [line for line in told(tmp_path / "run") if line["event"] == "StepLearned"]
    assert [line["refused"] is None for line in learned] == [True, False, True]
    assert learned[1]["refused"].startswith("the loss current/")


def test_after_bad_steps_in_a_row_it_stops_with_what_it_saw_and_a_checkpoint(tmp_path, monkeypatch):
    counts = Counts()
    poisoned(monkeypatch, {1, 2}, counts)

    with pytest.raises(Diverged, match=r"in 2 steps in a row, the last being step 2: the loss current/\S+ is nan\."):
        run_experiment(configured("bad_steps=2", "checkpoint.every=100"), tmp_path / "run", [counts])

    _, state = read_newest_checkpoint(tmp_path / "run" / "checkpoints")
    assert (state["step"], state["finished"]) == (2, True)
    assert all(bool(one.isfinite().all()) for one in state["learner"]["strategy"]["detector"]["weights"].values())


def test_bad_steps_in_a_row_are_counted_across_a_break(tmp_path, monkeypatch):
    counts = Counts()
    poisoned(monkeypatch, {0, 1}, counts)
    config = configured("bad_steps=2")
    with pytest.raises(Broken):
        run_experiment(config, tmp_path / "run", [counts, BreaksOff(StepArrived, 1)])

    with pytest.raises(Diverged, match="in 2 steps in a row, the last being step 1"):
        resume_experiment(config, tmp_path / "run", [counts])

    results = resume_experiment(config, tmp_path / "run", [counts])
    assert (results.steps, results.refused_steps) == (3, 2)


def without_a_source_from(monkeypatch, missing):
    moment = Wander.frames_of

    def away(self, step):
        if step >= missing:
            raise SourceAway("Gone.")
        return moment(self, step)

    monkeypatch.setattr(Wander, "frames_of", away)


def test_asked_to_stop_while_the_last_checkpoint_is_saved_it_is_saved_whole(tmp_path, monkeypatch):
    def asked(path, state):
        signal.raise_signal(signal.SIGTERM)
        write_checkpoint(path, state)

    without_a_source_from(monkeypatch, 2)
    monkeypatch.setattr("leocod.run.record.checkpoints.write_checkpoint", asked)

    with pytest.raises(SourceAway, match=r"^Step 2: Gone\.$"):
        run_experiment(configured("checkpoint.every=100"), tmp_path / "run")

    assert read_checkpoint(tmp_path / "run" / "checkpoints" / "step_00001.pt")["step"] == 1


def test_that_the_last_checkpoint_could_not_be_saved_is_told_with_what_ended_the_run(tmp_path, monkeypatch):
    def full(path, state):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    without_a_source_from(monkeypatch, 2)
    monkeypatch.setattr("leocod.run.record.checkpoints.write_checkpoint", full)

    with pytest.raises(SourceAway) as caught:
        run_experiment(configured("checkpoint.every=100"), tmp_path / "run")

    assert str(caught.value).startswith("Step 2: Gone. Not saved: ")
    assert "No space left on device" in str(caught.value)


def test_two_sinks_that_a_checkpoint_could_not_tell_apart_are_refused(tmp_path):
    with pytest.raises(InvalidConfig, match=r"Two sinks have the same class name: .*'Counts', 'Counts'"):
        run_experiment(configured(), tmp_path / "run", [Counts(), Counts()])


def test_gone_on_with_from_inside_its_directory_it_keeps_its_name(tmp_path, monkeypatch):
    broken_off(tmp_path / "run", configured(), StepArrived, 0)
    monkeypatch.chdir(tmp_path / "run")

    resume_experiment(configured(), Path())

    assert told(tmp_path / "run")[0]["name"] == "run"


def test_a_run_that_has_ended_but_for_its_memory_file_ends_with_one(whole, tmp_path):
    run_experiment(configured(), tmp_path / "run")
    file = tmp_path / "run" / "memory.json"
    content = file.read_text()
    file.unlink()

    resume_experiment(configured(), tmp_path / "run")

    assert file.read_text() == content
    assert digests(tmp_path / "run") == whole()


def test_detections_of_steps_that_come_again_do_not_push_out_the_new_ones(tmp_path):
    config = configured("record.detections=1", "evaluate.every=1", "checkpoint.every=100")
    broken_off(tmp_path / "run", config, StepLearned, 2)
    detections = tmp_path / "run" / "detections"
    assert [path.name for path in detections.iterdir()] == ["step_00001.json"]

    with pytest.raises(Broken):
        resume_experiment(config, tmp_path / "run", [BreaksOff(StepFinished, 0)])

    assert [path.name for path in detections.iterdir()] == ["step_00000.json"]


def test_nothing_asks_the_source_again_for_a_step_that_has_passed(tmp_path, monkeypatch):
    asked = []
    frames_of = Wander.frames_of

    def count(self, step):
        asked.append(step)
        return frames_of(self, step)

    monkeypatch.setattr(Wander, "frames_of", count)

    run_experiment(configured("efficient_cls.score_threshold=0.05"), tmp_path / "run")

    samples = json.loads((tmp_path / "run" / "samples" / "samples.json").read_text())
    assert any(sample["kind"] == "pseudo" for sample in samples)
    assert asked == sorted(set(asked))


LEARNT = ("weights", "memory", "learner", "random", "step", "events", "files")


@pytest.mark.parametrize("labels", [{"choice": "drawn"}, {"name": "budget"}], ids=str)
def test_a_run_of_an_earlier_version_is_resumed(labels, whole, tmp_path):
    """The config of a run directory and of its checkpoint are those of before labellers, or sinks, had their names."""
    run, config = tmp_path / "run", configured()
    broken_off(run, config, StepArrived, 2)
    before = yaml.safe_load((run / "config.yaml").read_text())
    before["labels"] = {key: before["labels"][key] for key in ("per_step", "seed", "nested")} | labels
    before.pop("sinks")
    before["record"]["pack_events_every"] = 10_000
    (run / "config.yaml").write_text(yaml.safe_dump(before))
    saved, state = read_newest_checkpoint(run / "checkpoints")
    state["config"] = before
    state["stream"] = {}
    for unknown in ("boxes", "seconds"):
        state["sinks"]["LabelRecord"].pop(unknown)
    write_checkpoint(saved, state)

    results = resume_experiment(load_run_config(run / "config.yaml"), run)

    assert (results.labelled_frames, results.labelled_boxes, results.labelling_seconds) == (6, None, None)
    # The rest is the same; what labels took is among the metrics.
    assert [digests(run)[key] for key in LEARNT] == [whole()[key] for key in LEARNT]


def test_pseudo_labels_are_counted_by_what_the_starting_weights_knew_also_when_those_are_gone(tmp_path):
    weights = tmp_path / START.name
    shutil.copy(START, weights)
    config = configured(f"detector.weights={weights}", "benchmark.classes=6", "benchmark.instances=8")
    whole = run_experiment(config, tmp_path / "whole")

    broken_off(tmp_path / "run", config, StepLearned, 2)
    weights.unlink()
    resumed = resume_experiment(config, tmp_path / "run")

    assert whole.pseudo_label_groups["known"].frames == whole.pseudo_label_counts.frames > 0
    assert len(whole.pseudo_label_periods) == 2
    assert (resumed.pseudo_label_groups, resumed.pseudo_label_periods, resumed.pseudo_label_check) == (
        *(whole.pseudo_label_groups, whole.pseudo_label_periods),
        whole.pseudo_label_check,
    )
    assert told(tmp_path / "run")[0]["known_classes"] == told(tmp_path / "whole")[0]["known_classes"] != []
    assert read_newest_checkpoint(tmp_path / "run" / "checkpoints")[1]["known_classes"]
