"""Which names are the same class."""

from __future__ import annotations

import pytest

from leocod.weights.names import BACKGROUND, COCO, COCO_ROWS, UNUSED, VOC, find_row, normalise, select_classes

# The first 20 of OAK's class list, which are VOC's.
OAK = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "dining table", "dog",
    "horse", "motorcycle", "person", "potted plant", "sheep", "sofa", "train", "monitor",
)  # fmt: skip


def test_each_of_oaks_first_classes_is_the_voc_class_of_the_same_number() -> None:
    assert [find_row(name, VOC) for name in OAK] == list(range(20))


def test_every_voc_class_is_a_class_of_coco() -> None:
    found = [find_row(name, COCO) for name in VOC]

    assert None not in found
    assert len(set(found)) == 20


def test_coco_has_80_classes_and_torchvision_91_rows_of_it() -> None:
    assert len(COCO) == 80
    assert len(COCO_ROWS) == 91
    assert COCO_ROWS[:2] == (BACKGROUND, "person")
    assert (COCO[0], COCO[-1]) == ("person", "toothbrush")


@pytest.mark.parametrize(("one", "two"), [("Dining Table", "dining_table"), ("tv-monitor", "TV"), ("Sofa", "couch")])
def test_case_gaps_and_known_synonyms_do_not_matter(one: str, two: str) -> None:
    assert normalise(one) == normalise(two)


@pytest.mark.parametrize(("one", "two"), [("ship", "boat"), ("phone", "cell phone"), ("computer", "tv")])
def test_words_that_only_come_near_are_different_classes(one: str, two: str) -> None:
    assert normalise(one) != normalise(two)


def test_the_exact_name_goes_before_one_that_means_the_same() -> None:
    rows = ("monitor", "tv")

    assert (find_row("tv", rows), find_row("monitor", rows), find_row("TV", rows)) == (1, 0, 0)


def test_rows_that_are_no_class_are_never_found() -> None:
    rows = (BACKGROUND, UNUSED, "mug")

    assert find_row("n/a", rows) is None
    assert find_row(UNUSED, rows) is None
    assert find_row("background", rows) is None
    assert select_classes(rows) == ("mug",)
