import pytest

from leocod.events import Event, RunStarted, StepFinished, StepLearned
from leocod.sinks.base import BaseSink, Sink, Thinning


class Listener(BaseSink):
    def __init__(self) -> None:
        self.heard: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.heard.append(event)


def test_a_base_sink_needs_only_to_listen() -> None:
    listener = Listener()
    sink: Sink = listener

    with sink as reader:
        reader(StepFinished(3))

    assert listener.heard == [StepFinished(3)]


def test_a_base_sink_hides_no_error() -> None:
    with pytest.raises(RuntimeError), Listener():
        raise RuntimeError


def test_a_base_sink_has_nothing_to_keep_and_goes_on_from_anything() -> None:
    listener = Listener()

    listener.load_state_dict({"something": 1})

    assert listener.state_dict() == {}


def test_a_long_stream_is_thinned_evenly_and_one_of_unknown_length_ever_more() -> None:
    known, unknown = Thinning(), Thinning()
    known.keeps(RunStarted("run", (), 3 * Thinning.MOST_POINTS, 0))
    unknown.keeps(RunStarted("run", (), None, 0))

    def learned(step: int) -> StepLearned:
        return StepLearned(step, {}, (), (), (), None, 0, {})

    assert [step for step in range(10) if known.keeps(learned(step))] == [0, 3, 6, 9]
    assert all(unknown.keeps(learned(step)) for step in range(Thinning.MOST_POINTS))
    kept = [step for step in range(100 * Thinning.MOST_POINTS) if unknown.keeps(learned(step))]
    assert len(kept) < 8 * Thinning.MOST_POINTS
