"""Examples of docstrings as code: without a fence, Markdown reads `>>>` as quotations and lists as links."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", flags=re.MULTILINE | re.DOTALL)


class FenceExamples(griffe.Extension):
    """Puts a fence around each doctest."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for every module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = fence_examples(obj.docstring.value)


def fence_examples(text: str) -> str:
    """The text with each doctest in a fence."""
    return EXAMPLE.sub(lambda match: f"```python\n{match[0]}\n```", text)
