from __future__ import annotations

import importlib
import os
import signal
import time
from functools import partial

import pytest

from leocod.errors import InvalidData, SourceAway
from leocod.stream.prefetch import EACH_AHEAD, prefetch

WORK = """
import os
import signal
import time
from pathlib import Path
from leocod.errors import InvalidData

def whoami(number):
    return number, os.getpid()

def leave_a_mark(folder, number):
    Path(folder, str(number)).touch()
    return number

def deaf_to(number):
    return signal.pthread_sigmask(signal.SIG_BLOCK, ())

def answers_ctrl_c_with(number):
    return signal.getsignal(signal.SIGINT)

def killed_at_two(folder, number):
    if number == 2:
        # A thread hands over what was made before, and would be killed with it.
        while not Path(folder, "1 has come").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return number

def breaks_at_two(number):
    if number == 2:
        raise InvalidData("Frame 2 is broken.")
    return number
"""


@pytest.fixture
def work(tmp_path_factory, monkeypatch):
    """A module that processes of their own can import."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "work_ahead.py").write_text(WORK, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module("work_ahead")


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_things_come_in_order_whoever_makes_them(workers, work):
    made = list(prefetch(work.whoami, range(3, 9), workers=workers))

    assert [number for number, _ in made] == [3, 4, 5, 6, 7, 8]
    assert ({maker for _, maker in made} == {os.getpid()}) == (workers == 0)


@pytest.mark.slow
def test_the_next_things_are_made_while_one_is_used_but_not_all_of_them(work, tmp_path):
    things = prefetch(partial(work.leave_a_mark, str(tmp_path)), range(100), workers=1)
    next(things)
    for _ in range(6000):
        if len(list(tmp_path.iterdir())) > 1:
            break
        time.sleep(0.05)

    assert 1 < len(list(tmp_path.iterdir())) <= 1 + EACH_AHEAD + 1
    things.close()


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_an_error_comes_in_its_place_and_in_its_own_words(workers, work):
    made = []
    with pytest.raises(InvalidData, match=r"^Frame 2 is broken\.$"):
        made.extend(prefetch(work.breaks_at_two, range(5), workers=workers))

    assert made == [0, 1]


@pytest.mark.slow
def test_ctrl_c_is_for_this_process_to_answer_and_not_for_those_that_work_for_it(work):
    heard = signal.getsignal(signal.SIGCHLD)

    deaf = next(prefetch(work.deaf_to, range(2), workers=1))

    assert signal.SIGINT in deaf
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGCHLD) == heard


@pytest.mark.slow
def test_a_process_that_was_killed_is_told_in_one_line(work, tmp_path):
    made = []

    with pytest.raises(SourceAway, match=r"^A process that prefetches frames has ended \([^\n]+\)\.$"):
        for number in prefetch(partial(work.killed_at_two, str(tmp_path)), range(5), workers=1):
            made.append(number)
            (tmp_path / f"{number} has come").touch()

    assert made == [0, 1]


@pytest.mark.slow
def test_workers_leave_ctrl_c_alone_where_signals_cannot_be_blocked(work, monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask")
    monkeypatch.delattr(signal, "SIGCHLD")
    # Torch asks for the system, not for the signal, when it starts the first workers of a process.
    monkeypatch.setattr("torch.utils.data._utils.signal_handling.IS_WINDOWS", True)

    made = list(prefetch(work.answers_ctrl_c_with, range(2), workers=1))

    assert made == [signal.SIG_IGN, signal.SIG_IGN]
