"""A small live run: a tiny network, small frames, steps of three."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.live.serving import PORT, HandSource

from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.files.run_directory import RunDirectory
from leocod.live.access import Access
from leocod.live.drawn import DrawnObject
from leocod.live.server import make_app
from leocod.live.service import LiveService, Messages
from leocod.live.session import LiveSession
from leocod.run.config import ExperimentConfig, load_mapping
from leocod.run.layers import overlay
from leocod.training.gradients import hash_tensors
from leocod.types import Image, Labels

SMALLEST = {
    "benchmark": {"name": "live", "frames_per_step": 3, "keep_aside": 0},
    "labels": {"per_step": 1},
    "detector": {"name": "tiny", "short_side": 48, "regions": 16, "proposals": 24},
    "strategy": {"name": "icarl", "replay_per_step": 3},
    "efficient_cls": {},
    "checkpoint": {"every": 4, "keep": 3},
}


class Person:
    """Knows what is in the frames that it has shown to a session, and labels those that are asked for."""

    def __init__(self) -> None:
        self.world = Wander(WanderOptions(steps=200, width=64, height=48, frames_per_step=3), seed=3)
        self.step = 0
        self.truth: dict[int, Labels] = {}

    def show(self, session: LiveSession, steps: int = 1, *, labels: bool = True) -> None:
        """Show the next steps; label what is asked for after each."""
        for _ in range(steps):
            pairs = self.world.frames_of(self.step)
            first = session.book.next_frame
            self.truth |= {first + place: truth for place, (_, truth) in enumerate(pairs)}
            session.take_step([frame.image() for frame, _ in pairs])
            self.step += 1
            if labels:
                for frame in list(session.book.requests):
                    self.label(session, frame)

    def label(self, session: LiveSession, frame: int, **more: Any) -> int:
        """Label a frame with the truth."""
        return session.label(frame, self.look(frame), **more)

    def look(self, frame: int) -> list[DrawnObject]:
        """What is in a frame."""
        truth = self.truth[frame]
        return [
            DrawnObject(tuple(box), self.world.classes[number])
            for box, number in zip(truth.boxes.tolist(), truth.classes.tolist(), strict=True)
        ]

    def images(self) -> list[Image]:
        """Frames of another place."""
        return [frame.image() for frame, _ in self.world.frames_of(150)]


OpenSession = Callable[..., LiveSession]


@pytest.fixture
def a_live_config() -> Callable[..., ExperimentConfig]:
    """A config of the smallest live run, with changes."""
    return lambda **changes: load_mapping(overlay(SMALLEST, changes))


@pytest.fixture
def open_session(tmp_path: Path, a_live_config: Callable[..., ExperimentConfig]) -> Iterator[OpenSession]:
    """Opens the session of one directory; opened again, it goes on."""
    opened: list[LiveSession] = []

    def open_it(*, classes: tuple[str, ...] = (), tell: Any = None, **changes: Any) -> LiveSession:
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        config = a_live_config(**changes)
        (folder / "config.yaml").write_text(config.to_yaml())
        for session in opened:
            session.journal.close()
        told = tell or (lambda level, text: None)
        opened.append(LiveSession(RunDirectory(folder), config, classes=classes, tell=told))
        return opened[-1]

    yield open_it
    for session in opened:
        session.journal.close()


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def digest() -> Callable[[LiveSession], str]:
    """A hash of all that a session has learnt."""

    def compute(session: LiveSession) -> str:
        state = session.learning.learner.state_dict()
        weights = hash_tensors(state["slow"]["weights"]) + hash_tensors(state["strategy"]["detector"]["weights"])
        memory = session.learning.learner.memory
        assert memory is not None
        held = [(frame.id, labels.classes.tolist(), int(np.sum(frame.image()))) for frame, labels in memory.frames]
        return f"{weights} {held}"

    return compute


@pytest.fixture
def service(open_session, person) -> Iterator[LiveService]:
    session = open_session()
    person.show(session, labels=False)
    opened: list[HandSource] = []

    def open_source(stopped: Event) -> HandSource:
        opened.append(HandSource(stopped))
        return opened[-1]

    service = LiveService(session, open_source, Messages())
    service.start()
    service.hand = opened[0]  # type: ignore[attr-defined]
    yield service
    service.stop()


@pytest.fixture
def client(service) -> Iterator[TestClient]:
    with TestClient(make_app(service, Access("127.0.0.1", PORT, None)), base_url=f"http://127.0.0.1:{PORT}") as client:
        yield client
