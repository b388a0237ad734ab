import signal
import threading

import pytest

from leocod.errors import Interrupted
from leocod.run.interruption import SIGNALS, Interruption


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize("between_steps", [True, False])
def test_while_the_learner_learns_a_signal_waits_until_it_rests(number: signal.Signals, between_steps: bool) -> None:
    with Interruption() as interruption:
        signal.raise_signal(number)

        with pytest.raises(Interrupted, match=rf"^Asked to stop by {number.name}\.$") as caught:
            interruption.rest(between_steps=between_steps)

    assert caught.value.signal == number


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_while_the_learner_rests_a_signal_breaks_off_at_once(number: signal.Signals) -> None:
    with Interruption() as interruption:
        interruption.rest(between_steps=True)

        with pytest.raises(Interrupted, match=number.name):
            signal.raise_signal(number)

        assert not interruption.at_rest, "what is saved now must not be broken off"


def test_once_it_learns_again_a_signal_waits_again() -> None:
    with Interruption() as interruption:
        interruption.rest(between_steps=True)
        interruption.at_rest = False

        signal.raise_signal(signal.SIGTERM)

        assert interruption.asked == signal.SIGTERM


@pytest.mark.parametrize("at_rest", [True, False])
def test_whoever_asks_twice_is_heard_at_once(at_rest: bool) -> None:
    with Interruption() as interruption:
        if at_rest:
            interruption.rest(between_steps=True)
            with pytest.raises(Interrupted):
                signal.raise_signal(signal.SIGTERM)
        else:
            signal.raise_signal(signal.SIGTERM)

        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("between_steps", [True, False])
def test_of_several_processes_all_stop_between_two_steps(between_steps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leocod.training.distributed.size", lambda: 2)
    monkeypatch.setattr("leocod.training.distributed.any_of", lambda own: own or signal.SIGTERM)

    with Interruption() as interruption:
        if between_steps:
            with pytest.raises(Interrupted, match="SIGTERM"):
                interruption.rest(between_steps=True)
        else:
            interruption.rest(between_steps=False)
            signal.raise_signal(signal.SIGINT)
            assert interruption.asked == signal.SIGINT


def test_afterwards_signals_do_what_they_did_before() -> None:
    before = [signal.getsignal(one) for one in SIGNALS]

    with pytest.raises(RuntimeError), Interruption():
        assert [signal.getsignal(one) for one in SIGNALS] != before
        raise RuntimeError

    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_in_another_thread_nobody_asks() -> None:
    before = [signal.getsignal(one) for one in SIGNALS]
    met: list[object] = []

    def work() -> None:
        with Interruption() as interruption:
            interruption.rest(between_steps=True)
            met.extend(signal.getsignal(one) for one in SIGNALS)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert met == before


def test_a_signal_that_comes_while_one_asks_whether_one_came_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(own: signal.Signals | None) -> signal.Signals | None:
        signal.raise_signal(signal.SIGTERM)
        return own

    monkeypatch.setattr("leocod.training.distributed.any_of", late)

    with Interruption() as interruption, pytest.raises(Interrupted, match="SIGTERM"):
        interruption.rest(between_steps=True)
