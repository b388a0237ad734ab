import pytest

from leocod.events import Event, StepFinished
from leocod.sinks.base import BaseSink, Sink


class Listener(BaseSink):
    def __init__(self) -> None:
        self.heard: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.heard.append(event)


def test_a_resting_sink_needs_only_to_listen() -> None:
    listener = Listener()
    sink: Sink = listener

    with sink as reader:
        reader(StepFinished(3))

    assert listener.heard == [StepFinished(3)]


def test_a_resting_sink_hides_no_error() -> None:
    with pytest.raises(RuntimeError), Listener():
        raise RuntimeError


def test_a_resting_sink_has_nothing_to_keep_and_goes_on_from_anything() -> None:
    listener = Listener()

    listener.load_state_dict({"something": 1})

    assert listener.state_dict() == {}
