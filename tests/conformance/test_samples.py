import numpy as np

from leocod.conformance.samples import make_frame, make_step


def test_a_frame_is_always_the_same_and_shows_its_classes():
    (frame, labels), (again, _) = make_frame(3, (0, 2)), make_frame(3, (0, 2))

    np.testing.assert_array_equal(frame.image(), again.image())
    assert labels.classes.tolist() == [0, 2]
    x1, y1, _, _ = labels.boxes[1].astype(int)
    assert frame.image()[y1, x1].tolist() == [20, 20, 240]


def test_the_first_frames_of_a_step_are_labelled():
    step = make_step(2, frames=4, labelled=1)

    assert [frame.id for frame in step.frames] == [8, 9, 10, 11]
    assert list(step.labels) == [8]
