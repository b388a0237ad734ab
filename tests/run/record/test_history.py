"""What the recorder has gathered is what metrics are computed from."""

from __future__ import annotations

import numpy as np

from leocod.evaluation.definitions import Definitions
from leocod.events import Evaluated, Event, RunStarted, StepLearned
from leocod.run.record.history import HistoryRecorder


def recorded(events: list[Event]) -> HistoryRecorder:
    recorder = HistoryRecorder(Definitions(), single_pass=True)
    for event in events:
        recorder(event)
    return recorder


def test_the_history_is_that_of_the_events(events: list[Event]) -> None:
    history = recorded(events).history()

    assert (history.classes, history.evaluated_steps) == (("mug", "chair", "dog"), (0, 1))
    np.testing.assert_array_equal(history.table, [[50.0, 25.0, np.nan], [25.0, 75.0, np.nan]])
    # Present are (0, 1), then (1,); labelled are the first of each.
    assert history.in_stream.tolist() == [[True, True, False], [False, True, False]]
    assert history.in_labels.tolist() == [[True, False, False], [False, True, False]]
    assert (history.start, history.prequential, history.lost_steps) == (None, None, ())


def test_the_start_is_apart_from_the_evaluations(events: list[Event]) -> None:
    start = Evaluated(-1, {"mug": 0.5, "chair": 0.25, "dog": None}, 0.1, {})

    history = recorded([events[0], start]).history()

    np.testing.assert_array_equal(history.start, [50.0, 25.0, np.nan])
    assert history.table.shape == (0, 3)


def test_many_classes_keep_their_places() -> None:
    names = tuple(f"class {number}" for number in range(19))
    steps = [StepLearned(step, {}, (), (step, 18), (), None, 0, {}) for step in range(18)]

    history = recorded([RunStarted("a run", names, 18, 0), *steps]).history()

    np.testing.assert_array_equal(history.in_stream, np.eye(18, 19, dtype=bool) | (np.arange(19) == 18))


def test_gone_on_from_a_state_the_history_is_the_same(events: list[Event]) -> None:
    start = Evaluated(-1, {"mug": 0.5, "chair": 0.25, "dog": None}, 0.1, {})
    events = [events[0], start, *events[1:]]
    first, second = recorded(events[:6]), recorded(events[:1])

    second.load_state_dict(first.state_dict())
    for event in events[6:]:
        second(event)

    whole, resumed = recorded(events).history(), second.history()
    np.testing.assert_array_equal(resumed.table, whole.table)
    np.testing.assert_array_equal(resumed.in_stream, whole.in_stream)
    np.testing.assert_array_equal(resumed.in_labels, whole.in_labels)
    assert whole.start is not None
    np.testing.assert_array_equal(resumed.start, whole.start)


def test_before_anything_has_happened_the_history_is_empty() -> None:
    history = recorded([]).history()

    assert (history.table.shape, history.in_stream.shape) == ((0, 0), (0, 0))
