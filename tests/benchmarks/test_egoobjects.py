"""EgoObjects as a benchmark, in both layouts."""

from __future__ import annotations

import json

import pytest

from leocod.benchmarks.egoobjects import EgoObjects, EgoObjectsOptions
from leocod.errors import InvalidData
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream


def egoobjects(root, **options):
    return EgoObjects(EgoObjectsOptions.model_validate({"root": root, **options}), seed=0)


@pytest.fixture
def an_original(a_coco):
    """Five frames of two videos; the evaluation file has the first two of them, which does not matter here."""
    train, test = a_coco(5, "EgoObjectsV1_unified_train.json"), a_coco(2, "EgoObjectsV1_unified_eval.json")
    content = json.loads(train.read_text())
    for number, image in enumerate(content["images"]):
        image["video_id"] = number % 2
    train.write_text(json.dumps(content))
    return test.parent


def test_every_frame_of_the_original_layout_comes_in_its_own_shape(an_original, sizes, told):
    benchmark = egoobjects(an_original, frames_per_step=3)

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    shapes = sizes(5)
    assert [[(one[1], one[2]) for one in step] for step in steps] == [
        [(n, shapes[n]) for n in (0, 2, 4)],
        [(3, shapes[3])],
    ]
    assert [labels.boxes.tolist() for _, labels in benchmark.test] == [[[1, 2, 3, 7]]]


def test_the_evaluation_file_can_be_the_test_set(an_original):
    benchmark = egoobjects(an_original, frames_per_step=3, test="eval", steps=1)

    assert [len(benchmark.frames_of(step)) for step in range(benchmark.steps)] == [3]
    assert [int(frame.image()[0, 0, 0]) for frame, _ in benchmark.test] == [0, 1]


def test_the_processed_layout_is_read_alike(a_processed, told):
    benchmark = egoobjects(a_processed("egoobjects"))

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    assert [[one[1] for one in step] for step in steps] == [[0, 1, 2], [4, 5, 6], [8, 9]]
    assert benchmark.published_frames(1) == {1, 4, 8}


def test_a_folder_without_any_layout_is_told(tmp_path):
    with pytest.raises(InvalidData, match="none of the layouts"):
        egoobjects(tmp_path)
