import pytest

pytest.importorskip("griffe", reason="The documentation site needs the extra: pip install 'leocod[docs]'")

from doctests import fence_examples


def test_an_example_is_fenced_and_the_text_around_it_is_not() -> None:
    text = fence_examples("What it does.\n\n>>> double(2)\n4\n\nMore.")

    assert text == "What it does.\n\n```python\n>>> double(2)\n4\n```\n\nMore."


def test_a_text_without_an_example_stays_as_it_is() -> None:
    assert fence_examples("a > b >>> c") == "a > b >>> c"
