import numpy as np
import pytest

from leocod.memory.paste import paste_objects
from leocod.types import Frame, LabelledFrame, Labels

SIZE = (60, 80)


def pair(number: int, value: int, *boxes: tuple[float, float, float, float], **more: object) -> LabelledFrame:
    """A grey frame and the boxes in it, all of one class."""
    frame = Frame(number, "v", number, SIZE, np.full((*SIZE, 3), value, np.uint8))
    return frame, Labels(np.array(boxes, np.float32), np.full(len(boxes), number), **more)


def paste(into: LabelledFrame, source: LabelledFrame, seed: int = 0) -> LabelledFrame:
    (pasted,) = paste_objects([into], [source], np.random.default_rng(seed))
    return pasted


def test_an_object_comes_with_its_pixels_its_box_and_its_class() -> None:
    frame, labels = paste(pair(1, 0), pair(2, 200, (10, 20, 30, 40)))
    assert labels.classes.tolist() == [2]
    left, top, right, bottom = labels.boxes[0].astype(int)
    assert (right - left, bottom - top) == (20, 20)
    pixels = frame.image()
    assert (pixels[top + 4 : bottom - 4, left + 4 : right - 4] == 200).all()
    outside = pixels.copy()
    outside[top:bottom, left:right] = 0
    assert not outside.any()


def test_its_border_fades() -> None:
    frame, labels = paste(pair(1, 0), pair(2, 200, (10, 20, 30, 40)))
    left, top = labels.boxes[0, :2].astype(int)
    row = frame.image()[top + 10, left : left + 4, 0].tolist()
    assert row == sorted(row)
    assert 0 < row[0] < row[-1] == 200


@pytest.mark.parametrize("seed", range(20))
def test_it_covers_no_object_and_stays_near_its_height(seed: int) -> None:
    crowded = pair(1, 0, (0, 0, 30, 60), (60, 0, 80, 60))
    _, labels = paste(crowded, pair(2, 200, (10, 20, 30, 40)), seed)
    if len(labels) == 3:
        assert labels.boxes[2, 0] >= 30
        assert labels.boxes[2, 2] <= 60
        assert abs(labels.boxes[2, 1] - 20) <= 7


@pytest.mark.parametrize(
    "box", [(0, 20, 30, 40), (10, 20, 80, 40), (10, 20, 15, 40), (10, 5, 30, 50)], ids=["cut", "wide", "small", "high"]
)
def test_what_is_cut_too_small_or_too_large_is_not_pasted(box: tuple[float, float, float, float]) -> None:
    into = pair(1, 0)
    assert paste(into, pair(2, 200, box)) == into


def test_a_frame_without_room_stays_as_it_is() -> None:
    full = pair(1, 0, (0, 0, 80, 60))
    assert paste(full, pair(2, 200, (10, 20, 30, 40))) == full


def test_a_frame_is_not_pasted_into_itself_nor_where_logits_are_kept() -> None:
    own = pair(1, 0, (10, 20, 30, 40))
    assert paste(own, own) == own
    kept = pair(1, 0, (10, 20, 30, 40), logits=np.zeros((1, 3), np.float32))
    assert paste(kept, pair(2, 200, (10, 20, 30, 40))) == kept


def test_the_remembered_frame_is_not_changed() -> None:
    into, source = pair(1, 0), pair(2, 200, (10, 20, 30, 40))
    paste(into, source)
    assert not into[0].image().any()
    assert len(into[1]) == 0
