"""`leocod`, and `python -m leocod`."""

import signal


def main() -> None:
    """The command line. Until it is imported, Ctrl-C ends the process without a traceback."""
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


if __name__ == "__main__":
    main()
