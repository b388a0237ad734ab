"""`leocod`, and `python -m leocod`."""

import signal


def main() -> None:
    """The command line. Until it is there, Ctrl-C ends the process as it is: no import broken off helps anybody."""
    # Somebody may want it ignored, as nohup does.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from leocod.cli.main import app

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    finally:
        # Whoever asks again while Python clears up gets the end, and no traceback.
        if heeded:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
