"""`leocod live`: learn from a camera while a person labels a little of it in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from leocod.cli.options import Device, Override, PlugIn, drop_missing
from leocod.cli.terminal import announce_start, say
from leocod.errors import InvalidConfig


def live(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A video file, a folder, a camera (0, /dev/video0), an address (rtsp://, http://); by default the "
            "built-in world.",
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory; one that is there already goes on.")
    ] = None,
    labels_per_step: Annotated[
        int | None, typer.Option(metavar="K", help="Frames of each 16 that are asked for; 1 by default.")
    ] = None,
    labeller: Annotated[str | None, typer.Option(help="Who chooses these frames; see `leocod list`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The network; see `leocod list`.")] = None,
    plugin: PlugIn = None,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Classes to begin with; others are added when they are named.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="N", help="Frames a second; by default the source's own.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: any that is free.")] = 8008,
    host: Annotated[
        str, typer.Option(help="Address of the page. Any but this machine's own needs the token that is printed.")
    ] = "127.0.0.1",
    device: Device = None,
    overrides: Override = None,
) -> None:
    """Learn from a running stream, and serve a page on which a person labels a few of its frames.

    Without arguments it shows the built-in world, so that it can be tried with nothing. Everything is kept in the run
    directory: `leocod live --run DIR` goes on where it was, `leocod export DIR` writes the detector.
    """
    announce_start()
    try:
        from leocod.live.run import is_begun, load_live_config, serve
    except ImportError as error:
        raise InvalidConfig(
            f"`leocod live` needs {error.name}: install it with `pip install 'leocod[live]'`."
        ) from error
    from leocod.files.run_directory import RunDirectory, find_free_path
    from leocod.run.layers import parse_override
    from leocod.run.working_directory import change_to_start, explain_lost_paths

    layers: list[dict[str, Any]] = [
        {"benchmark": drop_missing(source=source, fps=fps)},
        {"labels": drop_missing(per_step=labels_per_step, name=labeller)},
        {"detector": {"name": detector} if detector else {}, **drop_missing(device=device, plugin=plugin)},
    ]
    layers += [parse_override(text) for text in overrides or ()]
    config = load_live_config(run, layers)
    directory = run or find_free_path(Path("runs") / "live")
    names = [name for name in (classes or "").split(",") if name.strip()]
    # A source that is given now is looked for from here.
    goes_on = is_begun(directory) and source is None
    stored, described = RunDirectory(directory), config.model_dump(mode="json") if goes_on else {}
    with explain_lost_paths(stored, described, "live --run"), change_to_start(stored, described) as found:
        serve(config, found.path, classes=names, address=host, port=port, tell=say)
