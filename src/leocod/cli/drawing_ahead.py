"""Draw the quickstart's test frames in a process of its own, while this one still imports torch."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib.resources import files
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from leocod.cli.options import count_cpus, drop_missing
from leocod.ctrl_c import hold_ctrl_c

if TYPE_CHECKING:
    from leocod.benchmarks.wander import WanderOptions
    from leocod.types import LabelledFrame


def draw_ahead(steps: int | None, seed: int | None) -> None:
    """Begin to draw the test frames of the quickstart, with other steps or another seed where they are given.

    A run that turns out to need other frames draws them itself.
    """
    # Nothing is gained where torch is there already, or where there is no processor to spare.
    if "torch" in sys.modules or count_cpus() < 2:
        return
    import yaml

    from leocod.benchmarks.wander import TEST_FRAMES_KEPT, WanderOptions, drawn_ahead

    # Not by `load_quickstart` of the config: its module imports torch.
    quickstart = yaml.safe_load(files("leocod.run").joinpath("quickstart.yaml").read_text(encoding="utf-8"))
    chosen = {key: value for key, value in quickstart["benchmark"].items() if key != "name"}
    try:
        options = WanderOptions(**chosen | drop_missing(steps=steps))
    except ValueError:
        # The run itself says what is wrong.
        return
    seed = seed or 0
    # The run refuses a negative seed. It holds no more test frames than these at once.
    if seed < 0 or options.steps > TEST_FRAMES_KEPT:
        return
    drawn_ahead[options, seed] = _Drawing(options, seed).wait


class _Drawing:
    """A process that draws the test frames of a world."""

    def __init__(self, options: WanderOptions, seed: int) -> None:
        context = get_context("spawn")
        self._result, end = context.Pipe(duplex=False)
        # As a daemon it ends with this process; if that is killed, when the pipe turns out to be broken.
        self._process = context.Process(target=_draw, args=(end, options, seed), daemon=True)
        # Its imports take a second, in which Ctrl-C would end it with a traceback.
        with hold_ctrl_c():
            self._process.start()
        end.close()

    def wait(self) -> Sequence[LabelledFrame]:
        """The frames, as soon as they are drawn; none if the process has ended without them."""
        try:
            frames: Sequence[LabelledFrame] = self._result.recv()
        except (EOFError, OSError):
            frames = ()
        self._process.join()
        return frames


def _draw(end: Connection, options: WanderOptions, seed: int) -> None:
    # For systems on which a process inherits no blocked signal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from leocod.benchmarks.wander import Wander

    try:
        end.send(list(Wander(options, seed=seed).test))
    except BrokenPipeError:
        # The run has ended, for example by a mistake in its settings.
        return
