"""What can go wrong, in the user's words.

LeocodError               every error that is not our own mistake; the command line shows it as one line
├── InvalidConfig         a config file or an override that cannot be followed
│   └── UnknownName       a strategy, detector, benchmark or key that does not exist; names the nearest
├── InvalidData           a file or a value in it that cannot be used
│   ├── InvalidFrame      pixels that are not what the frame says
│   │   └── MissingFrame  a file that is not there, or has nothing in it
│   └── InvalidLabels     boxes or classes that cannot be
├── RunExists             the output directory already holds another run
│   └── RunInUse          and that one is running
├── InvalidRun            a run directory that cannot be read or written
├── SourceAway            frames that cannot be had at the moment
├── SourceEnded           no more frames, though more were expected
├── Diverged              a learner whose numbers are not finite any more
└── Disagreement          processes that learn as one, and have not the same
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 40
"""Known names that a message lists."""


class LeocodError(Exception):
    """An error that names the thing and the cure."""


class InvalidConfig(LeocodError):
    """A config file or an override that cannot be followed."""


class UnknownName(InvalidConfig):
    """A name that does not exist, with the nearest one that does."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1, cutoff=0.4)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        super().__init__(f"No {kind} '{name}'.{guess} Known: {', '.join(names[:SHOWN])}{more}.")


class InvalidData(LeocodError):
    """A file, or a value in it, that cannot be used."""


class InvalidFrame(InvalidData):
    """Pixels that are not what the frame says."""


class MissingFrame(InvalidFrame):
    """A file that is not there, or has nothing in it."""


class InvalidLabels(InvalidData):
    """Boxes or classes that cannot be."""


class RunExists(LeocodError):
    """The output directory already holds another run."""


class RunInUse(RunExists):
    """The output directory belongs to another process while that runs."""


class InvalidRun(LeocodError):
    """A run directory that cannot be read or written."""


class SourceAway(LeocodError):
    """Frames that cannot be had at the moment: a camera that is unplugged, a network folder that is gone."""


class SourceEnded(LeocodError):
    """No more frames, though more were expected."""


class Diverged(LeocodError):
    """A learner whose numbers are not finite any more."""


class Interrupted(BaseException):
    """Somebody asked the run to stop, by a signal.

    Not an error, and beside the others as KeyboardInterrupt is: it may come anywhere, and nobody on the way up who
    catches what a damaged file can raise may take it for that.
    """

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal


class Disagreement(LeocodError):
    """Processes that learn as one, and have not the same."""
