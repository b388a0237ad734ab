import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from leocod.errors import InvalidData
from leocod.files import videos
from leocod.files.videos import TimedImage, VideoFile, write_video
from leocod.types import Image

UNEVEN = [0, 100, 130, 500, 520, 1500]
"""Milliseconds."""


def grey(level: int, size: tuple[int, int] = (48, 64)) -> Image:
    return np.full((*size, 3), level, np.uint8)


def a_video(path: Path, milliseconds: list[int], image: Image | None = None, *, sound: bool = False) -> Path:
    base = Fraction(1, 1000)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = base
        beside = container.add_stream("aac", rate=8000) if sound else None
        for number, time in enumerate(milliseconds):
            frame = av.VideoFrame.from_ndarray(grey(20 * number) if image is None else image, format="rgb24")
            frame.pts, frame.time_base = time, base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if beside is not None:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            silence.sample_rate, silence.pts = 8000, 0
            container.mux(beside.encode(silence))
            container.mux(beside.encode())
    return path


def read_back(path: Path) -> tuple[list[float], float, list[tuple[int, int]]]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(video=0))
        assert stream.duration is not None
        assert stream.time_base is not None
        length = float(stream.duration * stream.time_base)
    return [float(frame.time or 0) for frame in frames], length, [(frame.height, frame.width) for frame in frames]


@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_frames_keep_their_time_at_an_uneven_rate_and_beside_sound(tmp_path: Path, ending: str) -> None:
    source = VideoFile(a_video(tmp_path / f"a.{ending}", UNEVEN, sound=True))

    assert write_video(tmp_path / "b.mp4", source, source) == 6

    times, length, _ = read_back(tmp_path / "b.mp4")
    assert times == [time / 1000 for time in UNEVEN]
    assert length >= 1.5


def test_the_number_of_frames_is_the_files_word_or_unknown(tmp_path: Path) -> None:
    assert VideoFile(a_video(tmp_path / "a.mp4", UNEVEN)).frames == 6
    assert VideoFile(a_video(tmp_path / "a.mkv", UNEVEN)).frames is None


def test_a_whole_file_has_no_damage(tmp_path: Path) -> None:
    source = VideoFile(a_video(tmp_path / "a.mp4", UNEVEN))

    assert len(list(source)) == 6
    assert source.damage is None


def test_a_video_of_a_turned_phone_is_upright(tmp_path: Path) -> None:
    left = grey(0)
    left[:, :32] = 255
    path = a_video(tmp_path / "phone.mp4", [0, 40], left)
    content = bytearray(path.read_bytes())
    # The matrix of the track's header: what is right is to be below, a turn by 90 degrees clockwise.
    place = content.index(b"tkhd") + 4 + 40
    content[place : place + 36] = struct.pack(">9i", 0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000)
    path.write_bytes(content)

    first = next(iter(VideoFile(path))).image

    assert first.shape == (64, 48, 3)
    assert first[:28].min() > 200
    assert first[36:].max() < 50


def test_odd_sizes_are_filled_up_and_nothing_is_lost(tmp_path: Path) -> None:
    source = VideoFile(a_video(tmp_path / "a.mp4", [0, 40]))
    image = grey(0, (33, 51))
    image[-1], image[:, -1] = 255, 255

    write_video(tmp_path / "b.mp4", [TimedImage(image, Fraction(0))], source)

    (shown,) = (one.image for one in VideoFile(tmp_path / "b.mp4"))
    assert shown.shape == (34, 52, 3)
    assert shown[32:].min() > 150
    assert shown[:, 50:].min() > 150


def test_a_frame_of_another_size_is_made_to_fit(tmp_path: Path) -> None:
    source = VideoFile(a_video(tmp_path / "a.mp4", [0, 40]))
    frames = [TimedImage(grey(200), Fraction(0)), TimedImage(grey(200, (96, 32)), Fraction(1, 25))]

    write_video(tmp_path / "b.mp4", frames, source)

    _, second = (one.image for one in VideoFile(tmp_path / "b.mp4"))
    assert second.shape == (48, 64, 3)
    assert second[:, 28:36].min() > 150
    assert second[:, :20].max() < 50


def test_frames_at_one_time_come_one_after_the_other(tmp_path: Path) -> None:
    source = VideoFile(a_video(tmp_path / "a.mp4", [0, 40]))

    write_video(tmp_path / "b.mp4", [TimedImage(grey(9), Fraction(0))] * 3, source)

    times, _, _ = read_back(tmp_path / "b.mp4")
    assert len(set(times)) == 3


def test_what_is_no_video_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a video")
    with av.open(str(tmp_path / "song.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 80), np.int16), format="s16", layout="mono")
        silence.sample_rate = 8000
        container.mux(stream.encode(silence))
    source = VideoFile(a_video(tmp_path / "a.mp4", [0, 40]))

    with pytest.raises(InvalidData, match="notes.txt is not a readable video, nor an image"):
        VideoFile(tmp_path / "notes.txt")
    with pytest.raises(InvalidData, match="song.wav is not a readable video.*of a kind that is not read as video"):
        VideoFile(tmp_path / "song.wav")
    with pytest.raises(InvalidData, match="a.mp4 has no frames"):
        write_video(tmp_path / "b.mp4", [], source)


def test_a_frame_that_the_decoder_calls_damaged_is_noted(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    path = a_video(tmp_path / "walk.mp4", list(range(0, 400, 40)), noise)
    whole, damaged = VideoFile(path), VideoFile(path)
    content = bytearray(path.read_bytes())
    middle = content.index(b"mdat") + 1200

    assert len(list(whole)) == 10
    content[middle : middle + 200] = bytes(200)
    path.write_bytes(bytes(content))

    assert len(list(damaged)) == 10
    assert (whole.corrupt, damaged.corrupt) == ([], [0])


def test_a_film_without_pictures_is_told(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "song.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        silence.sample_rate = 8000
        container.mux(stream.encode(silence))
        container.mux(stream.encode())

    with pytest.raises(InvalidData, match="song.mp4 has no video in it"):
        VideoFile(tmp_path / "song.mp4")


def test_a_list_of_other_files_is_not_followed(tmp_path: Path) -> None:
    a_video(tmp_path / "secret.mp4", [0, 40])
    (tmp_path / "a.mp4").write_text("ffconcat version 1.0\nfile secret.mp4\n")

    with pytest.raises(InvalidData, match="a.mp4 is not a readable video.*of a kind that is not read as video"):
        VideoFile(tmp_path / "a.mp4")


def test_video_in_an_unknown_code_is_told(tmp_path: Path) -> None:
    path = a_video(tmp_path / "a.mp4", [0, 40])
    path.write_bytes(path.read_bytes().replace(b"avc1", b"zzz9"))

    with pytest.raises(InvalidData, match=r"a\.mp4 has video of a kind that is not known here"):
        VideoFile(path)


def test_notes_in_any_encoding_do_not_keep_a_video_from_being_read(tmp_path: Path) -> None:
    path = a_video(tmp_path / "a.mkv", [0, 40])
    path.write_bytes(path.read_bytes().replace(b"Lavc", b"\xff\xfevc"))

    assert len(list(VideoFile(path))) == 2


def test_frames_too_large_are_refused_before_there_is_memory_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_video(tmp_path / "a.mp4", [0, 40])
    monkeypatch.setattr(videos, "LIMITS", {"max_pixels": "1000"})

    with pytest.raises(InvalidData, match=r"a\.mp4 is not a readable video"):
        list(VideoFile(path))
    monkeypatch.setattr(videos, "LARGEST", 1000)
    with pytest.raises(InvalidData, match=r"a\.mp4 has frames of more than 0 million pixels"):
        VideoFile(path)


def test_an_odd_name_of_a_video_is_told_in_one_line(tmp_path: Path) -> None:
    path = a_video(tmp_path / "a.mp4", [0, 40])
    odd = path.rename(tmp_path / "a\nb.mp4")
    odd.write_bytes(odd.read_bytes()[:100])

    with pytest.raises(InvalidData) as told:
        list(VideoFile(odd))
    assert str(told.value).isprintable()


def test_pixels_of_a_form_that_nobody_can_convert_are_told(tmp_path: Path) -> None:
    class Strange:
        def to_ndarray(self, format: str) -> Image:
            raise ValueError("no such conversion")

    video = VideoFile(a_video(tmp_path / "a.mp4", [0, 40]))

    with pytest.raises(InvalidData, match=r"a\.mp4 is not a readable video \(no such conversion\)"):
        video._decode_next(iter([Strange()]), 0, "mp4")
    assert video._decode_next(iter([Strange()]), 1, "mp4") is None
    assert video.damage == "no such conversion"
