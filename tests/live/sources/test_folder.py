from __future__ import annotations

from itertools import islice
from threading import Event

import pytest

from leocod.errors import InvalidData
from leocod.live.sources.clock import JumpingClock
from leocod.live.sources.folder import FolderSource


@pytest.fixture
def folder(tmp_path, a_picture):
    for number, size in enumerate([(60, 80), (60, 80), (40, 50)]):
        a_picture(tmp_path / "pictures" / f"{number + 9}.png", size, number * 20)
    return tmp_path / "pictures"


def opened(path, *, fps=None, loop=False):
    return FolderSource(path, fps=fps, loop=loop, clock=JumpingClock(), stopped=Event())


def test_pictures_come_in_the_order_of_their_names_whatever_their_size(folder):
    source = opened(folder)

    frames = list(source)

    assert [one.image.shape for one in frames] == [(60, 80, 3), (60, 80, 3), (40, 50, 3)]
    assert [round(one.captured, 3) for one in frames] == [0, 0.1, 0.2]
    assert [one.number for one in frames] == [0, 1, 2]
    assert "3 pictures at 10 a second" in source.describe()


def test_they_can_begin_again_at_another_rate(folder):
    source = opened(folder, fps=2, loop=True)

    frames = list(islice(source, 5))

    assert [int(one.image[0, 0, 0]) for one in frames] == [0, 20, 40, 0, 20]
    assert frames[4].captured == 2


def test_a_damaged_picture_and_one_from_elsewhere_are_left_out(folder, tmp_path, a_picture, caplog):
    (folder / "10.png").write_text("no picture")
    (folder / "12.png").symlink_to(a_picture(tmp_path / "elsewhere.png"))

    assert [int(one.image[0, 0, 0]) for one in opened(folder)] == [0, 40]
    assert len(caplog.records) == 2


def test_a_folder_without_a_single_picture_is_one_line(folder, tmp_path):
    for file in folder.iterdir():
        file.write_text("no picture")

    with pytest.raises(InvalidData, match="no picture that can be read"):
        list(opened(folder))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidData, match="holds no images"):
        opened(tmp_path / "empty")


def test_it_ends_when_it_is_stopped(folder):
    source = opened(folder, loop=True)
    frames = iter(source)
    next(frames)

    source.stopped.set()

    assert list(frames) == []
