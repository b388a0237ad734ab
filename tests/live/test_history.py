"""What could not be learnt leaves no trace, and its labels wait."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.live.corrections import Corrections
from leocod.strategies.base import Strategy
from leocod.strategies.base_replay import MemoryStrategy
from leocod.training.gradients import NotFinite


def test_a_label_of_a_step_that_was_refused_is_learnt_with_a_later_one(open_session, person, monkeypatch) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests
    number = person.label(session, frame)
    with monkeypatch.context() as patched:
        patched.setattr(Strategy, "update", _refuse)
        person.show(session, labels=False)
    assert session.book.labels[number].state == "waiting"
    assert session.learning.learned == 0

    person.show(session, labels=False)

    assert session.book.labels[number].state == "learnt"
    assert [frame.id for frame, _ in session.learning.learner.remembered_frames()] == [frame]


def test_a_step_that_fails_is_not_tried_again_when_the_run_goes_on(open_session, person, monkeypatch, digest) -> None:
    session = open_session()
    person.show(session, labels=False)
    (frame,) = session.book.requests
    number = person.label(session, frame)
    monkeypatch.setattr(MemoryStrategy, "remember", _fail)
    before = digest(session)
    with pytest.raises(InvalidConfig, match="too small"):
        person.show(session, labels=False)
    assert digest(session) == before
    assert session.book.labels[number].state == "waiting"
    monkeypatch.undo()
    person.show(session)
    person.show(session, labels=False)
    known = digest(session)

    again = open_session()

    assert again.book.labels[number].state == "learnt"
    assert digest(again) == known


def test_a_label_refused_beside_another_one_is_learnt_once_when_the_other_is_taken_back(
    open_session, person, monkeypatch, digest
) -> None:
    session = open_session(labels={"per_step": 2})
    person.show(session, labels=False)
    good, bad = (person.label(session, frame) for frame in list(session.book.requests))
    update = Strategy.update
    monkeypatch.setattr(Strategy, "update", lambda self, batch: _refuse_where(session.book, bad, update, self, batch))
    person.show(session, 2, labels=False)
    assert [session.book.labels[one].state for one in (good, bad)] == ["waiting", "waiting"]

    Corrections(session).undo(bad)
    person.show(session, labels=False)
    known = digest(session)

    assert session.learning.labels_learned == 1
    assert digest(open_session(labels={"per_step": 2})) == known


def _refuse_where(book, number, update, strategy, batch):
    if number in book.labels:
        raise NotFinite("the loss is not finite")
    return update(strategy, batch)


def _refuse(self, batch):
    raise NotFinite("the loss is not finite")


def _fail(self, step):
    raise InvalidConfig("the memory is too small")
