"""Ways to damage a file: blindly, byte by byte, or by someone who knows its form. One generator draws everything."""

from __future__ import annotations

import gzip
import io
import json
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from random import Random
from typing import Any

import yaml

Content = bytes | str | None
"""What is at a path: the bytes of a file, the target of a link, or, None, a folder."""

Files = dict[str, Content]
"""Path -> what is there."""

Mutation = Callable[[bytes, Random], bytes]

INTERESTING = tuple(
    value.to_bytes(size, order)
    for size in (1, 2, 4, 8)
    for bits in (8 * size - 1, 8 * size)
    for value in (0, 1, 2**bits - 1, 2 ** (bits - 1), 100 % 2**bits)
    for order in ("big", "little")
)
"""Numbers at the edges of what a header can hold."""

DEEP = 20_000
LONG = 200_000

ODD_JSON = (
    "null", "true", "false", "0", "-0.0", "-1", "1", "0.5", "1e308", "-1e308", "1e-320", "1e999", "NaN", "Infinity",
    "-Infinity", str(2**31), str(2**63), str(-(2**63) - 1), "1" + "0" * 400, "9" * 5000, '""', '" "', '"0"', '"mug"',
    '"\\u0000"', '"a\\nb"', '"\\r\\u001b[31m"', '"\\ud800"', '"\\udc80.png"', '"\\u2028"', '"\\u202e"',
    '"<script>alert(1)</script>"', '"../../../etc/passwd"', '"/dev/zero"', '"."', '".."', '"images/"', '"a\\\\b"',
    '"http://[::1"', '"step_00001"', '"%s%n"', '"' + "a" * LONG + '"', '"' + "a/" * 3000 + '"',
    "[]", "{}", "[1, 2]", "[[]]", "[1, 2, 3, 4]", "[NaN, 0, 1, 1]", '{"id": 1}', '{"": null}', '[null, true, "x"]',
    "[" * DEEP + "]" * DEEP, '{"a": ' * DEEP + "1" + "}" * DEEP, "[" + ", ".join(["0"] * 20_000) + "]",
)  # fmt: skip
"""Values that nobody expects, as they stand in a file."""

ODD_YAML = (
    *ODD_JSON, "~", "yes", ".nan", ".inf", "1_000", "0x", "0xfffffffffffffffffff", "0o8", "190:20:30", "2001-99-99",
    "2001-01-01", "2001-02-30T25:61:61Z", "!!int x", "!!float x", "!!binary x", "!!timestamp x", "!!set [1]",
    "!!omap [1]", "!!pairs [1]", "!!null x", "!!bool x", "!!str [1]", "!!map [1]", "!!seq {a: 1}", "!!python/none x",
    "!!python/object/apply:os.getcwd []", "!!python/name:os.system", "!x y", "*nowhere", "&a [*a]", "&a {b: *a}",
    "{[1]: 2}", "{{a: 1}: 2}", "{<<: 1}", "{<<: [1]}", "{<<: {seed: 3}}", "? [1]\n: 2", "{a: 1, a: 2}", "{1: 2}",
    "{null: 1}", "{true: 1}", "{.nan: 1}", "@", "`", "%", "'", "|", ">", "- -", ": :", "---", "...", "\t", "#",
    "[&a [1, 1, 1, 1, 1, 1, 1, 1, 1]"
    + "".join(f", &{two} [{', '.join(['*' + one] * 9)}]" for one, two in zip("abcdefghi", "bcdefghij", strict=True))
    + "]",
    "oak", "module:Class", "os:system", ":", "a.b:C", "..x:y", "\\x00:y", "leocod.types:Frame", "icarl", "x" * 5000,
)  # fmt: skip

ODD_NAMES = (
    "new\nline.png", "\udcff.png", "x" * 200 + ".png", "0.jpg", "frame.png", "labels_1.json", "labels_x.json",
    "train_anno1.csv", "train_annox.csv", "train_anno\n.csv",
    "EgoObjects\n_train.json", "EgoObjects_more_train.json", "mapping.json", "<b>.png", "9" * 100 + ".png",
)  # fmt: skip
"""What a file may be called all at once."""


def mutated(files: Files, random: Random) -> Files:
    """The same files with one or a few things wrong."""
    result = dict(files)
    times = 1
    while times < 6 and random.random() < 0.4:
        times += 1
    for _ in range(times):
        if random.random() < 0.06:
            _rearrange(result, random)
            continue
        paths = sorted(path for path, content in result.items() if isinstance(content, bytes))
        if not paths:
            return result
        # The few files that tell of all the others are worth more than one of many pictures.
        weights = [4 if PurePosixPath(path).suffix in TELLING else 1 for path in paths]
        path = random.choices(paths, weights)[0]
        content = result[path]
        assert isinstance(content, bytes)
        result[path] = _mutation(PurePosixPath(path).suffix, random)(content, random)
    return result


def _mutation(suffix: str, random: Random) -> Mutation:
    knowing = KNOWING.get(suffix)
    return knowing if knowing is not None and random.random() < 0.75 else mutated_bytes


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """Without any knowledge of what is in it."""
    return random.choice(BLIND)(data, random)


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(data: bytes, random: Random) -> bytes:
    value = random.choice(INTERESTING)
    place = random.randrange(max(1, len(data) - len(value) + 1))
    return data[:place] + value + data[place + len(value) :]


def _insert(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.choice((1, 2, 4, 16, 300))) + data[place:]


def _delete(data: bytes, random: Random) -> bytes:
    first, last = _range(data, random)
    return data[:first] + data[last:]


def _repeat(data: bytes, random: Random) -> bytes:
    first, last = _range(data, random)
    return data[:last] + data[first:last] * random.choice((1, 2, 50)) + data[last:]


def _splice(data: bytes, random: Random) -> bytes:
    (first, last), place = _range(data, random), random.randrange(len(data) + 1)
    return data[:place] + data[first:last] + data[place + last - first :]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _range(data: bytes, random: Random) -> tuple[int, int]:
    first = random.randrange(len(data) + 1)
    return first, min(len(data), first + random.choice((1, 2, 4, 8, 32, 256)))


BLIND: tuple[Mutation, ...] = (_flip, _flip, _overwrite, _overwrite, _insert, _delete, _repeat, _splice, _truncate)


class Raw(str):
    """A value as it is to stand in the file."""


class Pairs(list[list[Any]]):
    """An object of JSON: its keys may be there twice."""


def mutated_json(data: bytes, random: Random, odd: tuple[str, ...] = ODD_JSON) -> bytes:
    """A value replaced, removed, repeated or exchanged for another one."""
    try:
        tree = [json.loads(data, object_pairs_hook=lambda pairs: Pairs(map(list, pairs)))]
    except (ValueError, RecursionError):
        return mutated_bytes(data, random)
    return _written(_changed(tree, random, odd)[0]).encode("utf-8", "surrogatepass")


def mutated_yaml(data: bytes, random: Random) -> bytes:
    """As with JSON, whose form is YAML too."""
    # Aliases of aliases, written out, would have no end.
    if b"&" in data:
        return mutated_bytes(data, random)
    try:
        tree = [_as_pairs(yaml.safe_load(data))]
    # Whatever it was that the last mutation put there.
    except Exception:
        return mutated_bytes(data, random)
    return _written(_changed(tree, random, ODD_YAML)[0]).encode("utf-8", "surrogatepass")


def _changed(tree: list[Any], random: Random, odd: tuple[str, ...]) -> list[Any]:
    """In place; the tree is the only member of a list, so that it can be replaced as a whole."""
    holder, key = random.choice(_places(tree))
    value = holder[key]
    act = random.choice(("replace", "replace", "replace", "remove", "repeat", "exchange", "wrap", "rename"))
    if act == "replace":
        holder[key] = Raw(random.choice(odd))
    elif act == "remove" and isinstance(value, list) and value:
        del value[random.randrange(len(value))]
    elif act == "repeat" and isinstance(value, list) and value:
        value += [random.choice(value)] * random.choice((1, 1, 3, 40))
    elif act == "exchange":
        other, place = random.choice(_places(tree))
        holder[key] = Raw(_written(other[place]))
    elif act == "wrap":
        holder[key] = [value]
    elif act == "rename" and isinstance(value, Pairs) and value:
        random.choice(value)[0] = random.choice(("id", "name", "", "labelled", "step", "\x00", "\ud800", "x" * 300))
    return tree


def _places(tree: list[Any]) -> list[tuple[list[Any], int]]:
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


def _written(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {_written(one)}" for key, one in value) + "}"
    return "[" + ", ".join(map(_written, value)) + "]" if isinstance(value, list) else json.dumps(value, default=str)


def _as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs([str(key), _as_pairs(one)] for key, one in value.items())
    return [_as_pairs(one) for one in value] if isinstance(value, list) else value


def mutated_lines(data: bytes, random: Random) -> bytes:
    """A line or a value between separators replaced, removed, repeated or exchanged."""
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


def mutated_png(data: bytes, random: Random) -> bytes:
    """A chunk with something wrong in it, under a checksum that is right."""
    chunks, place = [], 8
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    if not chunks:
        return mutated_bytes(data, random)
    number = random.randrange(len(chunks))
    kind, content = chunks[number]
    chunks[number] = kind, mutated_bytes(content, random)
    if random.random() < 0.2:
        other = random.choice(
            (b"tRNS", b"PLTE", b"eXIf", b"acTL", b"fcTL", b"fdAT", b"iCCP", b"zTXt", b"IDAT", b"IHDR")
        )
        chunks.insert(random.randrange(len(chunks)), (other, content))
    checked = (len(content).to_bytes(4, "big") + kind + content + _crc(kind + content) for kind, content in chunks)
    return data[:8] + b"".join(checked)


def _crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


def mutated_pickle(data: bytes, random: Random) -> bytes:
    """An operation removed, repeated, moved, replaced by another one, or with another number to it."""
    try:
        starts = [place or 0 for _, _, place in pickletools.genops(data)]
    # Whatever it was that the last mutation put there.
    except Exception:
        return mutated_bytes(data, random)
    operations = [data[first:last] for first, last in zip(starts, [*starts[1:], len(data)], strict=True)]
    number = random.randrange(len(operations))
    act = random.choice(("remove", "repeat", "exchange", "insert", "number", "number"))
    if act == "remove":
        del operations[number]
    elif act == "repeat":
        operations[number:number] = [operations[number]] * random.choice((1, 2, 3000))
    elif act == "exchange":
        other = random.randrange(len(operations))
        operations[number], operations[other] = operations[other], operations[number]
    elif act == "insert":
        operations.insert(number, random.choice(ODD_OPERATIONS))
    else:
        numbers = [place for place, one in enumerate(operations) if one[:1] in b"KMJ\x8aIL"] or [number]
        operations[random.choice(numbers)] = _number(random)
    return b"".join(operations)


def _number(random: Random) -> bytes:
    value = random.choice((0, 1, 2, -1, 3, 4, 255, 65536, 2**31 - 1, 2**31, 2**40, 2**62, 2**63, -(2**63), 10**30))
    size = (value.bit_length() + 8) // 8
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


ODD_OPERATIONS = (
    b".", b"0", b"2", b"(", b"N", b"]", b"}", b")", b"t", b"\x85", b"\x86", b"\x87", b"a", b"e", b"s", b"u", b"R",
    b"b", b"\x81", b"Q", b"h\x00", b"h\xff", b"q\x00", b"r\xff\xff\xff\x7f", b"\x94", b"\x8c\x01x",
    b"B\xff\xff\xff\x7f",
    b"X\xff\xff\xff\xff", b"\x8e" + b"\xff" * 8, b"G" + struct.pack(">d", float("nan")), b"\x88", b"I01\n", b"Lx\n",
    b"cos\nsystem\n", b"cbuiltins\neval\n", b"cbuiltins\nbytearray\n", b"cbuiltins\nset\n", b"ccollections\nCounter\n",
    b"ctorch\nTensor\n", b"ctorch\nSize\n", b"ctorch\ndevice\n", b"ctorch._utils\n_rebuild_sparse_tensor\n",
    b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n", b"ctorch._utils\n_rebuild_parameter\n",
    b"ctorch\nLongStorage\n", b"ctorch\nComplexDoubleStorage\n", b"ctorch\nHalfStorage\n",
    b"cnumpy\nndarray\n", b"ccollections\nOrderedDict\n",
    b"(K\x01K\x02t", b"(K\xffd", b"cbuiltins\nbytearray\n\x8a\x06\x00\x00\x00\x00\x00\x01\x85R",
    b"ctorch\nTensor\n\x8a\x06\x00\x00\x00\x00\x00\x01\x85R",
)  # fmt: skip


def mutated_torch(data: bytes, random: Random) -> bytes:
    """A member of the archive with something wrong in it, in an archive that is right; or its program, if bare."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = {one.filename: archive.read(one) for one in archive.infolist() if one.file_size < 10 * len(data)}
        program = next(name for name in members if name.endswith("data.pkl"))
    # Whatever it was that the last mutation put there.
    except Exception:
        return mutated_pickle(data, random)
    if random.random() < 0.8:
        members[program] = mutated_pickle(members[program], random)
    elif random.random() < 0.3:
        del members[random.choice(list(members))]
    else:
        name = random.choice(list(members))
        members[name] = mutated_bytes(members[name], random)
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", random.choice((0, 0, 0, 0, 0, zipfile.ZIP_DEFLATED))) as out:
        for name, content in members.items():
            out.writestr(zipfile.ZipInfo(name), content, out.compression)
    return result.getvalue()


def mutated_safetensors(data: bytes, random: Random) -> bytes:
    """Something wrong in the header, with its length put right."""
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length]
    if not header:
        return mutated_bytes(data, random)
    kinds = tuple(f'"{name}"' for name in ("F4", "F8_E4M3", "F8_E8M0", "C64", "I8", "BOOL", "U64", "BF16", "F64"))
    shapes = ("[1, 1, 1]", "[0]", f"[{2**40}, 0]", f"[{2**63}]", "[4294967296, 4294967296]", "[0, 0]", "[16, 0]")
    changed = mutated_json(header, random, (*ODD_JSON, *kinds, *kinds, *shapes, *shapes))
    return len(changed).to_bytes(8, "little") + changed + data[8 + length :]


def mutated_events(data: bytes, random: Random) -> bytes:
    """A line of JSON among others with something wrong in it, or the lines in disorder."""
    if random.random() < 0.3:
        return mutated_lines(data, random)
    lines = data.split(b"\n")
    number = random.randrange(len(lines))
    lines[number] = mutated_json(lines[number], random)
    return b"\n".join(lines)


def mutated_packed(data: bytes, random: Random) -> bytes:
    """The same, packed."""
    try:
        return gzip.compress(mutated_events(gzip.decompress(data), random))
    # Whatever it was that the last mutation put there.
    except Exception:
        return mutated_bytes(data, random)


def _rearrange(files: Files, random: Random) -> None:
    """A file gone, under another name, exchanged, emptied, a folder or a link in its place."""
    path, other = (random.choice(sorted(files)) for _ in range(2))
    act = random.choice(("remove", "rename", "copy", "exchange", "empty", "folder", "link"))
    if act == "remove" and len(files) > 1:
        del files[path]
    elif act in ("rename", "copy"):
        content = files[path] if act == "copy" or len(files) == 1 else files.pop(path)
        files[str(PurePosixPath(path).parent / random.choice(ODD_NAMES))] = content
    elif act == "exchange":
        files[path], files[other] = files[other], files[path]
    elif act == "empty":
        files[path] = b""
    elif act == "folder":
        files[path] = None
    elif act == "link":
        files[path] = random.choice(("/etc/hostname", "nowhere", PurePosixPath(path).name, "..", "/dev/zero"))


KNOWING: dict[str, Mutation] = {
    ".json": mutated_json,
    ".yaml": mutated_yaml,
    ".csv": mutated_lines,
    ".txt": mutated_lines,
    ".png": mutated_png,
    ".pkl": mutated_pickle,
    ".pth": mutated_torch,
    ".pt": mutated_torch,
    ".jsonl": mutated_events,
    ".gz": mutated_packed,
    ".safetensors": mutated_safetensors,
}
"""By ending, who knows the form."""

TELLING = {".json", ".yaml", ".csv"}
