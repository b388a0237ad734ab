"""`leocod`, and `python -m leocod`."""

import os
import signal
import sys
from io import TextIOWrapper

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""How threads of OpenMP wait for each other. Its library reads them once, when torch is imported."""


def main() -> None:
    """The command line. Until it is imported, Ctrl-C ends the process without a traceback."""
    sleep_while_waiting()
    print_what_can_be_printed()
    # Keep the signal ignored where the caller wants it, as nohup does.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from leocod.cli.main import app

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    finally:
        # A second Ctrl-C while Python exits ends the process without a traceback.
        if heeded:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def print_what_can_be_printed() -> None:
    """Print a question mark for each character that the terminal or the file has no code for, as many on Windows."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def sleep_while_waiting() -> None:
    """Let threads that wait for each other sleep, and not spin, unless the user has chosen.

    A step has thousands of places where threads wait for the slowest. On a busy machine the slowest waits for a
    processor, which a spinning thread would hold: bench/busy_machine.py measures it.
    """
    if not any(name in os.environ for name in WAITING):
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"


if __name__ == "__main__":
    main()
