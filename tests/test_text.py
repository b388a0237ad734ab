"""Text in messages is one short line, and names sort as people sort them."""

from pathlib import Path

import pytest

from leocod.text import describe_plugin, natural_key, one_line, pluralize, shorten, strip_file_name


def test_what_cannot_be_shown_is_escaped_and_a_long_text_is_cut() -> None:
    assert one_line("a\n\x1bé\u2028") == r"a\n\x1bé\u2028"
    assert one_line("abcdefgh", 6) == "abc..."


@pytest.mark.parametrize(
    ("ema", "pseudo_labels", "words"),
    [
        (True, True, "with Efficient-CLS"),
        (True, False, "with EMA only"),
        (False, True, "with pseudo labels only"),
        (False, False, "without Efficient-CLS"),
    ],
)
def test_the_plug_in_of_a_run_is_named_by_its_halves(ema: bool, pseudo_labels: bool, words: str) -> None:
    assert describe_plugin(ema=ema, pseudo_labels=pseudo_labels) == words


def test_efficient_cls_plus_has_its_own_name_and_its_halves_have_not() -> None:
    assert describe_plugin(ema=True, pseudo_labels=True, plus=True) == "with Efficient-CLS+"
    assert describe_plugin(ema=True, pseudo_labels=False, plus=True) == "with EMA only"


@pytest.mark.parametrize(
    ("message", "stripped"),
    [("a.json: it is bad", "it is bad"), ("a.json is bad", "it is bad"), ("b.json is bad", "b.json is bad")],
)
def test_a_file_that_is_named_already_is_not_named_again(message: str, stripped: str) -> None:
    assert strip_file_name(Path("a.json"), ValueError(message)) == stripped


def test_names_sort_by_the_numbers_in_them() -> None:
    names = ["b_10.jpg", "b_9.jpg", "b_009.png", "a.jpg", "b.jpg", f"c{'9' * 5000}", "c10"]

    assert sorted(names, key=natural_key) == [
        "a.jpg",
        "b.jpg",
        "b_9.jpg",
        "b_009.png",
        "b_10.jpg",
        "c10",
        f"c{'9' * 5000}",
    ]


def test_values_are_shown_short() -> None:
    assert shorten([1, 2]) == "[1, 2]"
    assert len(shorten("x" * 1000)) == 60


@pytest.mark.parametrize(
    ("number", "thing", "words"),
    [
        (1, "frame", "1 frame"),
        (0, "frame", "0 frames"),
        (2, "class", "2 classes"),
        (1, "box", "1 box"),
        (3, "box", "3 boxes"),
    ],
)
def test_one_thing_is_singular_and_others_are_plural(number: int, thing: str, words: str) -> None:
    assert pluralize(number, thing) == words
