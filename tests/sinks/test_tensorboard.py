from dataclasses import replace
from pathlib import Path

from leocod.events import Evaluated, Event, RunStarted, Scored, StepLearned
from leocod.files.run_directory import RunDirectory
from leocod.sinks.base import RunInfo, Thinning
from leocod.sinks.tensorboard import TensorBoard, scalars


def curves(folder: Path) -> TensorBoard:
    return TensorBoard(run=RunInfo(RunDirectory(folder)))


def test_the_curves_are_written(events: list[Event], tmp_path: Path) -> None:
    with curves(tmp_path) as sink:
        for event in events:
            sink(event)

    (file,) = (tmp_path / "tensorboard").iterdir()
    assert b"AP50 by class/chair" in file.read_bytes()
    assert b"loss/current/region_class" in file.read_bytes()


def test_ap_is_in_points_and_its_mean_over_classes_with_test_boxes(events: list[Event]) -> None:
    evaluated = next(event for event in events if isinstance(event, Evaluated))

    assert scalars(evaluated) == {"AP50": 37.5, "AP50 by class/mug": 50.0, "AP50 by class/chair": 25.0}


def test_another_definition_of_ap_is_another_curve(events: list[Event]) -> None:
    evaluated = next(event for event in events if isinstance(event, Evaluated))

    assert set(scalars(replace(evaluated, ap_name="VOC AP50"))) == {
        *("VOC AP50", "VOC AP50 by class/mug", "VOC AP50 by class/chair")
    }


def test_a_step_gives_losses_times_memory_and_pseudo_label_quality(events: list[Event]) -> None:
    learned = next(event for event in events if isinstance(event, StepLearned))

    assert scalars(learned) == {
        "loss/current/region_class": 0.5,
        "seconds/stream": 0.25,
        "seconds/train": 0.5,
        "memory/bytes": 1000.0,
        "pseudo labels/precision": 0.75,
        "pseudo labels/recall": 0.5,
        "pseudo labels/precision on labelled frames": 0.5,
    }


def test_known_and_new_classes_have_curves_of_their_own(events: list[Event], tmp_path: Path) -> None:
    learned = next(event for event in events if isinstance(event, StepLearned))

    shown = scalars(learned, {"known": {0}, "new": {1, 2}})

    assert {name: value for name, value in shown.items() if name.endswith("classes")} == {
        "pseudo labels/precision of known classes": 1.0,
        "pseudo labels/recall of known classes": 0.75,
        "pseudo labels/precision of new classes": 0.0,
        "pseudo labels/recall of new classes": 0.0,
    }
    with curves(tmp_path) as sink:
        for event in events:
            sink(event)
    (file,) = (tmp_path / "tensorboard").iterdir()
    assert b"pseudo labels/recall of new classes" in file.read_bytes()


def test_the_metrics_of_a_run_are_a_point_each_and_an_undefined_one_is_none(tmp_path: Path) -> None:
    scored = Scored(9, {"fap": 41.5, "forgetting": None, "own": -3.0})

    assert scalars(scored) == {"scores/fap": 41.5, "scores/own": -3.0}
    with curves(tmp_path) as sink:
        sink(scored)
    (file,) = (tmp_path / "tensorboard").iterdir()
    assert b"scores/own" in file.read_bytes()


class Written:
    """Takes note of what is written."""

    def __init__(self) -> None:
        self.steps: dict[str, list[int]] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.steps.setdefault(name, []).append(step)


def test_a_long_curve_is_thinned_but_not_that_of_the_evaluations(events: list[Event], tmp_path: Path) -> None:
    learned = next(event for event in events if isinstance(event, StepLearned))
    evaluated = next(event for event in events if isinstance(event, Evaluated))
    sink, written = curves(tmp_path), Written()
    sink._writer = written

    sink(RunStarted("a run", ("mug", "chair", "dog"), 3 * Thinning.MOST_POINTS, 0))
    for step in range(8):
        sink(replace(learned, step=step))
        sink(replace(evaluated, step=step))

    assert written.steps["memory/bytes"] == [0, 3, 6]
    assert written.steps["AP50"] == list(range(8))


def test_a_run_that_goes_on_writes_beside_what_is_there(events: list[Event], tmp_path: Path) -> None:
    for _ in range(2):
        with curves(tmp_path) as sink:
            for event in events:
                sink(event)

    files = list((tmp_path / "tensorboard").iterdir())
    assert len(files) == 2
    assert all(b"memory/bytes" in file.read_bytes() for file in files)
