"""Damage by somebody who knows JSON, YAML, XML and CSV: a value, key, tag or line is replaced, repeated or moved."""

from __future__ import annotations

import gzip
import json
import re
from random import Random
from typing import Any

import yaml
from byte_mutations import mutate_bytes
from odd_values import ODD_JSON, ODD_XML, ODD_YAML


class Raw(str):
    """A value that is written to the file as it is."""


class Pairs(list[list[Any]]):
    """An object of JSON; a key may be there twice."""


def mutate_json(data: bytes, random: Random, odd: tuple[str, ...] = ODD_JSON) -> bytes:
    """Replace, remove, repeat or exchange a value."""
    try:
        tree = [json.loads(data, object_pairs_hook=lambda pairs: Pairs(map(list, pairs)))]
    except (ValueError, RecursionError):
        return mutate_bytes(data, random)
    return _format(_change(tree, random, odd)[0]).encode("utf-8", "surrogatepass")


def mutate_yaml(data: bytes, random: Random) -> bytes:
    """Do the same as with JSON, which is YAML too."""
    # Aliases of aliases would fill the memory.
    if b"&" in data:
        return mutate_bytes(data, random)
    try:
        tree = [_make_pairs(yaml.safe_load(data))]
    # An earlier mutation may have put anything there.
    except Exception:
        return mutate_bytes(data, random)
    return _format(_change(tree, random, ODD_YAML)[0]).encode("utf-8", "surrogatepass")


def mutate_xml(data: bytes, random: Random) -> bytes:
    """Replace, remove, repeat or exchange a tag, an attribute, or the text between two; or put something before all."""
    parts = re.split(rb"(<[^>]*>)", data)
    number, other = (random.randrange(len(parts)) for _ in range(2))
    odd = random.choice((*ODD_XML, *ODD_JSON)).encode("utf-8", "surrogatepass")
    act = random.choice(
        ("replace", "replace", "replace", "remove", "repeat", "exchange", "rename", "before", "attribute")
    )
    if act == "attribute" and (values := re.findall(rb'="[^"]*"', parts[number])):
        parts[number] = parts[number].replace(random.choice(values), b'="' + odd.strip(b'"') + b'"')
    elif act == "replace":
        parts[number] = odd.strip(b'"')
    elif act == "remove":
        del parts[number]
    elif act == "repeat":
        end = min(len(parts), number + random.choice((1, 2, 5, 40)))
        parts[number:number] = parts[number:end] * random.choice((1, 1, 3, 500))
    elif act == "exchange":
        parts[number], parts[other] = parts[other], parts[number]
    elif act == "rename":
        # A tag and its end alike, so that the file stays XML.
        old, new = random.choice(re.findall(rb"</(\w+)>", data) or [b"?"]), random.choice((b"name", b"object", b"size"))
        return re.sub(rb"(</?)" + re.escape(old) + rb">", rb"\g<1>" + new + rb">", data)
    else:
        parts.insert(0, odd)
    return b"".join(parts)


def _change(tree: list[Any], random: Random, odd: tuple[str, ...]) -> list[Any]:
    """Change a tree in place; it is the only member of a list, so that it can be replaced as a whole."""
    holder, key = random.choice(_list_places(tree))
    value = holder[key]
    act = random.choice(("replace", "replace", "replace", "remove", "repeat", "exchange", "wrap", "rename"))
    if act == "replace":
        holder[key] = Raw(random.choice(odd))
    elif act == "remove" and isinstance(value, list) and value:
        del value[random.randrange(len(value))]
    elif act == "repeat" and isinstance(value, list) and value:
        value += [random.choice(value)] * random.choice((1, 1, 3, 40))
    elif act == "exchange":
        other, place = random.choice(_list_places(tree))
        holder[key] = Raw(_format(other[place]))
    elif act == "wrap":
        holder[key] = [value]
    elif act == "rename" and isinstance(value, Pairs) and value:
        random.choice(value)[0] = random.choice(("id", "name", "", "labelled", "step", "\x00", "\ud800", "x" * 300))
    return tree


def _list_places(tree: list[Any]) -> list[tuple[list[Any], int]]:
    found, waiting = [], [tree]
    while waiting:
        holder = waiting.pop()
        for number, value in enumerate(holder):
            if isinstance(holder, Pairs):
                found.append((value, 1))
                value = value[1]
            else:
                found.append((holder, number))
            if isinstance(value, list):
                waiting.append(value)
    return found


def _format(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {_format(one)}" for key, one in value) + "}"
    return "[" + ", ".join(map(_format, value)) + "]" if isinstance(value, list) else json.dumps(value, default=str)


def _make_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs([str(key), _make_pairs(one)] for key, one in value.items())
    return [_make_pairs(one) for one in value] if isinstance(value, list) else value


def mutate_lines(data: bytes, random: Random) -> bytes:
    """Replace, remove, repeat or exchange a line, or a value between separators."""
    lines = data.split(b"\n")
    number = random.randrange(len(lines))
    act = random.choice(("value", "value", "value", "remove", "repeat", "exchange", "quote"))
    if act == "value":
        cells = lines[number].replace(b"=", b",=,").split(b",")
        odd = random.choice(ODD_YAML).encode("utf-8", "surrogatepass")
        cells[random.randrange(len(cells))] = odd.strip(b'"') if random.random() < 0.5 else odd
        lines[number] = b",".join(cells).replace(b",=,", b"=")
    elif act == "remove":
        del lines[number]
    elif act == "repeat":
        lines[number:number] = [random.choice(lines)] * random.choice((1, 1, 500))
    elif act == "exchange":
        other = random.randrange(len(lines))
        lines[number], lines[other] = lines[other], lines[number]
    else:
        lines[number] = random.choice((b'"', b'""x', b"\x00", b"\r", b",,,", b"\xef\xbb\xbf")) + lines[number]
    return b"\n".join(lines)


def mutate_events(data: bytes, random: Random) -> bytes:
    """Damage one line of JSON among others, or the order of the lines."""
    if random.random() < 0.3:
        return mutate_lines(data, random)
    lines = data.split(b"\n")
    number = random.randrange(len(lines))
    lines[number] = mutate_json(lines[number], random)
    return b"\n".join(lines)


def mutate_packed(data: bytes, random: Random) -> bytes:
    """Do the same to a packed file."""
    try:
        return gzip.compress(mutate_events(gzip.decompress(data), random))
    # An earlier mutation may have put anything there.
    except Exception:
        return mutate_bytes(data, random)
