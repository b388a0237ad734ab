"""OAK as a benchmark, in both layouts."""

from __future__ import annotations

import pytest

from leocod.benchmarks.oak import Oak, OakOptions
from leocod.errors import InvalidData
from leocod.labelling.fixed import FixedLabeller, FixedOptions
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream, describe_stream


def oak(root, **options):
    return Oak(OakOptions.model_validate({"root": root, **options}), seed=0)


@pytest.fixture
def an_original(tmp_path, a_picture, a_json, sizes):
    """Five frames in one folder, numbered 8 to 12."""
    for number, size in enumerate(sizes(5)):
        a_picture(tmp_path / "Raw" / "0" / f"day_{number + 8}.png", size, number)
        box = {"x1": number + 2, "y1": 2, "x2": 1, "y2": 9}
        a_json(tmp_path / "Label" / "0" / f"day_{number + 8}.json", [{"id": 0, "category": "mug", "box2d": box}])
    return tmp_path


def test_every_frame_of_the_processed_layout_comes_in_its_own_shape(a_processed, sizes, told):
    benchmark = oak(a_processed("oak"))

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    shapes = sizes(10)
    assert [[(one[1], one[2]) for one in step] for step in steps] == [
        [(n, shapes[n]) for n in (0, 1, 2)],
        [(n, shapes[n]) for n in (4, 5, 6)],
        [(n, shapes[n]) for n in (8, 9)],
    ]
    assert [labels.boxes.tolist() for _, labels in benchmark.frames_of(0)] == [[[1, 2, 2, 9]], [], [[1, 2, 4, 9]]]
    assert [int(frame.image()[0, 0, 0]) for frame, _ in benchmark.test] == [3, 7]
    assert benchmark.classes == ("mug", "book")


def test_the_published_choice_can_be_followed(a_processed):
    benchmark = oak(a_processed("oak"))
    chosen = benchmark.published_frames(1)
    assert chosen is not None

    labeller = FixedLabeller(FixedOptions(per_step=1), stream=describe_stream(benchmark))
    steps = Stream(benchmark, labeller).steps()

    assert [[int(frame.image()[0, 0, 0]) for frame, _ in step.labelled()] for step in steps] == [[1], [4], [8]]
    assert benchmark.published_frames(2) is None


def test_labels_can_be_drawn_by_seed_instead(a_processed):
    benchmark = oak(a_processed("oak"))

    drawn = [
        [len(step.labels) for step in Stream(benchmark, RandomLabeller(RandomOptions(per_step=2), seed=4)).steps()]
        for _ in range(2)
    ]

    assert drawn == [[2, 2, 2], [2, 2, 2]]


def test_every_frame_of_the_original_layout_comes_in_its_own_shape(an_original, sizes, told):
    benchmark = oak(an_original, frames_per_step=3)

    steps = told(Stream(benchmark, RandomLabeller(RandomOptions(per_step=0), seed=0)))

    shapes = sizes(5)
    assert [[(one[1], one[2]) for one in step] for step in steps] == [
        [(n, shapes[n]) for n in range(3)],
        [(4, shapes[4])],
    ]
    assert [labels.boxes.tolist() for _, labels in benchmark.test] == [[[1, 2, 5, 9]]]
    assert benchmark.published_frames(1) is None


def test_two_layouts_in_one_folder_need_a_choice(a_processed, an_original):
    root = a_processed("oak")

    with pytest.raises(InvalidData, match="more than one layout: processed, original"):
        oak(root)
    assert oak(root, layout="original").classes == ("mug",)
    assert oak(root, layout="processed").classes == ("mug", "book")


def test_a_folder_without_any_layout_is_told(tmp_path):
    with pytest.raises(InvalidData, match="none of the layouts"):
        oak(tmp_path)
