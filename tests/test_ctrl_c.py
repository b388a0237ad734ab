import signal
import subprocess
import sys

import pytest

from leocod.ctrl_c import hold_ctrl_c

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"

here_only = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked on Windows")


def blocked_in_a_new_process() -> bool:
    answer = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True).stdout
    return answer.strip() == "True"


@here_only
def test_a_process_that_is_started_meanwhile_never_gets_ctrl_c():
    with hold_ctrl_c():
        assert blocked_in_a_new_process()

    assert not blocked_in_a_new_process()


@here_only
def test_this_process_gets_ctrl_c_at_the_end():
    passed = []
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), hold_ctrl_c():
            signal.raise_signal(signal.SIGINT)
            passed.append("held")
    finally:
        signal.signal(signal.SIGINT, heeded)

    assert passed == ["held"]


def test_nothing_is_held_where_signals_cannot_be_blocked(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)

    with hold_ctrl_c():
        pass
