"""A live run: what was taken survives, and what was learnt can be learnt again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leocod.errors import InvalidConfig, InvalidData, InvalidLabels, InvalidRun
from leocod.live.corrections import Corrections
from leocod.live.drawn import DrawnObject
from leocod.run.experiment import load_learner


def test_a_label_is_learnt_with_the_next_step(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests

    number = person.label(session, frame)

    assert session.book.labels[number].state == "waiting"
    assert session.learning.learned == 0
    person.show(session, labels=False)
    assert session.book.labels[number].state == "learnt"
    assert session.book.labels[number].step == 1
    assert session.learning.learned == 1


def test_nothing_is_learnt_before_the_first_label(open_session, person, digest) -> None:
    session = open_session()
    before = digest(session)

    person.show(session, 3, labels=False)

    assert digest(session) == before


def test_a_new_name_is_a_new_class_that_the_detector_can_tell(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests

    session.label(frame, [DrawnObject((5, 5, 30, 30), "thimble")])
    person.show(session, labels=False)

    assert session.learning.learner.classes[-1] == "thimble"
    assert session.deployed.predict(person.images())


def test_classes_to_begin_with_stand_beside_those_of_the_start(open_session) -> None:
    session = open_session(classes=("mug", " thimble "))

    assert session.learning.learner.classes[-1] == "thimble"
    assert session.learning.learner.classes.count("mug") == 1


def test_a_class_named_twice_is_an_error(open_session) -> None:
    with pytest.raises(InvalidConfig, match="'pen' twice"):
        open_session(classes=("pen", "pen"))


@pytest.mark.parametrize("after", [0, 1, 5, 9])
def test_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(open_session, person, digest, after) -> None:
    session = open_session()
    person.show(session, after)
    known, labels = digest(session), dict(session.book.labels)

    again = open_session()

    assert digest(again) == known
    assert again.book.labels == labels
    assert again.book.requests == session.book.requests
    person.show(again, 2)


@pytest.mark.parametrize("steps", [2, 3, 5, 6])
def test_classes_that_came_one_by_one_are_learnt_again_so(open_session, person, digest, steps) -> None:
    session = open_session()
    for number in range(steps):
        person.show(session, labels=False)
        for frame in list(session.book.requests):
            session.label(frame, [*person.look(frame), DrawnObject((5, 5, 30, 30), f"thing {number}")])
    person.show(session, labels=False)
    known = digest(session)

    assert digest(open_session()) == known


def test_a_name_that_another_class_had_can_be_given_to_a_new_one(open_session, person, digest) -> None:
    session = open_session()
    person.show(session, 5)
    Corrections(session).rename("mug", "cup")
    Corrections(session).merge("book", "cup")
    person.show(session, labels=False)
    (frame,) = session.book.requests
    session.label(frame, [DrawnObject((5, 5, 30, 30), "mug"), DrawnObject((5, 5, 30, 30), "book")])
    person.show(session, labels=False)
    known = digest(session)

    again = open_session()

    assert digest(again) == known
    assert again.learning.learner.classes[-2:] == ("mug", "book")


@pytest.mark.parametrize(
    "strategy", [{"name": "cls_er", "replay_per_step": 3}, {"name": "iod", "boundary_every": 2}], ids=["cls_er", "iod"]
)
def test_every_detector_of_a_strategy_gets_new_names(open_session, person, digest, strategy) -> None:
    session = open_session(strategy=strategy)
    person.show(session, 5)
    Corrections(session).rename("mug", "cup")
    person.show(session, labels=False)
    (frame,) = session.book.requests
    session.label(frame, [DrawnObject((5, 5, 30, 30), "mug")])
    person.show(session, labels=False)
    session.checkpoint()
    known = digest(session)

    again = open_session(strategy=strategy)

    assert digest(again) == known
    assert again.learning.learner.classes[-1] == "mug"


def test_a_remembered_frame_is_shown_with_all_classes_for_which_it_is_held(open_session, person) -> None:
    session = open_session(strategy="icarl_wang", efficient_cls=None)
    person.show(session, labels=False)
    (frame,) = session.book.requests

    session.label(frame, [DrawnObject((5, 5, 30, 30), "mug"), DrawnObject((20, 5, 40, 30), "thimble")])
    person.show(session, labels=False)

    mug, thimble = (session.book.find_class(name) for name in ("mug", "thimble"))
    assert session.remembered == [(frame, (mug, thimble))]


def test_a_label_that_was_taken_before_a_kill_is_learnt_after_it(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests
    number = person.label(session, frame)

    again = open_session()
    person.show(again, labels=False)

    assert again.book.labels[number].state == "learnt"


def test_a_damaged_checkpoint_is_passed_over(open_session, person, digest) -> None:
    session = open_session()
    person.show(session, 9)
    known = digest(session)
    newest = session.learning.checkpoints.list()[0]
    newest.write_bytes(newest.read_bytes()[:-9])
    told: list[str] = []

    again = open_session(tell=lambda level, text: told.append(text))

    assert digest(again) == known
    assert any("cannot be loaded" in text for text in told)


def test_a_damaged_old_checkpoint_does_not_keep_new_ones_from_being_saved(open_session, person) -> None:
    session = open_session()
    person.show(session, 9)
    session.learning.checkpoints.list()[-1].write_bytes(b"no checkpoint")

    again = open_session()
    again.checkpoint()
    person.show(again, 4)

    assert again.learning.checkpoints.list()[0].name == "step_00011.pt"


def test_a_run_that_was_killed_before_its_first_checkpoint_can_still_go_back(open_session, person) -> None:
    session = open_session()
    session.learning.checkpoints.list()[0].unlink()

    again = open_session()
    person.show(again, 2)

    assert "learnt 2 steps again" in Corrections(again).undo(1)


def test_a_frame_that_a_loss_of_power_has_damaged_is_not_asked_for(open_session, person) -> None:
    session = open_session()
    person.show(session, 2, labels=False)
    first, second = session.book.requests
    session.store.path(first).write_bytes(b"")

    again = open_session()

    assert set(again.proposals) == {second}


def test_a_frame_that_is_gone_cannot_be_labelled(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests
    session.store.path(frame).unlink()

    with pytest.raises(InvalidData, match=rf"^Frame {frame} is not on the disk"):
        session.label(frame, [])


def test_of_a_long_journal_only_what_may_be_learnt_again_is_kept(open_session, person) -> None:
    person.show(open_session(), 22)

    again = open_session()

    # Three checkpoints, four steps apart; the last one was after step 20.
    assert [entry["step"] for _, entry in again.history.performed] == list(range(12, 22))


@pytest.mark.parametrize(
    "line",
    [
        '{"kind":"later"}',
        '{"kind":"label"}',
        '{"kind":"undo","label":9,"frame":1,"step":null,"goes_back":false,"ask_again":true}',
        '{"kind":"rename","class":99,"name":"pen"}',
        '{"kind":"step","step":"x"}',
    ],
)
def test_an_entry_that_does_not_fit_is_named(open_session, line) -> None:
    session = open_session()
    with session.journal.file.open("a") as file:
        file.write(line + "\n")

    with pytest.raises(InvalidRun, match=r"journal.jsonl, line 2: .* does not fit here"):
        open_session()


def test_measuring_does_not_mind_a_label_that_comes_meanwhile(open_session, person, monkeypatch) -> None:
    session = open_session(
        benchmark={"keep_aside": 1, "measure_every": 1, "frames_per_step": 3}, labels={"per_step": 2}
    )
    person.show(session)
    person.show(session, labels=False)
    load = session.learning.load_pair

    def label_meanwhile(label):
        for frame in list(session.book.requests):
            person.label(session, frame)
        return load(label)

    monkeypatch.setattr(session.learning, "load_pair", label_meanwhile)
    person.show(session, labels=False)

    assert session.learning.accuracy


def test_the_same_label_sent_twice_is_taken_once(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests

    first = person.label(session, frame, key="abc")

    assert person.label(session, frame, key="abc") == first
    assert open_session().label(frame, [], key="abc") == first
    assert len(session.book.labels) == 1


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        ([DrawnObject((1, 1, 1.2, 30), "mug")], "smaller than a pixel"),
        ([DrawnObject((100, 1, 120, 30), "mug")], "outside of the frame"),
        ([DrawnObject((1, float("nan"), 9, 30), "mug")], "smaller than a pixel"),
        ([DrawnObject((1, 1, 20, 30), "\u202emug")], "cannot be shown"),
        ([DrawnObject((1, 1, 20, 30), "mug")] * 301, "may have 300"),
    ],
)
def test_a_label_that_cannot_be_is_refused_and_changes_nothing(open_session, person, objects, problem) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests
    before = session.journal.length

    with pytest.raises(InvalidLabels, match=problem):
        session.label(frame, objects)

    assert session.journal.length == before
    assert list(session.book.requests) == [frame]


def test_a_frame_that_nobody_asked_for_cannot_be_labelled(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)

    with pytest.raises(InvalidData, match="wants no label"):
        session.label(10**6, [])


def test_boxes_are_clipped_and_corners_put_in_order(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests

    number = session.label(frame, [DrawnObject((40, 50, -5, 10), "mug")])

    assert session.book.labels[number].boxes == ((0, 10, 40, 48),)


def test_a_skipped_frame_is_asked_for_no_more(open_session, person) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests

    session.skip(frame)
    session.skip(frame)

    assert list(open_session().book.requests) == []


def test_every_so_many_labels_one_is_kept_aside_and_measured_on(open_session, person) -> None:
    session = open_session(benchmark={"keep_aside": 2, "measure_every": 2})

    person.show(session, 8)

    states = [label.state for label in session.book.labels.values()]
    assert states.count("kept aside") == 4
    assert [point["step"] for point in session.learning.accuracy] == [3, 5, 7]
    remembered = {frame for frame, _ in session.remembered}
    assert not remembered & {label.frame for label in session.book.list_kept_aside()}


def test_a_label_in_part_is_never_kept_aside(open_session, person) -> None:
    session = open_session(benchmark={"keep_aside": 1})
    person.show(session, labels=False)
    (frame,) = session.book.requests

    number = person.label(session, frame, complete=False)

    assert session.book.labels[number].state == "waiting"


def test_frames_that_nothing_needs_leave_the_disk(open_session, person) -> None:
    session = open_session()

    person.show(session, 24)

    stored = {int(file.stem) for file in session.store.folder.iterdir()}
    labelled = {label.frame for label in session.book.labels.values()}
    assert labelled <= stored
    # Three checkpoints, four steps apart, and three frames a step.
    assert len(stored - labelled) <= 3 * 4 * 3


def test_a_checkpoint_is_one_that_other_commands_read(open_session, person, tmp_path: Path) -> None:
    session = open_session()
    person.show(session, 4)

    learner, classes = load_learner(session.directory)

    assert classes == session.book.detector_names
    images = person.images()
    expected = session.learning.learner.predict(images)
    assert [found.scores.tolist() for found in learner.predict(images)] == [one.scores.tolist() for one in expected]


def test_the_journal_names_what_was_taken(open_session, person) -> None:
    session = open_session()
    person.show(session, 2)

    kinds = [json.loads(line)["kind"] for line in session.journal.file.read_text().splitlines()]

    assert kinds == ["begin", "step", "label", "step", "label"]
