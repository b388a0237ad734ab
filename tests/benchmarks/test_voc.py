"""A PASCAL VOC data set as a benchmark: steps, test frames, lists, renaming, and pictures of another size."""

from __future__ import annotations

import pytest

from leocod.benchmarks.voc import Voc, VocOptions
from leocod.errors import InvalidConfig, InvalidData, InvalidFrame
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.run.config import load_mapping
from leocod.stream.recorded import Stream


def benchmark(root, **options):
    return Voc(VocOptions.model_validate({"root": root, "frames_per_step": 2, **options}), seed=0)


@pytest.fixture
def root(a_voc, tmp_path):
    """Six images, image n with one box of width n; the last without labels."""
    images = {str(n): [("mug" if n % 2 else "cup ", 3, 1, 2 + n, 5)] for n in range(1, 6)}
    return a_voc(tmp_path, {**images, "6": None}, late="5\n4\n6\n", early="1\n2\n3\n")


def test_images_are_divided_into_steps_and_test_frames(root, told):
    video = benchmark(root)

    steps = told(Stream(video, RandomLabeller(RandomOptions(per_step=2), seed=0)))

    # Images 3 and 6 are held out; nobody has labelled the latter.
    assert [[(id, value) for id, value, *_ in step] for step in steps] == [[(0, 0), (1, 1)], [(3, 3), (4, 4)]]
    assert [(frame.id, labels.boxes.tolist()) for frame, labels in video.test] == [(2, [[2, 0, 5, 5]])]
    assert video.unlabelled_test_frames == 1
    assert video.classes == ("cup", "mug")


def test_lists_are_videos(root):
    video = benchmark(root, sets=["late", "early"], hold_out=0)

    frames = [(frame.video, frame.index) for step in range(video.steps) for frame, _ in video.frames_of(step)]
    assert frames == [("late", n) for n in range(3)] + [("early", n) for n in range(3)]


def test_labels_are_renamed(root):
    assert benchmark(root, rename={"cup ": "mug"}).classes == ("mug",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sets": []}, "sets: at least one list is needed"),
        ({"sets": ["a", "a"]}, "sets: 'a' is named twice"),
        ({"rename": {"a": " "}}, "rename: 'a' becomes '': a class needs a name"),
        ({"rename": {"a": "b\nc"}}, r"rename: 'a' becomes 'b\\nc': its name has a control character"),
        ({"rename": ["a"]}, "rename is .* it should be"),
        ({"rename": {"a": "b", "a ": "c"}}, "rename: 'a' is named twice"),
    ],
)
def test_options_that_cannot_be_followed_are_refused_with_the_key(options, said):
    with pytest.raises(InvalidConfig, match=rf"benchmark\.{said}"):
        load_mapping({"benchmark": {"name": "voc", "root": "data", **options}})


def test_a_picture_of_another_size_than_its_file_says_is_told_with_that_file(root, a_picture):
    a_picture(root / "JPEGImages" / "3.png", (50, 80))
    a_picture(root / "JPEGImages" / "1.png", (50, 80))

    with pytest.raises(
        InvalidFrame, match=r"3\.xml, .*3\.png: it is 80 x 50 pixels large, but its record says 80 x 60"
    ):
        _ = benchmark(root).test
    video = benchmark(root, on_bad_frame="skip")
    stream = Stream(video, RandomLabeller(RandomOptions(per_step=0), seed=0))
    assert [[frame.id for frame in step.frames] for step in stream.steps()] == [[1], [3, 4]]
    assert video.lost_test_frames == 1


def test_a_bad_file_stops_a_run_unless_it_is_told_to_skip(root):
    (root / "Annotations" / "1.xml").write_text("<annotation>")

    with pytest.raises(InvalidData, match=r"1\.xml: it cannot be read"):
        benchmark(root)
    assert [problem.frame for problem in benchmark(root, on_bad_frame="skip").problems] == [0]
