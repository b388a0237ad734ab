"""detections/step_*.json: what was found at each evaluation, so that any metric can be recomputed without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leocod.events import Evaluated, Event
from leocod.files.atomic import write_json
from leocod.files.run_directory import format_step, list_by_step
from leocod.sinks.base import BaseSink
from leocod.types import Detections, LabelledFrame, Labels


class DetectionFiles(BaseSink):
    """Writes one file in COCO results form at each evaluation, and keeps the newest few, or all."""

    def __init__(self, folder: Path, *, keep: int | None = None) -> None:
        self.folder = folder
        self.keep = keep

    def __call__(self, event: Event) -> None:
        if isinstance(event, Evaluated):
            write_json(self.folder / f"{format_step(event.step)}.json", coco_results(event.detections))
            if self.keep is not None:
                for old in list_by_step(self.folder, ".json")[: -self.keep]:
                    old.unlink()


def coco_results(detections: Mapping[int, Detections]) -> list[dict[str, Any]]:
    """COCO results form: class numbers from 1, boxes as x, y, width, height.

    Not rounded: a box right at the IoU threshold must stay on its side of it when the metric is recomputed.
    """
    return [
        {"image_id": frame, "category_id": category + 1, "bbox": box, "score": score}
        for frame, found in detections.items()
        for box, category, score in zip(_coco_boxes(found), found.classes.tolist(), found.scores.tolist(), strict=True)
    ]


def coco_truth(pairs: Sequence[LabelledFrame], classes: Sequence[str]) -> dict[str, Any]:
    """COCO ground truth of labelled frames. A frame without a file of its own gets its video and number for a name."""
    annotations: list[dict[str, Any]] = []
    for frame, labels in pairs:
        for box, category in zip(_coco_boxes(labels), labels.classes.tolist(), strict=True):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": frame.id,
                    "category_id": category + 1,
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                }
            )
    return {
        "images": [
            {
                "id": frame.id,
                "file_name": str(frame.content) if isinstance(frame.content, Path) else f"{frame.video}/{frame.index}",
                "height": frame.size[0],
                "width": frame.size[1],
            }
            for frame, _ in pairs
        ],
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for number, name in enumerate(classes, start=1)],
    }


def _coco_boxes(marked: Detections | Labels) -> list[list[float]]:
    corners = marked.boxes.astype(float)
    corners[:, 2:] -= corners[:, :2]
    boxes: list[list[float]] = corners.tolist()
    return boxes
