from dataclasses import replace
from pathlib import Path

from leocod.events import Evaluated, Event, StepLearned
from leocod.sinks.tensorboard import TensorBoard, scalars


def test_the_curves_are_written(events: list[Event], tmp_path: Path) -> None:
    with TensorBoard(tmp_path / "tensorboard") as sink:
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
    }
