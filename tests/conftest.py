"""Small things that many tests need. One thread: the nets are tiny, and results are compared bit for bit."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from leocod.conformance.samples import make_detector, make_frame, make_step
from leocod.detectors.tiny import Tiny
from leocod.events import (
    ClassCounts,
    Evaluated,
    Event,
    PseudoLabelAudit,
    PseudoLabelCheck,
    RunFinished,
    RunStarted,
    StepArrived,
    StepFinished,
    StepLearned,
    StreamEnded,
)
from leocod.types import Detections, LabelledFrame, Labels, Step

# A console takes COLUMNS for good when it is made, and xdist sets it. Without it, the width is what each test asks for.
os.environ.pop("COLUMNS", None)
import_module("leocod.cli.terminal")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


def _reference(name: str) -> ModuleType:
    """A file of plain functions that lies among the tests, and is no package to import from."""
    file = Path(__file__).parent / name
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def detectron2() -> ModuleType:
    """Detectron2's R50-C4."""
    return _reference("networks/detectron2_reference.py")


@pytest.fixture(scope="session")
def pycocotools() -> ModuleType:
    """AP50 as pycocotools has it."""
    return _reference("evaluation/pycocotools_reference.py")


@pytest.fixture
def a_detector() -> Callable[..., Tiny]:
    return make_detector


@pytest.fixture
def a_frame() -> Callable[..., LabelledFrame]:
    return make_frame


@pytest.fixture
def a_step() -> Callable[..., Step]:
    return make_step


@pytest.fixture
def a_picture() -> Callable[..., Path]:
    """Writes a plain picture; its size is height and width."""

    def write(path: Path, size: tuple[int, int] = (60, 80), value: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((*size, 3), value, np.uint8)).save(path)
        return path

    return write


@pytest.fixture
def a_json() -> Callable[..., Path]:
    def write(path: Path, content: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


VOC = """<annotation>
	<folder>JPEGImages</folder>
	<filename>{stem}.png</filename>
	<source>
		<database>Unknown</database>
	</source>
	<size>
		<width>80</width>
		<height>60</height>
		<depth>3</depth>
	</size>
	<segmented>0</segmented>
{objects}</annotation>
"""

VOC_OBJECT = """	<object>
		<name>{}</name>
		<pose>Unspecified</pose>
		<truncated>0</truncated>
		<difficult>1</difficult>
		<bndbox>
			<xmin>{}</xmin>
			<ymin>{}</ymin>
			<xmax>{}</xmax>
			<ymax>{}</ymax>
		</bndbox>
	</object>
"""


@pytest.fixture
def a_voc(a_picture: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a PASCAL VOC data set: for each image its objects, each a name and corners; None: it has no file."""

    def write(root: Path, images: Mapping[str, Sequence[tuple[object, ...]] | None], **sets: str) -> Path:
        (root / "Annotations").mkdir(parents=True, exist_ok=True)
        for number, (stem, objects) in enumerate(images.items()):
            a_picture(root / "JPEGImages" / f"{stem}.png", value=number)
            if objects is not None:
                text = VOC.format(stem=stem, objects="".join(VOC_OBJECT.format(*one) for one in objects))
                (root / "Annotations" / f"{stem}.xml").write_text(text, encoding="utf-8")
        for name, lines in sets.items():
            (root / "ImageSets" / "Main").mkdir(parents=True, exist_ok=True)
            (root / "ImageSets" / "Main" / f"{name}.txt").write_text(lines)
        return root

    return write


@pytest.fixture
def reachable() -> Callable[[object], list[object]]:
    """Finds every object that can be reached from a thing, short of modules, classes and plain functions."""

    def walk(thing: object) -> list[object]:
        seen: dict[int, object] = {}
        waiting = [thing]
        while waiting:
            one = waiting.pop()
            if id(one) in seen or isinstance(one, type | ModuleType | BuiltinFunctionType):
                continue
            seen[id(one)] = one
            # A function's globals are its module; what it has closed over is its own.
            waiting += list(one.__closure__ or ()) if isinstance(one, FunctionType) else gc.get_referents(one)
            if isinstance(one, np.ndarray) and one.base is not None:
                waiting.append(one.base)
        return list(seen.values())

    return walk


RUN_CLASSES = ("mug", "chair", "dog")


def _learned(step: int, present: tuple[int, ...]) -> StepLearned:
    return StepLearned(
        step=step,
        losses={"current/region_class": 0.5},
        labelled_ids=(10 * step,),
        present=present,
        labelled=present[:1],
        audit=PseudoLabelAudit(
            frames=3, labels=4, right=3, objects=6, by_class={0: ClassCounts(3, 3, 4), 2: ClassCounts(1, 0, 2)}
        ),
        check=PseudoLabelCheck(labels=2, right=1),
        memory_bytes=1000 * (step + 1),
        seconds={"stream": 0.25, "train": 0.5},
        pseudo={10 * step + 1: Labels(np.array([[0, 0, 5, 5]]), np.array([0]), "pseudo")},
    )


def _evaluated(step: int, mug: float, chair: float) -> Evaluated:
    found = Detections(np.array([[1, 2, 4.5, 8]], np.float32), np.array([1]), np.array([0.9], np.float32))
    return Evaluated(step, {"mug": mug, "chair": chair, "dog": None}, 0.125, {7: found})


@pytest.fixture
def events() -> list[Event]:
    """Two steps, an evaluation after each; there is no dog among the test frames."""
    return [
        RunStarted("a run", RUN_CLASSES, steps=2, first_step=0, known_classes=("mug",)),
        StepArrived(0),
        _learned(0, (0, 1)),
        _evaluated(0, mug=0.5, chair=0.25),
        StepFinished(0, seconds=1.5),
        StepArrived(1),
        _learned(1, (1,)),
        _evaluated(1, mug=0.25, chair=0.75),
        StepFinished(1, seconds=3.5),
        StreamEnded(2),
        RunFinished(2, seconds=4.0),
    ]
