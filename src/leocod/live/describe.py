"""What the page shows, as plain values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from leocod import __version__
from leocod.live.book import Book
from leocod.live.service import LiveService

MOST_LABELS = 20
MOST_POINTS = 400
"""Of the curve of AP."""
MOST_FRAMES = 400
"""Of the memory that are listed."""


def describe(service: LiveService) -> dict[str, Any]:
    """The state of a live run. Its form is the contract with the page."""
    session = service.session
    grabber = service.grabber.state
    with session.lock:
        book = session.book
        learning = session.learning
        return {
            "run": {
                "name": session.directory.path.resolve().name,
                "directory": str(session.directory.path),
                "source": service.source_name,
                "detector": session.config.detector.name,
                "version": __version__,
            },
            "status": service.status,
            "activity": service.activity,
            "source": {"status": grabber.status, "message": grabber.message, "fps": round(grabber.fps, 2)},
            "counters": _count(service),
            "labels_per_step": session.config.labels.per_step or 0,
            "requests": _list_requests(service),
            "labels": _list_labels(book),
            "classes": _list_classes(service),
            "accuracy": learning.accuracy[:: -(-len(learning.accuracy) // MOST_POINTS) or 1],
            "kept_aside": len(book.list_kept_aside()),
            "memory": _list_memory(service),
            "exports": [file.name for file in service.exports],
            "messages": service.messages.list(),
        }


def _count(service: LiveService) -> dict[str, Any]:
    session, grabber = service.session, service.grabber.state
    book, memory = session.book, session.learning.learner.memory
    times, lags = list(session.step_seconds), list(service.pictures.lags)
    return {
        "frames_seen": grabber.seen,
        "frames_dropped": grabber.dropped,
        "steps_seen": service.steps_seen,
        "steps_learned": session.learning.learned,
        "steps_dropped": grabber.dropped // session.options.frames_per_step,
        "steps_waiting": service.steps_waiting,
        "labels": len(book.labels),
        "boxes": sum(len(label.boxes) for label in book.labels.values()),
        "seconds": round(book.seconds, 1),
        "step_seconds": round(float(np.mean(times)), 3) if times else None,
        "lag": round(float(np.percentile(lags, 95)), 3) if lags else None,
        "memory_bytes": memory.bytes if memory is not None else 0,
        "memory_frames": len(memory) if memory is not None else 0,
    }


def _list_requests(service: LiveService) -> list[dict[str, Any]]:
    proposals, book = service.session.proposals, service.session.book
    return [
        {
            "frame": frame,
            "step": step,
            "size": list(proposal.size),
            "asked": proposal.asked,
            "proposals": [
                {"box": np.round(box.astype(float), 1).tolist(), "name": book.name(int(number)), "score": float(score)}
                for box, number, score in zip(
                    proposal.found.boxes, proposal.found.classes, proposal.found.scores, strict=True
                )
            ],
        }
        for frame, step in book.requests.items()
        if (proposal := proposals.get(frame)) is not None
    ]


def _list_labels(book: Book) -> list[dict[str, Any]]:
    newest = list(book.labels.values())[-MOST_LABELS:][::-1]
    return [
        {
            "label": label.number,
            "frame": label.frame,
            "names": [book.name(number) for number in label.classes],
            "complete": label.complete,
            "time": label.time,
            "state": label.state,
        }
        for label in newest
    ]


def _list_classes(service: LiveService) -> list[dict[str, Any]]:
    session, book = service.session, service.session.book
    frames: Counter[int] = Counter()
    boxes: Counter[int] = Counter()
    for label in book.labels.values():
        numbers = [book.resolve(number) for number in label.classes]
        boxes.update(numbers)
        frames.update(set(numbers))
    return [
        {
            "name": known.name,
            "labels": frames[number],
            "boxes": boxes[number],
            "last_seen": session.last_seen.get(number),
            "ap": session.learning.ap_by_class.get(number),
            "from_start": known.from_start,
        }
        for number, known in enumerate(book.classes)
        if known.merged_into is None
    ]


def _list_memory(service: LiveService) -> list[dict[str, Any]]:
    session, book = service.session, service.session.book
    return [
        {"frame": frame, "names": [book.name(number) for number in numbers], "pinned": frame in book.pinned}
        for frame, numbers in session.remembered[:MOST_FRAMES]
    ]
