"""Files that `torch.save` wrote, or that say so: tensors and plain values, checked before and after torch reads them.

`torch.load` runs nothing that a file asks for when it is told to take weights only. It still lets a file of a few bytes
ask for any amount of memory: a compressed archive, a `bytearray` of any length, one number seen as a tensor of any
size.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor, nn

from leocod.errors import InvalidData
from leocod.files.paths import explain_absence
from leocod.text import one_line

LARGEST_FILE = 16 << 30
"""Bytes. A checkpoint of a large detector with its optimizer and its memory has about one GB."""

MOST_OPERATIONS = 5_000_000
"""Of the pickle that tells what the tensors are: about 25 for each."""

MOST_VIEWS = 4
"""How often over the bytes of a file may be seen in its tensors: those of two learners may be the same ones."""

FEW_BYTES = 1 << 30
"""Of tensors that nobody minds, however small their file."""

NAMES = frozenset(
    {
        "collections OrderedDict", "torch._utils _rebuild_tensor", "torch._utils _rebuild_tensor_v2",
        "torch._utils _rebuild_parameter", "torch.nn.parameter Parameter", "torch Size", "torch device",
        "_codecs encode", "builtins set", "__builtin__ set",
    }
)  # fmt: skip
"""What such a pickle asks for, besides the kinds of storages and numbers of torch."""

NUMBERS = frozenset(
    {
        torch.float16, torch.bfloat16, torch.float32, torch.float64,
        torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool,
    }
)  # fmt: skip
"""What a tensor may hold: numbers that every network can take."""

PICKLES_OF_OLD = 5
"""How many follow each other in a file that is no archive: marks, the content, and where it is."""


def load_tensors(path: Path) -> dict[str, Any]:
    """The content of a file that `torch.save` wrote: tensors and plain values. Anything else is refused, not run."""
    named = one_line(path)
    if absent := explain_absence(path):
        raise InvalidData(f"No weights file {named}: {absent}. Check `detector.weights`.")
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise InvalidData(f"{named} has {size} bytes: at most {LARGEST_FILE} are read.")
    try:
        _check_program(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(content, dict):
            raise _Refused(f"it holds a {type(content).__name__}, not a dict of tensors. Save its state dict")
        _check_tensors(content, size)
    except _Refused as refusal:
        raise InvalidData(f"{named} is refused, and nothing in it was run: {refusal}.") from refusal
    # A file can be damaged, or forged, in more ways than zipfile, pickletools and torch have errors for.
    except Exception as error:
        reason = one_line((str(error).splitlines() or [""])[0], 200)
        raise InvalidData(f"{named} cannot be read as tensors ({type(error).__name__}: {reason}).") from error
    return content


class _Refused(Exception):
    """Something that a file of tensors has no need of."""


def why_no_numbers(tensor: Tensor) -> str | None:
    """Why a tensor cannot be weights, whatever its shape; None when it can."""
    if type(tensor) not in (Tensor, nn.Parameter) or tensor.layout != torch.strided or tensor.device.type != "cpu":
        return "it is not a plain tensor"
    return None if tensor.dtype in NUMBERS else f"it holds {str(tensor.dtype).removeprefix('torch.')}, no plain numbers"


def _check_program(path: Path) -> None:
    """Read what the pickle asks for without doing it."""
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            for _ in range(PICKLES_OF_OLD):
                _check_names(file)
            return
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if any(one.compress_type != zipfile.ZIP_STORED for one in members):
                raise _Refused("it is compressed, which torch does not do")
            if len({one.filename for one in members}) < len(members):
                raise _Refused("two of its members have the same name")
            if sum(one.file_size for one in members) > path.stat().st_size:
                raise _Refused("its members have more bytes than the file")
            for member in members:
                if member.filename.endswith("data.pkl"):
                    with archive.open(member) as program:
                        _check_names(program)


def _check_names(program: IO[bytes]) -> None:
    texts: list[str] = []
    for number, (operation, argument, _) in enumerate(pickletools.genops(program)):
        if number >= MOST_OPERATIONS:
            raise _Refused(f"its pickle has more than {MOST_OPERATIONS} operations")
        if isinstance(argument, str) and operation.name != "GLOBAL":
            texts = [*texts[-1:], argument]
        # Torch writes names with what uses them; a newer pickle takes them from the texts before.
        name = argument if operation.name == "GLOBAL" else " ".join(texts) if operation.name == "STACK_GLOBAL" else None
        if name is not None and not _is_known(str(name)):
            raise _Refused(
                f"its pickle asks for {one_line(str(name).replace(' ', '.'), 100)}, which tensors do not need"
            )


def _is_known(name: str) -> bool:
    module, _, thing = name.partition(" ")
    of_torch = module in ("torch", "torch.storage", "torch.cuda") and thing.endswith("Storage")
    return name in NAMES or of_torch or (module == "torch" and isinstance(getattr(torch, thing, None), torch.dtype))


def _check_tensors(content: dict[Any, Any], size: int) -> None:
    seen = 0
    for name, tensor in _tensors(content):
        if wrong := why_no_numbers(tensor):
            raise _Refused(f"of '{one_line(name, 100)}', {wrong}")
        seen += tensor.nbytes
        if seen > max(MOST_VIEWS * size, FEW_BYTES):
            raise _Refused("its tensors have many times more numbers than the file")


def _tensors(content: dict[Any, Any]) -> Iterator[tuple[Any, Tensor]]:
    """All of them, however deep, each with the key that leads to it."""
    waiting: list[tuple[Any, Any]] = list(content.items())
    met: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, dict | list | tuple | set) and id(value) not in met:
            met.add(id(value))
            waiting += value.items() if isinstance(value, dict) else ((name, one) for one in value)
