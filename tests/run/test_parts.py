"""Parts of a run, composed in Python: what a run directory says of them, and what may differ when it is resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidRun
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.evaluator import Evaluator
from leocod.files.run_directory import RunDirectory
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.report.history import read_definitions
from leocod.run.experiment import load_learner
from leocod.run.parts import CheckpointOptions, Parts, RunFacts
from leocod.run.session import resume_run, start_run
from leocod.strategies.incremental import Incremental
from leocod.stream.recorded import Stream


@pytest.fixture
def make(a_detector, a_frame):
    """Two steps of a tiny benchmark."""

    class Small(Benchmark):
        name, classes, steps = "small", ("mug", "book", "car"), 2
        test = (a_frame(100, (0,)), a_frame(101, (1,)))

        def frames_of(self, step):
            return [a_frame(10 * step + number, (number % 3,)) for number in range(3)]

    def build(**options):
        stream = Stream(Small(None), RandomLabeller(RandomOptions(per_step=2), seed=0))
        evaluator = Evaluator(Small.test, Small.classes, every=1)
        facts = RunFacts("small", "incremental", labels_per_step=2)
        return Parts(stream, Incremental(a_detector()), evaluator, facts, **options)

    return build


@pytest.fixture(autouse=True)
def _no_report(monkeypatch):
    monkeypatch.setattr("leocod.run.session.write_report", lambda runs, file: file.write_text("a report"))


def test_its_directory_says_what_it_was_composed_of(make, tmp_path: Path) -> None:
    results = start_run(make(definitions=Definitions(ap="voc")), tmp_path / "run")

    composed = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["composed"]
    assert read_definitions(tmp_path / "run") == Definitions(ap="voc")
    assert composed["stream"] == "leocod.stream.recorded:Stream"
    assert composed["learner"] == "leocod.strategies.incremental:Incremental"
    assert (composed["benchmark"], composed["labels_per_step"]) == ("small", 2)
    assert results is not None
    assert results.benchmark == "small"


def test_a_finished_run_is_not_run_again(make, tmp_path: Path) -> None:
    results = start_run(make(), tmp_path / "run")

    assert resume_run(make(), tmp_path / "run") == results


def test_parts_of_another_run_are_refused_with_what_differs(make, tmp_path: Path) -> None:
    start_run(make(), tmp_path / "run")
    other = make()

    with pytest.raises(InvalidConfig, match="is of another run: strategy, seed differ"):
        resume_run(replace(other, facts=replace(other.facts, strategy="ewc", seed=3)), tmp_path / "run")


def test_when_it_is_saved_may_differ(make, tmp_path: Path) -> None:
    results = start_run(make(checkpoint=CheckpointOptions(every=1)), tmp_path / "run")

    assert resume_run(make(checkpoint=CheckpointOptions(every=7)), tmp_path / "run") == results


def test_its_learner_cannot_be_rebuilt_without_its_parts_and_the_message_says_so(make, tmp_path: Path) -> None:
    start_run(make(), tmp_path / "run")

    with pytest.raises(InvalidRun, match="composed in Python, so no config can rebuild it"):
        load_learner(RunDirectory.open(tmp_path / "run"))
