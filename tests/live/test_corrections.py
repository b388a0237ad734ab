"""Undo that undoes, names that change, frames that go."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidData, InvalidLabels
from leocod.live.corrections import Corrections


def test_a_label_that_waits_is_taken_back_and_its_frame_is_asked_for_again(open_session, person) -> None:
    session = open_session()
    person.show(session)
    (number,) = session.book.labels

    done = Corrections(session).undo()

    assert "Nothing had been learnt" in done
    assert session.book.labels == {}
    (frame,) = session.book.requests
    assert frame in session.proposals
    assert person.label(session, frame) != number


def test_after_undo_the_learner_is_as_if_the_label_had_never_been_given(open_session, person, digest, tmp_path) -> None:
    session = open_session()
    person.show(session, 6)
    number = next(label.number for label in session.book.labels.values() if label.step == 5)
    skipped = session.book.labels[number].frame

    done = Corrections(session).undo(number)

    assert "learnt 2 steps again" in done
    with_undo = digest(session)

    # The same run, in which the frame was not labelled.
    (tmp_path / "run").rename(tmp_path / "first")
    person.step = 0
    other = open_session()
    for _ in range(6):
        person.show(other, labels=False)
        for frame in list(other.book.requests):
            if frame == skipped:
                other.skip(frame)
            else:
                person.label(other, frame)
    assert digest(other) == with_undo


def test_what_was_taken_back_stays_so_after_a_kill(open_session, person, digest) -> None:
    session = open_session()
    person.show(session, 7)
    number = next(label.number for label in session.book.labels.values() if label.step == 5)
    Corrections(session).undo(number)
    known = digest(session)

    again = open_session()

    assert digest(again) == known
    assert number not in again.book.labels


def test_a_kill_between_the_journal_and_going_back_changes_nothing(open_session, person, digest, monkeypatch) -> None:
    session = open_session()
    person.show(session, 8)
    number = next(label.number for label in session.book.labels.values() if label.step == 5)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session.learning, "load", killed)
        with pytest.raises(KeyboardInterrupt):
            Corrections(session).undo(number)

    again = open_session()
    twin = digest(again)
    # The checkpoint after step 8 knows the label, so an earlier one was used, and nobody can go back to that one.
    assert again.learning.step == 7
    assert [path.name for path in again.learning.checkpoints.list()] == ["step_00003.pt", "step_00000.pt"]
    assert digest(open_session()) == twin


def test_a_label_that_is_too_old_leaves_the_memory_and_says_so(open_session, person) -> None:
    session = open_session()
    person.show(session, 24)
    first = min(session.book.labels)
    frame = session.book.labels[first].frame

    done = Corrections(session).undo(first)

    assert "no state from before that step is kept" in done
    assert frame not in {one for one, _ in session.remembered}


def test_there_must_be_a_label_to_take_back(open_session) -> None:
    with pytest.raises(InvalidData, match="no such label"):
        Corrections(open_session()).undo()


def test_a_class_gets_another_name_everywhere(open_session, person) -> None:
    session = open_session()
    person.show(session, 3)

    Corrections(session).rename("mug", "cup")

    assert "cup" in session.learning.learner.classes
    assert "mug" not in session.deployed._detector.classes
    again = open_session()
    assert again.book.find_class("mug") is None
    assert again.learning.learner.classes == session.learning.learner.classes
    person.show(again, 2, labels=False)


def test_a_name_that_is_taken_is_refused(open_session) -> None:
    session = open_session()

    with pytest.raises(InvalidData, match="merge them"):
        Corrections(session).rename("mug", "book")
    with pytest.raises(InvalidData, match="no class 'pen'"):
        Corrections(session).rename("pen", "book")
    with pytest.raises(InvalidLabels, match="class name"):
        Corrections(session).rename("mug", " ")


def test_a_class_that_is_merged_is_detected_and_remembered_as_the_other(open_session, person, digest) -> None:
    session = open_session()
    person.show(session, 6)
    names = {session.book.name(number) for _, numbers in session.remembered for number in numbers}
    gone, stays = sorted(names)[:2]

    Corrections(session).merge(gone, stays)

    remembered = {session.book.name(number) for _, numbers in session.remembered for number in numbers}
    assert remembered == names - {gone}
    number = next(place for place, known in enumerate(session.book.classes) if known.name == gone)
    found = [one.classes for one in session.learning.predict(person.images())]
    assert all(number not in classes for classes in found)
    assert digest(open_session()) == digest(session)


def test_a_class_cannot_be_merged_into_itself(open_session) -> None:
    with pytest.raises(InvalidData, match="into itself"):
        Corrections(open_session()).merge("mug", "mug")


def test_a_pinned_frame_is_pinned_in_the_memory(open_session, person) -> None:
    session = open_session()
    person.show(session, 4)
    frame = session.remembered[0][0]

    Corrections(session).pin(frame, pinned=True)
    assert session.learning.learner.memory.pinned == {frame}
    assert open_session().learning.learner.memory.pinned == {frame}

    Corrections(session).pin(frame, pinned=False)
    assert session.learning.learner.memory.pinned == set()


def test_a_forgotten_frame_is_off_the_disk_after_the_next_checkpoint(open_session, person) -> None:
    session = open_session()
    person.show(session, 6)
    frame = session.remembered[0][0]
    pixels = session.store.read(frame).image()

    Corrections(session).forget(frame)

    assert frame not in {one for one, _ in session.remembered}
    session.checkpoint()
    assert not session.store.has(frame)
    assert len(session.learning.checkpoints.list()) == 1
    assert pixels.tobytes() not in session.learning.checkpoints.list()[0].read_bytes()


def test_a_forgotten_frame_goes_also_when_the_process_ended_in_between(open_session, person) -> None:
    session = open_session()
    person.show(session, 6)
    frame = session.remembered[0][0]
    Corrections(session).forget(frame)

    again = open_session()
    again.checkpoint()

    assert not again.store.has(frame)
    assert len(again.learning.checkpoints.list()) == 1


def test_a_forgotten_frame_goes_also_when_the_process_ended_while_it_saved(open_session, person, monkeypatch) -> None:
    session = open_session()
    person.show(session, 6)
    frame = session.remembered[0][0]
    Corrections(session).forget(frame)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session.learning.checkpoints, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            session.checkpoint()
    assert len(session.learning.checkpoints.list()) > 1

    again = open_session()
    again.checkpoint()

    assert not again.store.has(frame)
    assert len(again.learning.checkpoints.list()) == 1


def test_only_what_is_remembered_can_be_forgotten(open_session) -> None:
    with pytest.raises(InvalidData, match="not remembered"):
        Corrections(open_session()).forget(5)
