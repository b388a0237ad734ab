"""The learner of a live run performs the journal."""

from __future__ import annotations

import numpy as np

from leocod.live.learning import resolve_detections
from leocod.types import Detections


def test_detections_of_a_merged_class_are_of_the_other() -> None:
    found = Detections(np.zeros((2, 4), np.float32), np.array([0, 3]), np.array([0.9, 0.8], np.float32))

    assert resolve_detections(found, {0: 2, 3: 3}.__getitem__).classes.tolist() == [2, 3]


def test_a_frame_that_somebody_removed_is_left_out(open_session, person) -> None:
    session = open_session()
    person.show(session, 2)
    for file in session.store.folder.iterdir():
        file.unlink()

    person.show(session, 1, labels=False)

    assert session.learning.step == 2


def test_a_measurement_is_on_the_labels_kept_aside(open_session, person) -> None:
    session = open_session(benchmark={"keep_aside": 1, "measure_every": 1})
    person.show(session, 4)

    assert session.learning.accuracy
    assert set(session.learning.ap_by_class) <= {
        number for label in session.book.list_kept_aside() for number in label.classes
    }
    # Nothing was ever trained on.
    assert session.learning.learned == 0


def test_a_thing_is_proposed_once_by_its_surest_name(open_session, person, monkeypatch) -> None:
    session = open_session()
    boxes = np.array([[0, 0, 20, 20], [1, 1, 21, 21], [30, 30, 40, 40], [0, 0, 9, 9]], np.float32)
    found = Detections(boxes, np.array([0, 1, 1, 0]), np.array([0.9, 0.8, 0.5, 0.2], np.float32))
    monkeypatch.setattr(session.learning.learner, "predict", lambda images: [found])

    (proposed,) = session.learning.propose(person.images()[:1])

    assert proposed.classes.tolist() == [0, 1]
    assert proposed.boxes[1].tolist() == [30, 30, 40, 40]
