"""Classes, labels and requests follow from the journal."""

from __future__ import annotations

from typing import Any

import pytest

from leocod.errors import InvalidLabels
from leocod.live.book import MOST_TOGETHER, Book, check_name


def a_label(number: int, frame: int, classes: list[int], new: list[str] | None = None, **more: Any) -> dict[str, Any]:
    entry = {
        "kind": "label",
        "label": number,
        "frame": frame,
        "boxes": [[0, 0, 5, 5]] * len(classes),
        "classes": classes,
        "new_classes": new or [],
        "complete": True,
        "seconds": 2.0,
        "time": 1.0,
        "key": f"key {number}",
        "kept_aside": False,
    }
    return entry | more


def a_step(step: int, asked: list[int], labels: list[int] | None = None) -> dict[str, Any]:
    return {
        "kind": "step",
        "step": step,
        "frames": [],
        "labels": labels or [],
        "classes": 2,
        "asked": asked,
        "next_frame": 16 * (step + 1),
    }


@pytest.fixture
def book() -> Book:
    book = Book(most_requests=2)
    book.apply({"kind": "begin", "classes": ["mug", "book"], "from_start": 1})
    return book


def test_labels_of_a_step_that_was_not_learnt_wait_again(book: Book) -> None:
    for number in (1, 2):
        book.apply(a_label(number, number, [0]))
    book.apply(a_step(0, [], [1, 2]))

    book.apply({"kind": "not_learnt", "step": 0, "failed": False})

    assert [label.number for label in book.list_next()] == [1, 2]


def test_labels_that_were_refused_often_are_tried_one_by_one_and_given_up_by_themselves(book: Book) -> None:
    for number in (1, 2):
        book.apply(a_label(number, number, [0]))
    tried = []

    for step in range(MOST_TOGETHER + 2):
        tried.append([label.number for label in book.list_next()])
        book.apply(a_step(step, [], tried[-1]))
        if 1 in tried[-1]:
            book.apply({"kind": "not_learnt", "step": step, "failed": False})

    assert tried == [[1, 2]] * MOST_TOGETHER + [[1], [2]]
    assert [label.state for label in book.labels.values()] == ["not learnt", "learnt"]


def test_it_begins_with_the_classes_of_the_start_and_those_that_were_asked_for(book: Book) -> None:
    assert [(known.name, known.from_start) for known in book.classes] == [("mug", True), ("book", False)]


def test_a_label_waits_until_a_step_has_learnt_it(book: Book) -> None:
    book.apply(a_step(0, [3]))
    book.apply(a_label(1, 3, [0, 2], ["cup"]))

    assert book.requests == {}
    assert [label.number for label in book.list_waiting()] == [1]
    assert book.find_class("cup") == 2

    book.apply(a_step(1, [], [1]))

    assert book.labels[1].state == "learnt"
    assert (book.steps, book.next_frame, book.given, book.seconds) == (2, 32, 1, 2.0)


def test_a_request_gives_way_but_not_one_that_the_person_may_be_working_on(book: Book) -> None:
    book.apply(a_step(0, [1, 2]))
    book.apply(a_step(1, [17]))
    assert book.requests == {1: 0, 17: 1}

    book.most_requests = 8
    for step in range(2, 20):
        book.apply(a_step(step, [16 * step]))
    assert list(book.requests) == [1, 17, 32, 48, 256, 272, 288, 304]


def test_names_get_numbers_and_new_names_the_next_ones(book: Book) -> None:
    assert book.number_names(["book", "cup", "pen", "cup"]) == ([1, 2, 3, 2], ["cup", "pen"])


def test_a_label_that_is_taken_back_is_asked_for_again(book: Book) -> None:
    book.apply(a_step(0, [3]))
    book.apply(a_label(1, 3, [0]))

    book.apply({"kind": "undo", "label": 1, "frame": 3, "step": None, "goes_back": False, "ask_again": True})

    assert book.labels == {}
    assert list(book.requests) == [3]


def test_a_class_that_was_renamed_leaves_its_name_free(book: Book) -> None:
    book.apply({"kind": "rename", "class": 0, "name": "cup"})

    assert book.name(0) == "cup"
    assert book.number_names(["mug"]) == ([2], ["mug"])


def test_a_class_that_was_merged_goes_by_the_name_of_the_other(book: Book) -> None:
    book.apply(a_label(1, 3, [2], ["cup"]))
    book.apply({"kind": "merge", "class": 2, "into": 0})
    book.apply({"kind": "merge", "class": 0, "into": 1})

    assert book.name(2) == "book"
    assert book.resolve(2) == 1
    assert book.find_class("cup") is None
    assert len(set(book.detector_names)) == 3


def test_what_is_forgotten_has_no_labels(book: Book) -> None:
    book.apply(a_label(1, 3, [0]))
    book.apply({"kind": "pin", "frame": 3, "pinned": True})
    assert book.pinned == {3}

    book.apply({"kind": "forget", "frame": 3})

    assert (book.labels, book.pinned) == ({}, set())


def test_a_name_is_trimmed() -> None:
    assert check_name("  red \t mug ") == "red mug"


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "a\x00b", "a\u202eb", 3, None])
def test_a_name_that_cannot_be_shown_is_refused(name: object) -> None:
    with pytest.raises(InvalidLabels, match="class name"):
        check_name(name)


def test_a_frame_whose_label_was_taken_back_gives_way_last_and_there_are_never_too_many(book: Book) -> None:
    book.apply(a_step(0, [3]))
    book.apply(a_label(1, 3, [0]))
    book.apply(a_step(1, [20, 21], [1]))

    book.apply({"kind": "undo", "label": 1, "frame": 3, "step": 1, "goes_back": True, "ask_again": True})
    assert book.requests == {3: 1, 21: 1}

    book.apply(a_step(2, [40]))
    assert book.requests == {3: 1, 40: 2}


def test_a_frame_that_waited_at_the_first_step_is_asked_for_again_as_of_that_step(book: Book) -> None:
    book.apply(a_step(0, [3]))
    book.apply(a_label(1, 3, [0]))
    book.apply(a_step(1, [], []))
    book.labels[1].step = 0

    book.apply({"kind": "undo", "label": 1, "frame": 3, "step": 0, "goes_back": True, "ask_again": True})

    assert book.requests == {3: 0}


def test_every_output_has_a_name_of_its_own_whatever_names_are_given(book: Book) -> None:
    book.apply(a_label(1, 3, [2], ["mug (now book, class 0)"]))

    book.apply({"kind": "merge", "class": 0, "into": 1})

    assert book.detector_names == ("mug (now book, class 0)'", "book", "mug (now book, class 0)")
