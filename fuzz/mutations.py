"""Ways to damage files: blindly, byte by byte, or by somebody who knows their form. One generator draws everything."""

from __future__ import annotations

from pathlib import PurePosixPath
from random import Random

from binary_mutations import mutate_pickle, mutate_png, mutate_safetensors, mutate_torch
from byte_mutations import Mutation, mutate_bytes
from odd_values import ODD_NAMES
from text_mutations import mutate_events, mutate_json, mutate_lines, mutate_packed, mutate_xml, mutate_yaml

Content = bytes | str | None
"""What is at a path: the bytes of a file, the target of a link, or, None, a folder."""

Files = dict[str, Content]
"""Path -> what is there."""


def mutate(files: Files, random: Random) -> Files:
    """Return the same files with one or a few things wrong."""
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
        # The few files that describe the others count for more than one of many pictures.
        weights = [4 if PurePosixPath(path).suffix in LISTS else 1 for path in paths]
        path = random.choices(paths, weights)[0]
        content = result[path]
        assert isinstance(content, bytes)
        result[path] = _choose_mutation(PurePosixPath(path).suffix, random)(content, random)
    return result


def _choose_mutation(suffix: str, random: Random) -> Mutation:
    structured = BY_SUFFIX.get(suffix)
    return structured if structured is not None and random.random() < 0.75 else mutate_bytes


def _rearrange(files: Files, random: Random) -> None:
    """Remove, rename, exchange or empty a file, or put a folder or a link in its place."""
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


BY_SUFFIX: dict[str, Mutation] = {
    ".json": mutate_json,
    ".yaml": mutate_yaml,
    ".xml": mutate_xml,
    ".csv": mutate_lines,
    ".names": mutate_lines,
    ".txt": mutate_lines,
    ".png": mutate_png,
    ".pkl": mutate_pickle,
    ".pth": mutate_torch,
    ".pt": mutate_torch,
    ".jsonl": mutate_events,
    ".gz": mutate_packed,
    ".safetensors": mutate_safetensors,
}
"""The mutation that knows the form of a file, by the ending of its name."""

LISTS = {".json", ".yaml", ".csv", ".xml"}
