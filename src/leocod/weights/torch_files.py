"""Files of `torch.save`, or that claim to be: tensors and plain values, checked before and after torch reads them.

`torch.load` with `weights_only` runs nothing that a file asks for. It still lets a file of a few bytes ask for any
amount of memory: a compressed archive, a `bytearray` of any length, one number viewed as a tensor of any size.
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
"""Operations of the pickle that describes the tensors: about 25 for each."""

MOST_VIEWS = 4
"""How many times over the bytes of a file may be used by its tensors: two learners may share theirs."""

FEW_BYTES = 1 << 30
"""Tensors up to this size are accepted, however small their file."""

NAMES = frozenset(
    {
        "collections OrderedDict", "torch._utils _rebuild_tensor", "torch._utils _rebuild_tensor_v2",
        "torch._utils _rebuild_parameter", "torch.nn.parameter Parameter", "torch Size", "torch device",
        "_codecs encode", "builtins set", "__builtin__ set",
    }
)  # fmt: skip
"""What such a pickle asks for, besides torch's types of storages and numbers."""

NUMBERS = frozenset(
    {
        torch.float16, torch.bfloat16, torch.float32, torch.float64,
        torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool,
    }
)  # fmt: skip
"""What a tensor may hold."""

PICKLES_IN_OLD_FILES = 5
"""Pickles that follow each other in a file that is no archive: headers, the content, and where it is."""


def load_tensors(path: Path) -> dict[str, Any]:
    """Read a file that `torch.save` wrote: tensors and plain values. Anything else is refused, not run."""
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
    # A damaged or forged file raises many kinds of errors in zipfile, pickletools and torch.
    except Exception as error:
        reason = one_line((str(error).splitlines() or [""])[0], 200)
        raise InvalidData(f"{named} cannot be read as tensors ({type(error).__name__}: {reason}).") from error
    return content


class _Refused(Exception):
    """The file contains something that a file of tensors does not need."""


def explain_unusable(tensor: Tensor) -> str | None:
    """Why a tensor cannot be weights, whatever its shape; None when it can."""
    if type(tensor) not in (Tensor, nn.Parameter) or tensor.layout != torch.strided or tensor.device.type != "cpu":
        return "is not a plain tensor"
    return None if tensor.dtype in NUMBERS else f"holds {str(tensor.dtype).removeprefix('torch.')}, no plain numbers"


def _check_program(path: Path) -> None:
    """Check what the pickle asks for, without running it."""
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            for _ in range(PICKLES_IN_OLD_FILES):
                _check_names(file)
            return
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise _Refused("it is compressed, which torch does not do")
            if len({member.filename for member in members}) < len(members):
                raise _Refused("two of its members have the same name")
            if sum(member.file_size for member in members) > path.stat().st_size:
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
        # Torch writes a name with the operation that uses it; newer pickles take it from the texts before.
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
    total = 0
    for name, tensor in _walk_tensors(content):
        if reason := explain_unusable(tensor):
            raise _Refused(f"tensor '{one_line(name, 100)}' {reason}")
        total += tensor.nbytes
        if total > max(MOST_VIEWS * size, FEW_BYTES):
            raise _Refused("its tensors have many times more numbers than the file")


def _walk_tensors(content: dict[Any, Any]) -> Iterator[tuple[Any, Tensor]]:
    """All tensors, however deep, each with the key that leads to it."""
    waiting: list[tuple[Any, Any]] = list(content.items())
    visited: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, dict | list | tuple | set) and id(value) not in visited:
            visited.add(id(value))
            waiting += value.items() if isinstance(value, dict) else ((name, item) for item in value)
