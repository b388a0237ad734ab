"""Which frames are worth labelling: spread, new, and sharp."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as PillowImage
from PIL import ImageFilter

from leocod.data.choose import ChosenFrame, choose_frames, divide_videos, is_new, make_signature, measure_sharpness
from leocod.errors import InvalidData, InvalidFrame

SIZE = (96, 128)


@pytest.fixture
def a_video(tmp_path):
    """Writes frames, 10 a second."""

    def write(name, images):
        with av.open(str(tmp_path / name), "w") as container:
            stream = container.add_stream("libx264", rate=10, options={"crf": "10"})
            stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
            for image in images:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            container.mux(stream.encode())
        return tmp_path / name

    return write


def a_scene(seed):
    """Large patches of colour."""
    patches = np.random.default_rng(seed).integers(0, 255, (12, 16, 3), np.uint8)
    return np.asarray(PillowImage.fromarray(patches).resize((SIZE[1], SIZE[0]), PillowImage.Resampling.NEAREST))


def blur(image):
    return np.asarray(PillowImage.fromarray(image).filter(ImageFilter.GaussianBlur(4)))


def choose(*videos, **options) -> list[ChosenFrame]:
    return list(choose_frames(divide_videos(videos, **options)))


def numbers(chosen):
    return [frame.number for frame in chosen]


def test_frames_are_spread_over_the_whole_length(a_video):
    video = a_video("walk.mp4", [a_scene(number) for number in range(100)])

    chosen = choose(video, frames=5)

    assert [number // 20 for number in numbers(chosen)] == [0, 1, 2, 3, 4]
    assert [frame.seconds for frame in chosen] == [number / 10 for number in numbers(chosen)]
    assert all(gap >= 10 for gap in np.diff(numbers(chosen)))
    assert np.abs(chosen[2].image.astype(int) - a_scene(chosen[2].number)).mean() < 8


def test_of_neighbours_the_sharpest_is_chosen(a_video):
    sharp = (3, 13, 23)
    video = a_video("walk.mp4", [a_scene(n // 10) if n in sharp else blur(a_scene(n // 10)) for n in range(30)])

    # A part has 10 frames, a second of them, and two places that are looked at.
    assert set(numbers(choose(video, frames=3))) == {*sharp}


def test_a_still_view_is_chosen_once_and_again_when_something_comes_in(a_video):
    random, view = np.random.default_rng(0), a_scene(1)
    images = [(view + random.normal(0, 4, view.shape)).clip(0, 255).astype(np.uint8) for _ in range(60)]
    for number in range(33, 36):
        images[number][40:52, 60:72] = 255 - images[number][40:52, 60:72]

    video = a_video("still.mp4", images)

    first, second = choose(video, frames=6)
    assert first.number < 10
    assert 33 <= second.number < 36


def test_a_change_of_light_is_no_change():
    view = a_scene(1) // 2
    moved = view.copy()
    moved[:12, :12] = 255

    assert not is_new(make_signature(view + 40), make_signature(view))
    assert is_new(make_signature(moved), make_signature(view))


def test_sharpness_falls_with_blur_whatever_the_size():
    large = np.asarray(PillowImage.fromarray(a_scene(0)).resize((1600, 1200), PillowImage.Resampling.NEAREST))

    assert measure_sharpness(a_scene(0)) > 2 * measure_sharpness(blur(a_scene(0)))
    assert measure_sharpness(large) > 2 * measure_sharpness(blur(blur(large)))
    assert measure_sharpness(np.zeros((2, 9, 3), np.uint8)) == 0


def test_longer_videos_give_more_frames_and_each_gives_one(a_video):
    long = a_video("long.mp4", [a_scene(number) for number in range(60)])
    short = a_video("short.mp4", [a_scene(100 + number) for number in range(20)])
    tiny = a_video("tiny.mp4", [a_scene(200)])

    chosen = choose(long, short, tiny, frames=8)

    assert [frame.video.name for frame in chosen] == ["long.mp4"] * 6 + ["short.mp4"] * 2 + ["tiny.mp4"]
    assert [frame.video.name for frame in choose(long, tiny, every=3)] == ["long.mp4", "long.mp4", "tiny.mp4"]


def test_more_frames_than_there_are_are_not_chosen(a_video):
    assert numbers(choose(a_video("walk.mp4", [a_scene(number) for number in range(4)]), frames=50)) == [0, 1, 2, 3]


def test_damaged_frames_are_passed_over(a_video):
    video = a_video("walk.mp4", [a_scene(number) for number in range(40)])
    parts = divide_videos([video], frames=4)
    decode = parts[0].video.image
    broken = range(10, 20)

    def image(number):
        if number in broken:
            raise InvalidFrame("damaged")
        return decode(number)

    parts[0].video.image = image

    assert [number // 10 for number in numbers(choose_frames(parts))] == [0, 2, 3]


@pytest.mark.parametrize(
    ("videos", "said"),
    [(["none.mp4"], "no such file"), (["folder"], "a folder: label its pictures"), (["a/x.mp4", "X.mov"], "same name")],
)
def test_what_is_no_video_or_has_no_name_of_its_own_is_told(tmp_path, monkeypatch, videos, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").mkdir()
    for name in ("a/x.mp4", "X.mov"):
        (tmp_path / name).write_bytes(b"x")

    with pytest.raises(InvalidData, match=said):
        divide_videos([Path(video) for video in videos], frames=3)
