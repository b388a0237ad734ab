"""A live run from its command to its end: directory, session, threads, server."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any, cast

import uvicorn

from leocod.benchmarks.live import LiveOptions
from leocod.errors import InvalidConfig
from leocod.files.addresses import hide_secrets, is_address
from leocod.files.atomic import write_json, write_text
from leocod.files.documents import parse_mapping, read_yaml
from leocod.files.run_directory import RunDirectory, refuse_if_taken
from leocod.live.access import Access
from leocod.live.connections import Connection
from leocod.live.server import LONGEST_MESSAGE, make_app
from leocod.live.service import LiveService, Messages
from leocod.live.session import LiveSession
from leocod.live.sources.base import Source
from leocod.live.sources.opening import open_source
from leocod.run.config import ExperimentConfig, load_mapping, load_run_config
from leocod.run.environment import describe_environment, read_command_line
from leocod.run.plugin import lay
from leocod.run.working_directory import describe_working_directory

JOURNAL = "journal.jsonl"


def load_live_config(directory: Path | None, layers: Sequence[Mapping[str, Any]]) -> ExperimentConfig:
    """The config of a live run that is there already, or of a new one, with layers over it."""
    if directory is not None and is_begun(directory):
        asked = load_run_config(RunDirectory.open(directory).config, layers)
        if (directory / JOURNAL).exists():
            _refuse_changes(load_run_config(RunDirectory.open(directory).config), asked, directory)
        source = cast(LiveOptions, asked.benchmark.options).source
        if is_address(source) and "***" in source:
            raise InvalidConfig(
                f"The address {source} is kept without its password: give it again, as in leocod live SOURCE --run "
                f"{directory}."
            )
        return asked
    values: Mapping[str, Any] = parse_mapping(
        files("leocod.live").joinpath("live.yaml").read_text(encoding="utf-8"), "live.yaml"
    )
    for layer in layers:
        values = lay(values, layer)
    config = load_mapping(values)
    if config.benchmark.name != "live":
        raise InvalidConfig("`leocod live` learns from a source, not from a benchmark: leave out benchmark.name.")
    return config


def is_begun(directory: Path) -> bool:
    """Whether a live run was begun there. One that was killed at once has its config and nothing else."""
    if (directory / JOURNAL).exists():
        return True
    try:
        return bool(read_yaml(directory / "config.yaml")["benchmark"]["name"] == "live")
    except (InvalidConfig, KeyError, TypeError):
        return False


def _refuse_changes(stored: ExperimentConfig, asked: ExperimentConfig, directory: Path) -> None:
    """What was learnt depends on these; where frames come from and how many are asked for may change."""
    for key in ("detector", "strategy", "efficient_cls", "seed", "classes"):
        if getattr(stored, key) != getattr(asked, key):
            raise InvalidConfig(f"{directory} was begun with another {key}. Leave it out, or choose a new --run.")


def serve(
    config: ExperimentConfig,
    path: Path,
    *,
    classes: Sequence[str] = (),
    address: str = "127.0.0.1",
    port: int = 0,
    tell: Callable[[str], None],
) -> None:
    """Run until somebody asks it to stop. `tell` gets the lines that a person should read."""
    options = cast(LiveOptions, config.benchmark.options)
    begun = is_begun(path)
    directory = RunDirectory.open(path) if begun else RunDirectory.create(path)
    messages = Messages()
    with directory.lock(), bind(address, port) as bound:
        if not begun:
            refuse_if_taken(path)
        directory.sweep()
        stored = hide_password(config)
        write_text(directory.config, stored.to_yaml())
        command = [hide_secrets(word) for word in read_command_line()]
        about = describe_environment(threads=config.threads, device=config.device, command=command)
        write_json(directory.environment, about | describe_working_directory(path), indent=2)
        session = LiveSession(directory, stored, classes=classes, tell=messages.add)

        def open_again(stopped: Event) -> Source:
            return open_source(options.source, fps=options.fps, seed=config.seed, loop=options.loop, stopped=stopped)

        service = LiveService(session, open_again, messages)
        service.start()
        access = Access.at(address, bound.getsockname()[1])
        tell(f"Learning from {service.source_name}, in {directory.path}.")
        tell(f"Open {access.link} in a browser. Ctrl-C saves and ends.")
        try:
            _run_server(service, access, bound)
        finally:
            service.stop()
            tell(f"Saved. Go on with: leocod live --run {directory.path}")


def hide_password(config: ExperimentConfig) -> ExperimentConfig:
    """As it is kept on the disk: a run directory may be sent to somebody."""
    options = cast(LiveOptions, config.benchmark.options)
    hidden = options.model_copy(update={"source": hide_secrets(options.source)})
    return config.model_copy(update={"benchmark": config.benchmark.model_copy(update={"options": hidden})})


def bind(address: str, port: int) -> socket.socket:
    """Before anything is started: a port that is taken is one clear line."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        # On Windows, SO_REUSEADDR would share a port with a server that uses it already.
        bound.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        bound.bind((address, port))
        # From now on a visitor waits and is not turned away.
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise InvalidConfig(
            f"{address}:{port} cannot be used ({error.strerror or error}). Choose another --port, or --host."
        ) from error
    return bound


def _run_server(service: LiveService, access: Access, bound: socket.socket) -> None:
    # A stranger's malformed request is no news.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "UTF-8" not in record.getMessage())
    config = uvicorn.Config(
        make_app(service, access),
        http=Connection,
        log_level="error",
        access_log=False,
        server_header=False,
        # Nobody stands between the browser and this server.
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=2 * LONGEST_MESSAGE,
        # Pictures are compressed already.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
        # Nothing is done by it here, and when it is cancelled by Ctrl-C, it prints a traceback.
        lifespan="off",
    )
    # When it has shut down, uvicorn sends itself the signal that ended it: what comes after must still be done.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[bound])
    finally:
        signal.signal(signal.SIGTERM, before)
