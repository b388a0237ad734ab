"""A YAML file gives plain values, or one line; what it says is never run, and a short one never takes long."""

from __future__ import annotations

import pytest

from leocod.errors import InvalidConfig
from leocod.files.documents import parse_mapping, parse_yaml
from leocod.files.strict_yaml import DEEPEST

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in zip("abcdefghi", "bcdefghij", strict=True)
)


def test_plain_values_are_read() -> None:
    assert parse_mapping("seed: 3\nonly: [mug, null]\nbox: {x: 0.5, on: true}\n", "f") == {
        "seed": 3,
        "only": ["mug", None],
        "box": {"x": 0.5, True: True},
    }


def test_a_word_or_a_number_may_be_used_again() -> None:
    assert parse_mapping("a: &root data\nb: *root\n", "f") == {"a": "data", "b": "data"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (LAUGHS, "line 2: *a stands for a list or a mapping: write it out"),
        ("a: &a [*a]", "line 1: *a stands for a list or a mapping"),
        ("a: &a {b: *a}", "line 1: *a stands for a list or a mapping"),
        ("a: *nowhere", "line 1: found undefined alias 'nowhere'"),
        ("a: " + "[" * 5000 + "]" * 5000, f"line 1: more than {DEEPEST} levels"),
        ("a: " + "{a: " * 5000 + "}" * 5000, f"line 1: more than {DEEPEST} levels"),
        ("\n".join(" " * depth + "a:" for depth in range(500)), f"line {DEEPEST}: more than {DEEPEST} levels"),
        ("a: {<<: {b: 1}}", "line 1: << takes keys from elsewhere"),
        ("a: 1\nb: 2\na: 3", "line 3: the key 'a' is there twice"),
        ("? [a]\n: b", "line 1: a key that is a list or a mapping"),
        ("? {a: 1}\n: b", "line 1: a key that is a list or a mapping"),
        ("a: 2020-99-99", "line 1: '2020-99-99' is no timestamp"),
        ("a: !!int ''", "line 1: '' is no int"),
        ("a: !!bool perhaps", "line 1: 'perhaps' is no bool"),
        ("a: " + "9" * 5000, "line 1: a number of more than 128 bits"),
        ("a: 0x" + "f" * 5000, "line 1: a number of more than 128 bits"),
        ("a: !!map [1]", "line 1: expected a mapping node"),
        ("a: !!python/object/apply:os.getcwd []", "line 1: could not determine a constructor"),
        ("a: !!python/name:os.system", "line 1: could not determine a constructor"),
        ("a: !\x7fb", "unacceptable character"),
        ('a: "\\0"', "line 1: a NUL, or half of a character"),
        ('a: "\\ud800"', "line 1: a NUL, or half of a character"),
        ('a: "\\Uffffffff"', "a character or a version that does not exist"),
        ("%YAML 1." + "1" * 5000 + "\n---\na", "a character or a version that does not exist"),
        ("a: 1\n---\na: 2", "line 2: but found another document"),
    ],
)
def test_what_is_wrong_is_told_in_one_short_line(text: str, complaint: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_yaml(text)

    assert str(caught.value).startswith(complaint)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
