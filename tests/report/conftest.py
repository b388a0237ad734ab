"""A run directory with everything in it, made up by a fixed rule: no training needed to test what is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

CLASSES = ("mug", "laptop", "<script>alert(1)</script>", "$5 & $10 note", "plant", "never tested")
STEPS, EVERY = 60, 10
SCORES = {"fap": 41.23, "cap": 33.45, "forgetting": -6.78}


def curve(category: int, step: int, level: float) -> float | None:
    """AP50 in points: rises while a class is around (a third of the time) and falls while it is away."""
    if category == len(CLASSES) - 1:
        return None
    return round(max(0.0, level * (1 - np.exp(-step / 25)) - 2 * ((step + 7 * category) % 30) / 3), 2)


def write_events(path: Path, evaluations: list[dict[str, Any]], *, pseudo: bool) -> None:
    events: list[dict[str, Any]] = [
        {"event": "RunStarted", "name": path.name, "classes": CLASSES, "steps": STEPS, "first_step": 0}
    ]
    evaluated = {one["step"]: one for one in evaluations}
    for step in range(STEPS):
        right = min(12, 4 + step // 6)
        audit = {"frames": 14, "labels": 15, "right": right, "objects": 28} if pseudo else None
        present = [category for category in range(len(CLASSES)) if (step + 7 * category) % 30 < 10]
        events.append(
            {"event": "StepLearned", "step": step, "losses": {"current/classes": 1.0}, "labelled_ids": [step * 16]}
            | {"present": present, "labelled": present[:1], "audit": audit, "memory_bytes": 1000, "seconds": {}}
        )
        if step in evaluated:
            points = evaluated[step]["ap_by_class"]
            by_class = {name: None if value is None else value / 100 for name, value in points.items()}
            events.append({"event": "Evaluated", "step": step, "ap_by_class": by_class, "seconds": 1.0})
    events.append({"event": "RunFinished", "steps": STEPS, "seconds": 100.0})
    (path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def write_samples(path: Path, *, pseudo: bool) -> None:
    (path / "samples").mkdir()
    random = np.random.default_rng(0)
    samples = []
    for number, kind in enumerate(("test", "test", "test", "pseudo", "pseudo", "memory", "memory")):
        if kind == "pseudo" and not pseudo:
            continue
        pixels = np.full((72, 96, 3), (214, 205, 190), np.uint8)
        pixels[10:40, 12:44] = random.integers(40, 220, 3)
        pixels[30:62, 58:86] = random.integers(40, 220, 3)
        Image.fromarray(pixels).save(path / "samples" / f"{kind}_{number}.png")
        boxes = [[11, 9, 45, 41, 0, 0.93], [40, 45, 60, 70, 2, 0.71]] if kind != "memory" else [[12, 10, 44, 40, 0, 1]]
        truth = [[12, 10, 44, 40, 0], [58, 30, 86, 62, 1]]
        samples.append(
            {"kind": kind, "step": number, "frame": 100 + number, "file": f"{kind}_{number}.png"}
            | {"truth": truth, "boxes": boxes}
        )
    (path / "samples" / "samples.json").write_text(json.dumps(samples))


def write_detections(path: Path) -> None:
    """Two test frames: a mug that is found, and a laptop that is not; of the last evaluation only."""
    boxes = [
        {"image_id": frame, "category_id": category, "bbox": [10.0, 10.0, 20.0, 20.0]}
        for frame, category in ((1, 1), (2, 2))
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(CLASSES, start=1)]
    images = [{"id": frame, "file_name": f"{frame}", "height": 72, "width": 96} for frame in (1, 2)]
    test = {"images": images, "annotations": boxes, "categories": categories}
    (path / "test.json").write_text(json.dumps(test))
    (path / "detections").mkdir()
    found = [boxes[0] | {"score": 0.9}, boxes[0] | {"category_id": 3, "score": 0.8}, boxes[1] | {"score": 0.1}]
    (path / "detections" / f"step_{STEPS - 1:05d}.json").write_text(json.dumps(found))


def write_run(path: Path, *, pseudo: bool = True, memory: bool = True, level: float = 60.0, **changed: Any) -> Path:
    path.mkdir(parents=True)
    evaluations = []
    for step in range(EVERY - 1, STEPS, EVERY):
        by_class = {name: curve(category, step, level) for category, name in enumerate(CLASSES)}
        known = [value for value in by_class.values() if value is not None]
        evaluations.append({"step": step, "ap": float(np.mean(known)), "ap_by_class": by_class})
    results = {
        "benchmark": "wander",
        "detector": "tiny",
        "strategy": "icarl",
        "efficient_cls": pseudo,
        "ema": pseudo,
        "pseudo_labels": pseudo,
        "labels_per_step": 2,
        "seed": 0,
        "steps": STEPS,
        "labelled_frames": 120,
        "labelled_boxes": 345,
        "labelling_seconds": 2775.0,
        "skipped_frames": 0,
        "skipped_test_frames": 0,
        "scores": SCORES,
        "diagnosis": None,
        "evaluations": evaluations,
        "seconds": 754.0,
        "seconds_by_part": {"stream": 40.0, "fast": 500.0, "pseudo": 120.0, "evaluate": 94.0},
        "memory_bytes": 1_234_567 if memory else 0,
        "peak_ram_bytes": 812_345_678,
    } | changed
    config = {"benchmark": {"name": "wander"}, "strategy": {"name": "icarl"}, "seed": 0}
    environment = {"python": "3.11.7", "command": ["leocod", "run", "my config.yaml"], "versions": {"numpy": "2.4.6"}}
    (path / "results.json").write_text(json.dumps(results))
    (path / "config.yaml").write_text(yaml.safe_dump(config))
    (path / "environment.json").write_text(json.dumps(environment))
    write_events(path, evaluations, pseudo=pseudo)
    write_samples(path, pseudo=pseudo)
    write_detections(path)
    if memory:
        by_class = {name: {"frames": 5, "seen": 20 + number} for number, name in enumerate(CLASSES)}
        (path / "memory.json").write_text(json.dumps({"bytes": 1_234_567, "frames": 23, "by_class": by_class}))
    return path


@pytest.fixture
def a_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run directory: `a_run("name", pseudo=False, scores={}, ...)`."""

    def write(name: str = "icarl-efficient_cls-2of16-seed0", **options: Any) -> Path:
        return write_run(tmp_path / "runs" / name, **options)

    return write


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run directory for tests that only read it."""
    return write_run(tmp_path_factory.mktemp("runs") / "icarl-efficient_cls-2of16-seed0")


@pytest.fixture(scope="session")
def runs_of_two_kinds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three seeds of each; of the second one nobody has measured the RAM."""
    folder = tmp_path_factory.mktemp("kinds")
    return [
        write_run(
            folder / f"{name}-seed{seed}",
            pseudo=name == "plugged",
            seed=seed,
            scores={"fap": fap},
            level=fap,
            peak_ram_bytes=None if seed == 1 else 10**9 + seed * 10**8,
        )
        for name, values in (("bare", [30.0, 32.0, 34.0]), ("plugged", [33.0, 35.1, 36.9]))
        for seed, fap in enumerate(values)
    ]
