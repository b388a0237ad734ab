"""A COCO file as a benchmark: every frame comes, in its shape, with its boxes; the last step may be short."""

from __future__ import annotations

import json

import pytest
import yaml

from leocod.benchmarks.coco_video import CocoVideo, CocoVideoOptions
from leocod.errors import InvalidConfig, InvalidData
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.run.config import load_mapping
from leocod.stream.recorded import Stream


def benchmark(file, **options):
    settings = {"annotations": file, "frames_per_step": 3, **options}
    return CocoVideo(CocoVideoOptions.model_validate(settings), seed=0)


def test_every_frame_is_handed_out_or_held_out_in_its_own_shape(a_coco, sizes, told):
    video = benchmark(a_coco(9))

    steps = told(Stream(video, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    shapes = sizes(9)
    assert [[(one[1], one[2]) for one in step] for step in steps] == [
        [(n, shapes[n]) for n in (0, 1, 2)],
        [(n, shapes[n]) for n in (4, 5, 6)],
        [(8, shapes[8])],
    ]
    assert [(frame.id, labels.boxes.tolist()) for frame, labels in video.test] == [(3, []), (7, [])]
    assert video.classes == ("mug", "book")


def test_the_truth_is_what_the_file_says(a_coco):
    pairs = benchmark(a_coco(9)).frames_of(1)

    assert [labels.boxes.tolist() for _, labels in pairs] == [[[1, 2, 6, 7]], [[1, 2, 7, 7]], [[1, 2, 8, 7]]]
    assert [labels.classes.tolist() for _, labels in pairs] == [[0], [1], [0]]


def test_the_same_frames_are_labelled_for_the_same_seed(a_coco):
    video = benchmark(a_coco(9))

    first, again, other = (
        [list(step.labels) for step in Stream(video, RandomLabeller(RandomOptions(per_step=1), seed=seed)).steps()]
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other
    assert [len(ids) for ids in first] == [1, 1, 1]


def test_the_first_steps_only(a_coco):
    video = benchmark(a_coco(9), steps=1)

    assert (video.steps, len(video.test)) == (1, 1)


def test_nothing_need_be_held_out(a_coco):
    video = benchmark(a_coco(9), hold_out=0)

    assert (video.steps, len(video.test)) == (3, 0)


def test_a_step_beyond_the_last_is_no_step(a_coco):
    with pytest.raises(IndexError, match="3 steps"):
        benchmark(a_coco(9)).frames_of(3)


def test_a_file_without_images_is_told(a_coco):
    with pytest.raises(InvalidData, match="coco_video: no frame"):
        benchmark(a_coco(0))


def test_a_file_that_tells_its_steps_is_followed_unless_told_otherwise(a_coco):
    file = a_coco(4)
    content = json.loads(file.read_text())
    for image, step, held_out in zip(content["images"], (0, 0, 1, 1), (False, True, False, False), strict=True):
        image.update(step=step, held_out=held_out)
    file.write_text(json.dumps(content))

    own, anew = benchmark(file), benchmark(file, own_steps=False)

    assert [[frame.id for frame, _ in own.frames_of(step)] for step in range(own.steps)] == [[0], [2, 3]]
    assert [[frame.id for frame, _ in anew.frames_of(step)] for step in range(anew.steps)] == [[0, 1, 2]]


def test_steps_that_leave_some_out_are_told(a_coco):
    file = a_coco(2)
    content = json.loads(file.read_text())
    for image, step in zip(content["images"], (0, 10**9), strict=True):
        image.update(step=step, held_out=False)
    file.write_text(json.dumps(content))

    with pytest.raises(InvalidData, match="image 101: its step 1000000000 comes after step 0"):
        benchmark(file)


def test_files_in_a_row_are_one_stream_that_is_divided_as_a_whole(a_coco):
    video = benchmark([a_coco(5, "a.json"), a_coco(3, "b.json")])

    steps = [[(frame.id, frame.video) for frame, _ in video.frames_of(step)] for step in range(video.steps)]
    assert steps == [[(0, "a"), (1, "a"), (2, "a")], [(4, "a"), (5, "b"), (6, "b")]]
    assert [(frame.id, frame.video) for frame, _ in video.test] == [(3, "a"), (7, "b")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], r"it is \[\]: it should be the path of a COCO file, or a list"),
        (5, "it is 5: it should be"),
        (["a.json", None], r"it is \['a.json', None\]: it should be"),
        (["a.json", "b.json", "./a.json"], "a.json is named twice"),
    ],
)
def test_what_is_no_list_of_files_is_refused_with_the_key(given, said):
    with pytest.raises(InvalidConfig, match=f"benchmark.annotations: .*{said}"):
        load_mapping({"benchmark": {"name": "coco_video", "annotations": given}})


@pytest.mark.parametrize("given", ["a.json", ["a.json", "b.json"]])
def test_one_file_or_several_are_written_to_the_config_as_they_were_given(given):
    config = load_mapping({"benchmark": {"name": "coco_video", "annotations": given}})

    assert yaml.safe_load(config.to_yaml())["benchmark"]["annotations"] == given


def test_things_have_numbers_where_the_file_names_all_of_them(a_coco):
    file = a_coco(9)
    assert benchmark(file).instances_of(0) is None

    content = json.loads(file.read_text())
    for number, annotation in enumerate(content["annotations"]):
        annotation["instance_id"] = "ab"[number % 2]
    file.write_text(json.dumps(content))
    video = benchmark(file)

    # Frame 7 is held out, and frame 3 has no box: a is number 0, b is number 1.
    assert [[ids.tolist() for ids in video.instances_of(step)] for step in range(3)] == [
        [[0], [1], [0]],
        [[1], [0], [1]],
        [[0]],
    ]
