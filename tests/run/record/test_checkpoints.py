from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from leocod.events import Event, RunStarted, StepArrived, StepFinished, StepLearned, StreamEnded
from leocod.files.checkpoint import read_checkpoint
from leocod.run.record.checkpoints import Checkpoints
from leocod.sinks.base import BaseSink


class Counter:
    """A learner that only knows how many steps it has seen."""

    def __init__(self) -> None:
        self.steps = 0
        self.deployed_detector = object()

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps, "weights": torch.arange(3)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.steps = state["steps"]


class Listener(BaseSink):
    """A sink that knows how many events it was told."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, event: Event) -> None:
        self.heard += 1

    def state_dict(self) -> dict[str, Any]:
        return {"heard": self.heard}


def learned(step: int) -> StepLearned:
    return StepLearned(step, {}, (), (), (), None, 0, {})


def a_sink(folder: Path, learner: Any = None, *, every: int = 100, keep: int = 9, **sinks: Any) -> Checkpoints:
    return Checkpoints(folder, learner or Counter(), sinks, every=every, keep=keep, config={"seed": 0})


def saved_after(folder: Path, steps: int, *, every: int, keep: int) -> list[str]:
    learner: Any = Counter()
    with a_sink(folder, learner, every=every, keep=keep) as sink:
        sink(RunStarted("a run", ("mug",), steps, 0))
        for step in range(steps):
            sink(StepArrived(step))
            learner.steps += 1
            sink(learned(step))
            sink(StepFinished(step))
        sink(StreamEnded(steps))
    return sorted(file.name for file in folder.iterdir())


def test_it_saves_every_so_many_steps_and_after_the_last(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 5, every=2, keep=9) == ["step_00001.pt", "step_00003.pt", "step_00004.pt"]


def test_the_last_step_is_saved_once(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 4, every=2, keep=9) == ["step_00001.pt", "step_00003.pt"]


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 6, every=1, keep=2) == ["step_00004.pt", "step_00005.pt"]


def test_it_also_saves_when_the_last_checkpoint_is_minutes_ago(tmp_path: Path) -> None:
    now = [1000.0]
    sink = Checkpoints(tmp_path, Counter(), {}, every=100, minutes=5, keep=9, config={}, clock=lambda: now[0])
    now[0] += 3600
    # What came before the run, such as drawing the world, does not count.
    sink(RunStarted("a run", ("mug",), 9, 0))

    # Two minutes a step.
    for step in range(7):
        sink(StepArrived(step))
        now[0] += 120
        sink(learned(step))
        sink(StepFinished(step))

    assert sorted(file.name for file in tmp_path.iterdir()) == ["step_00002.pt", "step_00005.pt"]


def test_it_holds_the_learner_the_sinks_and_everybodys_generator(tmp_path: Path) -> None:
    learner, listener = Counter(), Listener()
    sink = a_sink(tmp_path, learner, every=1, Listener=listener)
    torch.manual_seed(3)
    events = [RunStarted("a run", ("mug",), 9, 0), StepArrived(2), learned(2), StepFinished(2)]

    for event in events:
        listener(event)
        sink(event)

    state = read_checkpoint(tmp_path / "step_00002.pt")
    assert (state["step"], state["finished"], state["classes"], state["config"]) == (2, True, ["mug"], {"seed": 0})
    assert torch.equal(state["learner"]["weights"], torch.arange(3))
    assert state["sinks"] == {"Listener": {"heard": 4}}
    assert torch.equal(state["torch_random"], torch.get_rng_state())


def test_between_steps_it_saves_what_is_finished_when_asked(tmp_path: Path) -> None:
    sink = a_sink(tmp_path)
    for event in (RunStarted("a run", (), 9, 0), StepArrived(0), learned(0), StepFinished(0)):
        sink(event)

    sink.save()

    assert read_checkpoint(tmp_path / "step_00000.pt")["finished"] is True


def test_a_step_that_is_learnt_but_not_evaluated_is_saved_as_that_and_then_as_finished(tmp_path: Path) -> None:
    sink = a_sink(tmp_path)
    for event in (RunStarted("a run", (), 9, 0), StepArrived(0), learned(0)):
        sink(event)

    sink.save()
    assert read_checkpoint(tmp_path / "step_00000.pt")["finished"] is False
    sink(StepFinished(0))
    sink.save()

    assert read_checkpoint(tmp_path / "step_00000.pt")["finished"] is True


def test_while_a_step_is_being_learnt_nothing_is_saved(tmp_path: Path) -> None:
    sink = a_sink(tmp_path, every=1)
    sink.save()

    for event in (RunStarted("a run", (), 9, 0), StepArrived(0), learned(0), StepFinished(0), StepArrived(1)):
        sink(event)

    sink.save()

    assert [file.name for file in tmp_path.iterdir()] == ["step_00000.pt"]


def test_what_is_saved_already_is_not_written_again(tmp_path: Path) -> None:
    sink = a_sink(tmp_path, every=1)
    for event in (RunStarted("a run", (), 9, 0), StepArrived(0), learned(0), StepFinished(0)):
        sink(event)
    (tmp_path / "step_00000.pt").unlink()

    sink.save()

    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_no_half_file_and_the_older_ones(tmp_path: Path) -> None:
    class Broken(Counter):
        def state_dict(self) -> dict[str, Any]:
            return {"unsavable": lambda: None} if self.steps else super().state_dict()

    learner = Broken()
    sink = a_sink(tmp_path, learner, every=1, keep=1)
    for event in (RunStarted("a run", (), 9, 0), StepArrived(0), learned(0), StepFinished(0), StepArrived(1)):
        sink(event)
    learner.steps = 1
    sink(learned(1))

    with pytest.raises(Exception, match="pickle"):
        sink(StepFinished(1))

    assert [file.name for file in tmp_path.iterdir()] == ["step_00000.pt"]


def test_a_step_that_was_only_evaluated_after_a_resume_keeps_the_state_of_the_stream(tmp_path: Path) -> None:
    before = {"budget": {"spent": 7}}
    sink = Checkpoints(tmp_path, Counter(), {}, every=1, keep=9, config={}, stream_state=before)

    with sink:
        sink(RunStarted("a run", ("mug",), 9, first_step=3))
        sink(StepFinished(2))

    assert torch.load(tmp_path / "step_00002.pt", weights_only=False)["stream"] == before
