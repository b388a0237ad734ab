"""What pycocotools, COCO's own code, says of detections: the reference for average precision, also of the benchmark."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from leocod.types import Detections, Labels


def precision(
    detections: Mapping[int, Detections], truth: Mapping[int, Labels], classes: int, *, iou: float = 0.5
) -> list[float]:
    """Average precision of each class; NaN without a true box. Its own settings stay as they are, but for the IoU."""
    evaluation = COCOeval(coco_of(truth, truth, classes), coco_of(detections, truth, classes), "bbox")
    evaluation.params.iouThrs = np.array([iou])
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.evaluate()
        evaluation.accumulate()
    return means(evaluation)


def means(evaluation: COCOeval) -> list[float]:
    """Over the recall levels: of the first IoU, the first range of sizes, and the most detections."""
    levels = evaluation.eval["precision"][0, :, :, 0, -1]
    return [float(column.mean()) if column.max() > -1 else float("nan") for column in levels.T]


def coco_of(marked: Mapping[int, Labels] | Mapping[int, Detections], truth: Mapping[int, Labels], classes: int) -> COCO:
    """Boxes in its own form."""
    result = COCO()
    result.dataset = dataset_of(marked, truth, classes)
    with contextlib.redirect_stdout(io.StringIO()):
        result.createIndex()
    return result


def dataset_of(
    marked: Mapping[int, Labels] | Mapping[int, Detections], truth: Mapping[int, Labels], classes: int
) -> dict[str, list[dict[str, object]]]:
    """What a COCO file holds. Ids of boxes begin at 1, since an id of 0 is read as 'not matched'."""
    annotations: list[dict[str, object]] = []
    for frame, one in marked.items():
        scores = one.scores.tolist() if isinstance(one, Detections) else [1.0] * len(one)
        for (x1, y1, x2, y2), category, score in zip(
            one.boxes.astype(float).tolist(), one.classes.tolist(), scores, strict=True
        ):
            width, height = x2 - x1, y2 - y1
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": frame,
                    "category_id": category,
                    "bbox": [x1, y1, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                    "score": score,
                }
            )
    return {
        "images": [{"id": frame} for frame in truth],
        "annotations": annotations,
        "categories": [{"id": category} for category in range(classes)],
    }
