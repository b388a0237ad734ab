from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from leocod.events import Event, RunFinished, RunStarted, StepFinished
from leocod.sinks.checkpoints import Checkpoints, load_checkpoint


class Counter:
    """A learner that only knows how many steps it has seen."""

    def __init__(self) -> None:
        self.steps = 0

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps, "weights": torch.arange(3)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.steps = state["steps"]


def saved_after(folder: Path, steps: int, *, every: int, keep: int) -> list[str]:
    learner: Any = Counter()
    sink = Checkpoints(folder, learner, every=every, keep=keep, config={"seed": 0})
    events: list[Event] = [RunStarted("a run", ("mug",), steps, 0), *map(StepFinished, range(steps))]
    with sink:
        for event in [*events, RunFinished(steps, 1.0)]:
            if isinstance(event, StepFinished):
                learner.steps += 1
            sink(event)
    return sorted(file.name for file in folder.iterdir())


def test_it_saves_every_so_many_steps_and_after_the_last(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 5, every=2, keep=9) == ["step_00001.pt", "step_00003.pt", "step_00004.pt"]


def test_the_last_step_is_saved_once(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 4, every=2, keep=9) == ["step_00001.pt", "step_00003.pt"]


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    assert saved_after(tmp_path, 6, every=1, keep=2) == ["step_00004.pt", "step_00005.pt"]


def test_a_checkpoint_loads_without_running_code_from_it(tmp_path: Path) -> None:
    saved_after(tmp_path, 3, every=3, keep=1)

    state = load_checkpoint(tmp_path / "step_00002.pt")

    assert (state["step"], state["classes"], state["config"]) == (2, ["mug"], {"seed": 0})
    assert state["learner"]["steps"] == 3
    assert torch.equal(state["learner"]["weights"], torch.arange(3))


def test_a_failed_save_leaves_no_half_file(tmp_path: Path) -> None:
    class Broken(Counter):
        def state_dict(self) -> dict[str, Any]:
            return {"unsavable": lambda: None}

    learner: Any = Broken()
    sink = Checkpoints(tmp_path, learner, every=1, keep=1, config={})

    with pytest.raises(Exception, match="pickle"):
        sink(StepFinished(0))

    assert not list(tmp_path.iterdir())
