"""A YAML loader for plain values: no tags of Python, no aliases of lists, no merge keys, limited in depth."""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable
from typing import Any

import yaml

DEEPEST = 32
"""Levels of lists and mappings within one another, in JSON and YAML; the files that we know have up to six."""

MOST_BITS = 128
"""Of a whole number. YAML has hexadecimal numbers of any length, and Python refuses to write out long ones."""

LONG_NUMBER = f"a number of more than {MOST_BITS} bits, which nothing here needs"

UNUSABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that a quoted text can spell, but that no file system and no encoding takes."""


class StrictLoader(yaml.SafeLoader):
    """Loads plain values, each written out where it stands. A repeated key is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        self._depth += 1
        if self._depth > DEEPEST:
            raise _make_error(f"more than {DEEPEST} levels within one another", event)
        node = super().compose_node(parent, index)
        # Ten lines of aliases of aliases would stand for a billion values, and one inside itself for no end of them.
        if isinstance(event, yaml.AliasEvent) and isinstance(node, yaml.CollectionNode):
            raise _make_error(f"*{event.anchor} stands for a list or a mapping: write it out", event)
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag == "tag:yaml.org,2002:merge":
            raise _make_error("<< takes keys from elsewhere: write them out", node)
        try:
            value = super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        # A date without such a day, a number without digits: PyYAML lets Python's own errors through.
        except Exception as error:
            if _is_long_number(node):
                raise _make_error(LONG_NUMBER, node) from error
            raise _make_error(f"'{str(node.value)[:60]}' is no {node.tag.rpartition(':')[2]}", node) from error
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise _make_error(LONG_NUMBER, node)
        if isinstance(value, str) and UNUSABLE.search(value):
            raise _make_error("a NUL, or half of a character, which no name and no path can have", node)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        # A list or a text with the tag of a mapping has no pairs; the class above refuses it.
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _make_error("a key that is a list or a mapping: it should be a name", key_node)
            if key in keys:
                raise _make_error(f"the key '{key}' is there twice", key_node)
            keys.add(key)
        return super().construct_mapping(node, deep)


def _is_long_number(node: yaml.Node) -> bool:
    """Whether it is a whole number with more digits than Python reads."""
    return node.tag == "tag:yaml.org,2002:int" and len(str(node.value)) > sys.get_int_max_str_digits()


def _make_error(problem: str, place: yaml.Node | yaml.Event) -> yaml.MarkedYAMLError:
    mark: Any = place.start_mark
    return yaml.constructor.ConstructorError(None, None, problem, mark)
