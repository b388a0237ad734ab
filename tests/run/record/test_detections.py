import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from leocod.evaluation.ap import average_precision
from leocod.events import Evaluated, Event
from leocod.run.record.detections import DetectionFiles, coco_results, coco_truth
from leocod.types import Detections, Frame, Labels


def test_there_is_a_file_for_each_evaluation(events: list[Event], tmp_path: Path) -> None:
    with DetectionFiles(tmp_path) as sink:
        for event in events:
            sink(event)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["step_00000.json", "step_00001.json"]
    (found,) = json.loads((tmp_path / "step_00001.json").read_text())
    assert (found["image_id"], found["category_id"], found["bbox"]) == (7, 2, [1.0, 2.0, 3.5, 6.0])


def test_truth_has_every_frame_also_empty_ones() -> None:
    pixels = np.zeros((6, 8, 3), np.uint8)
    frames = [Frame(number, "walk", number, (6, 8), pixels) for number in (0, 1)]
    pairs = [(frames[0], Labels(np.array([[1, 1, 4, 3]]), np.array([1]))), (frames[1], Labels.none())]

    truth = coco_truth(pairs, ("mug", "chair"))

    assert [image["id"] for image in truth["images"]] == [0, 1]
    assert truth["images"][0] == {"id": 0, "file_name": "walk/0", "height": 6, "width": 8}
    assert truth["annotations"] == [
        {"id": 1, "image_id": 0, "category_id": 2, "bbox": [1.0, 1.0, 3.0, 2.0], "area": 6.0, "iscrowd": 0}
    ]
    assert truth["categories"] == [{"id": 1, "name": "mug"}, {"id": 2, "name": "chair"}]


def test_a_metric_recomputed_from_the_file_is_the_same_to_the_last_digit() -> None:
    random = np.random.default_rng(0)
    corners = random.uniform(0, 50, (40, 2))
    truth = {0: Labels(np.hstack([corners, corners + 20]), random.integers(0, 2, 40))}
    boxes = (truth[0].boxes + random.normal(0, 4, (40, 4))).astype(np.float32)
    scores = np.sort(random.random(40).astype(np.float32))[::-1]
    found = Detections(boxes, truth[0].classes, scores)

    stored = json.loads(json.dumps(coco_results({0: found})))

    corners = np.array([one["bbox"] for one in stored])
    corners[:, 2:] += corners[:, :2]
    again = Detections(
        corners.astype(np.float32),
        np.array([one["category_id"] - 1 for one in stored]),
        np.array([one["score"] for one in stored], np.float32),
    )
    np.testing.assert_array_equal(again.boxes, boxes)
    np.testing.assert_array_equal(again.scores, scores)
    np.testing.assert_array_equal(average_precision({0: again}, truth, 2), average_precision({0: found}, truth, 2))


def test_only_the_newest_are_kept_where_somebody_says_so(events: list[Event], tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("mine")
    evaluations = [event for event in events if isinstance(event, Evaluated)]

    with DetectionFiles(tmp_path, keep=2) as sink:
        for step in (9, 99_999, 100_000):
            sink(replace(evaluations[0], step=step))

    assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.json", "step_100000.json", "step_99999.json"]
