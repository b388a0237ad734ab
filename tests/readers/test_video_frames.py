"""Frames of a video file by number: exact in any order, whatever the codec does, and in any process."""

from __future__ import annotations

import multiprocessing
import pickle
import struct
from fractions import Fraction

import av
import numpy as np
import pytest

from leocod.errors import InvalidData, InvalidFrame
from leocod.readers.video_frames import VideoFrame, VideoFrames

COUNT = 40


@pytest.fixture
def a_video(tmp_path):
    """Frames that differ in brightness, with few key frames and frames that depend on later ones."""

    def write(name="a.mp4", *, codec="libx264", form=None, pixels="yuv420p", irregular=False, noise=False, **options):
        random = np.random.default_rng(0)
        settings = {key.replace("_", "-"): value for key, value in options.items()}
        with av.open(str(tmp_path / name), "w", format=form, options={"movflags": "faststart"}) as container:
            stream = container.add_stream(codec, rate=30, options=settings)
            stream.width, stream.height, stream.pix_fmt = 64, 48, pixels
            stream.codec_context.gop_size = 12
            if irregular:
                stream.codec_context.time_base = Fraction(1, 1000)
            time = 0
            for number in range(COUNT):
                image = np.full((48, 64, 3), number * 6, np.uint8)
                if noise:
                    image = random.integers(0, 255, (48, 64, 3), dtype=np.uint8)
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                if irregular:
                    time += int(random.integers(10, 90))
                    frame.pts, frame.time_base = time, Fraction(1, 1000)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return tmp_path / name

    return write


def decoded(path):
    """Every frame, as a plain reading from first to last gives it."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"x264_params": "open-gop=1:keyint=10:bframes=3:b-pyramid=normal"},
        {"x264_params": "open-gop=1:keyint=2:bframes=1"},
        {"irregular": True},
        {"name": "a.mkv"},
        {"name": "a.avi", "codec": "mjpeg", "pixels": "yuvj420p"},
        {"name": "a.h264", "form": "h264"},
    ],
    ids=["b-frames", "open-gop", "short-open-gop", "irregular", "mkv", "mjpeg", "without-times"],
)
def test_any_frame_in_any_order_is_the_one_of_a_plain_reading(a_video, settings):
    path = a_video(**settings)
    plain = decoded(path)
    frames = VideoFrames(path)

    order = [*np.random.default_rng(1).permutation(COUNT).tolist()[:20], 5, 5, 6, 4, *range(10, 30), COUNT - 1, 0]

    assert len(frames) == len(plain) == COUNT
    assert frames.size == (48, 64)
    assert [number for number in order if (frames.image(number) != plain[number]).any()] == []


def test_frames_in_order_are_read_in_one_go(a_video, monkeypatch):
    frames = VideoFrames(a_video())
    frames.image(0)
    sought = []
    monkeypatch.setattr("leocod.readers.video_frames._Reader.seek", lambda reader, start: sought.append(start))

    for number in range(1, 12):
        frames.image(number)

    assert sought == []


def test_a_frame_far_ahead_is_not_reached_through_all_between(a_video):
    frames = VideoFrames(a_video())
    frames.image(0)

    frames.image(37)

    first = frames._find_start(37)
    assert first is not None
    assert first.number > 12


def test_it_can_be_copied_to_another_process(a_video):
    path = a_video()
    frames = VideoFrames(path)
    before = frames.image(7)

    copy = pickle.loads(pickle.dumps(VideoFrame(frames, 8)))

    assert (copy.image() == decoded(path)[8]).all()
    assert (frames.image(7) == before).all()


def test_a_video_of_a_turned_phone_is_upright(a_video):
    path = a_video("phone.mp4", noise=True)
    flat = VideoFrames(path)
    content = bytearray(path.read_bytes())
    # The matrix of the track's header: what is right is to be below, a turn by 90 degrees clockwise.
    place = content.index(b"tkhd") + 4 + 40
    content[place : place + 36] = struct.pack(">9i", 0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000)
    path.write_bytes(content)

    turned = VideoFrames(path)

    assert turned.size == flat.size[::-1]
    np.testing.assert_array_equal(turned.image(1), np.rot90(flat.image(1), -1))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_the_file_for_itself(a_video):
    path = a_video()
    frames = VideoFrames(path)
    frames.image(3)
    plain = decoded(path)

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=lambda: answers.put([int(frames.image(n).mean()) for n in (4, 20, 5)]))
    child.start()
    here = [int(frames.image(number).mean()) for number in (4, 30, 5)]
    there = answers.get(timeout=600)
    child.join()

    assert here == [int(plain[number].mean()) for number in (4, 30, 5)]
    assert there == [int(plain[number].mean()) for number in (4, 20, 5)]


def test_a_number_beyond_the_end_is_no_frame(a_video):
    with pytest.raises(IndexError, match=rf"which has {COUNT} frames"):
        VideoFrames(a_video()).image(COUNT)


def test_a_video_that_ends_early_is_told_and_its_whole_frames_can_be_used(a_video, met):
    path = a_video(noise=True)
    plain = decoded(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(InvalidData, match=rf"a\.mp4: it ends early: it has \d+ of {COUNT} frames"):
        VideoFrames(path)
    frames = VideoFrames(path, met.append)

    assert 0 < len(frames) < COUNT
    assert len(met) == 1
    assert (frames.image(3) == plain[3]).all()


def test_frames_that_cannot_be_decoded_are_told_one_by_one(a_video):
    path = a_video("a.mov", codec="mjpeg", pixels="yuvj420p", noise=True)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 6000] = bytes(6000)
    path.write_bytes(content)
    frames = VideoFrames(path)

    lost = []
    for number in range(len(frames)):
        try:
            frames.image(number)
        except InvalidFrame as error:
            lost.append((number, str(error)))

    assert 0 < len(lost) < COUNT / 2
    assert all(f"a.mov, frame {number} " in told for number, told in lost)


@pytest.mark.parametrize("content", [b"", b"no video at all", b"\0" * 5000])
def test_a_file_that_is_no_video_is_told(tmp_path, content):
    (tmp_path / "odd.mp4").write_bytes(content)

    with pytest.raises(InvalidData, match=r"odd\.mp4"):
        VideoFrames(tmp_path / "odd.mp4")


def test_a_file_that_goes_away_is_a_frame_that_cannot_be_read(a_video):
    path = a_video()
    frames = VideoFrames(path)
    path.unlink()

    with pytest.raises(InvalidFrame, match=r"a\.mp4, frame 3"):
        frames.image(3)


def test_pixels_of_a_form_that_nobody_can_convert_are_told(a_video, monkeypatch):
    class Strange:
        def reformat(self, frame, format):
            raise ValueError("no such conversion")

    film = VideoFrames(a_video())
    monkeypatch.setattr("leocod.readers.video_frames.VideoReformatter", Strange)

    with pytest.raises(InvalidFrame, match=r"a\.mp4, frame 3 cannot be decoded \(no such conversion\)"):
        film.image(3)
