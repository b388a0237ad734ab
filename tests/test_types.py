"""Labels are checked at birth; a step reveals only what it was given."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from leocod.errors import InvalidFrame, InvalidLabels
from leocod.types import Detections, Frame, Labels, Step


def test_boxes_and_classes_must_agree_in_number():
    with pytest.raises(InvalidLabels, match="1 box but 2 classes"):
        Labels(np.array([[0, 0, 1, 1]]), np.array([0, 1]))


@pytest.mark.parametrize("box", [[5, 0, 1, 1], [0, 0, 0, 1], [0, 0, np.nan, 1], [0, 0, np.inf, 1]])
def test_a_box_that_cannot_be_is_named(box):
    with pytest.raises(InvalidLabels, match="Box 1"):
        Labels(np.array([[0, 0, 1, 1], box]), np.array([0, 0]))


def test_negative_classes_are_refused():
    with pytest.raises(InvalidLabels, match="negative"):
        Labels(np.array([[0, 0, 1, 1]]), np.array([-1]))


def test_nothing_here_is_a_label():
    assert len(Labels.none()) == 0


def test_a_frame_reads_its_file(tmp_path):
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    Image.fromarray(pixels).save(tmp_path / "one.png")

    frame = Frame(1, "video", 0, (4, 6), tmp_path / "one.png")

    np.testing.assert_array_equal(frame.image(), pixels)


def test_pixels_that_are_not_the_stated_size_are_refused():
    with pytest.raises(InvalidFrame, match="Frame 7 of video"):
        Frame(7, "video", 0, (4, 6), np.zeros((6, 4, 3), np.uint8)).image()


def test_a_step_tells_labelled_from_unlabelled(a_step):
    step = a_step(frames=4, labelled=1)

    assert [frame.id for frame, _ in step.labelled()] == [0]
    assert [frame.id for frame in step.unlabelled] == [1, 2, 3]


def test_labels_for_a_frame_of_another_step_are_refused(a_step):
    step = a_step()
    with pytest.raises(InvalidLabels, match="99"):
        Step(0, step.frames, {99: Labels.none()})


def test_labels_of_a_step_cannot_be_changed(a_step):
    with pytest.raises(TypeError):
        a_step().labels[0] = Labels.none()


def test_adding_labels_makes_a_new_step(a_step):
    step = a_step(frames=3, labelled=1)
    pseudo = Labels(np.array([[0, 0, 5, 5]]), np.array([1]), "pseudo")

    more = step.with_labelled([(step.frames[2], pseudo)])

    assert [frame.id for frame, _ in more.labelled("pseudo")] == [2]
    assert [frame.id for frame, _ in more.labelled("human")] == [0]
    assert len(step.labelled()) == 1


def test_a_step_may_keep_the_labels_of_one_source(a_step):
    step = a_step(labelled=2)
    mixed = replace(step, labels={**step.labels, 1: replace(step.labels[1], source="pseudo")})

    kept = mixed.keep_source("human")

    assert list(kept.labels) == [0]
    assert kept.frames == step.frames
    assert list(mixed.labels) == [0, 1]


def test_nobody_who_gets_a_frame_or_its_labels_can_change_them(a_frame):
    frame, labels = a_frame(1)

    for array in (frame.image(), labels.boxes, labels.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_loaded_frame_no_longer_needs_its_file(tmp_path):
    file = tmp_path / "one.png"
    Image.fromarray(np.full((4, 6, 3), 9, np.uint8)).save(file)

    frame = Frame(1, "video", 0, (4, 6), file).load()
    file.unlink()

    assert (frame.image() == 9).all()
    assert frame.load() is frame


def test_detections_above_a_threshold():
    found = Detections(np.zeros((2, 4), np.float32), np.array([0, 1]), np.array([0.7, 0.71], np.float32))

    assert found.above(0.7).classes.tolist() == [1]


def test_not_knowing_is_not_the_same_as_nothing():
    assert Labels.none().known
    assert not Labels.unknown().known
    assert len(Labels.unknown()) == 0


def test_a_step_reveals_nothing_that_nobody_knows(a_step):
    step = a_step()

    with pytest.raises(InvalidLabels, match=r"nobody has labelled frames \[0\]"):
        Step(0, step.frames, {0: Labels.unknown()})


class Elsewhere:
    """Pixels that are made when they are asked for."""

    def __init__(self, pixels):
        self.pixels, self.asked = pixels, 0

    def image(self):
        self.asked += 1
        return self.pixels


def test_pixels_from_elsewhere_are_fetched_when_asked_for_and_held_once_loaded():
    source = Elsewhere(np.full((4, 6, 3), 9, np.uint8))
    frame = Frame(1, "video", 0, (4, 6), source)
    assert (frame.bytes, source.asked) == (0, 0)

    loaded = frame.load()

    assert (loaded.image() == 9).all()
    assert (loaded.bytes, source.asked) == (72, 1)
    with pytest.raises(ValueError, match="read-only"):
        loaded.image()[0] = 0


def test_a_file_that_is_not_the_stated_size_is_named(tmp_path):
    Image.fromarray(np.zeros((4, 6, 3), np.uint8)).save(tmp_path / "one.png")

    with pytest.raises(InvalidFrame, match=r"Frame 1 of video \(.*one\.png\): expected 6 x 4"):
        Frame(1, "video", 0, (6, 4), tmp_path / "one.png").image()


def test_a_frame_that_cannot_be_read_stays_as_it_is_where_that_is_allowed(tmp_path):
    frame = Frame(1, "video", 0, (4, 6), tmp_path / "none.png")

    assert frame.load_if_possible() is frame
    with pytest.raises(InvalidFrame, match=r"none\.png: no such file"):
        frame.load()


def test_what_went_through_another_process_is_sealed_as_before():
    frame = Frame(0, "video", 0, (2, 3), np.zeros((2, 3, 3), np.uint8))
    labels = Labels([[0, 0, 1, 1]], [0], logits=[[0.5, 0.5]])

    frame, labels = pickle.loads(pickle.dumps((frame, labels)))

    arrays = (frame.content, labels.boxes, labels.classes, labels.unsure, labels.logits)
    assert not any(array.flags.writeable for array in arrays)
