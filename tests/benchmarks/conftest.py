"""Small data sets on disk, one writer for each layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

LANDSCAPE, PORTRAIT = (60, 80), (80, 60)


@pytest.fixture
def sizes() -> Callable[[int], list[tuple[int, int]]]:
    """Every third frame is portrait."""
    return lambda count: [PORTRAIT if number % 3 == 2 else LANDSCAPE for number in range(count)]


@pytest.fixture
def a_coco(
    tmp_path: Path, a_picture: Callable[..., Path], a_json: Callable[..., Path], sizes: Callable[[int], Any]
) -> Callable[..., Path]:
    """A COCO file of so many frames, frame n with value n and, but for every fourth, a box of width n + 1."""

    def write(count: int = 9, name: str = "labels.json") -> Path:
        images, annotations = [], []
        for number, (height, width) in enumerate(sizes(count)):
            a_picture(tmp_path / "images" / f"{number}.png", (height, width), number)
            images.append({"id": 100 + number, "file_name": f"{number}.png", "height": height, "width": width})
            if number % 4 != 3:
                box = [1, 2, number + 1, 5]
                annotations.append({"id": number, "image_id": 100 + number, "category_id": number % 2 + 1, "bbox": box})
        categories = [{"id": 1, "name": "mug"}, {"id": 2, "name": "book"}]
        content = {"categories": categories, "images": images, "annotations": annotations}
        return a_json(tmp_path / name, content)

    return write


@pytest.fixture
def a_processed(
    tmp_path: Path, a_picture: Callable[..., Path], a_json: Callable[..., Path], sizes: Callable[[int], Any]
) -> Callable[..., Path]:
    """Steps of three frames with one more held out, the last step short; two published choices."""

    def write(
        name: str, count: int = 10, oracles: Sequence[tuple[int, str]] = ((3, "11111111"), (1, "01010010"))
    ) -> Path:
        train, test = [], []
        for number, (height, width) in enumerate(sizes(count)):
            step, place = divmod(number, 4)
            inner = f"step_{step:05d}/{number}"
            a_picture(tmp_path / name / "images" / f"{inner}.png", (height, width), number)
            annotations = [{"category": "mug", "bbox": [1, 2, number + 2, 9], "bbox_mode": 0}] if number != 1 else []
            content = {"file_name": f"{number}.png", "height": height, "width": width, "annotations": annotations}
            a_json(tmp_path / name / "annotations" / f"{inner}.json", content)
            (test if place == 3 else train).append(f"step_{step:05d},{name}/annotations/{inner}.json")
        a_json(tmp_path / name / "mapping.json", {"mug": 0, "book": 1})
        (tmp_path / name / "test.csv").write_text("\n".join(["step_name,json_file", *test]))
        for cost, oracle in oracles:
            lines = [f"{row},{flag}" for row, flag in zip(train, oracle, strict=True)]
            (tmp_path / name / f"train_anno{cost}.csv").write_text("\n".join(["step_name,json_file,oracle", *lines]))
        return tmp_path

    return write


@pytest.fixture
def told() -> Callable[[Any], list[list[tuple[Any, ...]]]]:
    """What a stream hands out: for each step, each frame's id, value, size, and whether it is labelled."""

    def listed(stream: Any) -> list[list[tuple[Any, ...]]]:
        return [
            [(frame.id, int(frame.image()[0, 0, 0]), frame.size, frame.id in step.labels) for frame in step.frames]
            for step in stream.steps()
        ]

    return listed
