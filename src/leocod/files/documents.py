"""YAML files that anyone may have written: plain values, or one line about what is wrong. Nothing in them is run."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from leocod.errors import InvalidConfig
from leocod.text import one_line

LARGEST = 1_000_000
"""Bytes of the largest file that is read; a config has a few thousand."""

DEEPEST = 32
"""Levels of lists and mappings within one another; a config has four or five."""

MOST_BITS = 128
"""Of a whole number. Python takes very long to write out one of many thousand digits, and then refuses."""

UNUSABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that a text in quotes can spell, but that no file system and no encoding takes."""


def read_yaml(file: Path) -> dict[str, Any]:
    """What a YAML file says, key by key; nothing for an empty one."""
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
        text = content.decode("utf-8")
    except FileNotFoundError as error:
        raise InvalidConfig(f"No config file '{one_line(file)}'.") from error
    except (OSError, ValueError) as error:
        reason = one_line(getattr(error, "strerror", None) or error)
        raise InvalidConfig(f"{one_line(file)} cannot be read as a text file ({reason}).") from error
    if len(content) > LARGEST:
        raise InvalidConfig(f"{one_line(file)} has more than {LARGEST} bytes. Is it a config? Make it shorter.")
    return parse_mapping(text, one_line(file))


def parse_mapping(text: str, source: str) -> dict[str, Any]:
    """What a YAML text says, key by key; `source` is what a complaint calls it."""
    try:
        content = parse_yaml(text)
    except InvalidConfig as error:
        raise InvalidConfig(f"{source} is not valid YAML: {error}.") from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InvalidConfig(f"{source} must hold keys with values, such as 'seed: 0'.")
    return content


def parse_yaml(text: str) -> Any:
    """The value that a YAML text stands for; an InvalidConfig tells the line and why there is none, and no more."""
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = one_line(getattr(error, "problem", None) or str(error).splitlines()[0])[:200]
        raise InvalidConfig(f"line {mark.line + 1}: {problem}" if mark else problem) from error
    # An escape such as "\\Uffffffff", or a version of YAML with thousands of digits.
    except (ValueError, OverflowError) as error:
        raise InvalidConfig("a character or a version that does not exist") from error


class _StrictLoader(yaml.SafeLoader):
    """Plain values only, each written out where it stands; a key given twice is a mistake, not a choice."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        self._depth += 1
        if self._depth > DEEPEST:
            raise _mistake(f"more than {DEEPEST} levels within one another", event)
        node = super().compose_node(parent, index)
        # Ten lines of aliases of aliases would stand for a billion values, and one inside itself for no end of them.
        if isinstance(event, yaml.AliasEvent) and isinstance(node, yaml.CollectionNode):
            raise _mistake(f"*{event.anchor} stands for a list or a mapping: write it out", event)
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag == "tag:yaml.org,2002:merge":
            raise _mistake("<< takes keys from elsewhere: write them out", node)
        try:
            value = super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        # A date without such a day, a number without digits: PyYAML lets through whatever Python says to it.
        except Exception as error:
            raise _mistake(f"'{str(node.value)[:60]}' is no {node.tag.rpartition(':')[2]}", node) from error
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise _mistake(f"a number of more than {MOST_BITS} bits", node)
        if isinstance(value, str) and UNUSABLE.search(value):
            raise _mistake("a NUL, or half of a character, which no name and no path can have", node)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        # A list or a text that is called a mapping has no pairs; the class above says so.
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _mistake("a key that is a list or a mapping: it should be a name", key_node)
            if key in seen:
                raise _mistake(f"the key '{key}' is there twice", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _mistake(problem: str, place: yaml.Node | yaml.Event) -> yaml.MarkedYAMLError:
    mark: Any = place.start_mark
    return yaml.constructor.ConstructorError(None, None, problem, mark)
