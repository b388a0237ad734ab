"""Reads arrays from a pickle of unknown origin.

A pickle is a program. Here it may build numbers, texts, lists, tuples, dicts and numpy arrays. Whatever it asks for by
name, it gets a stand-in from this file and never the real object: numpy's own `__setstate__` trusts its input.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leocod.errors import InvalidData
from leocod.text import one_line

LARGEST_FILE = 2 << 30
"""Bytes. The paper's file has 0.14 GB, Detectron2's largest about 0.6."""
MOST_OPERATIONS = 200_000
"""The 275 arrays of an R50-C4 take 4,000 to 9,000, by the pickle's protocol."""

OPERATIONS = frozenset(
    {
        "PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK",
        "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET",
        "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4",
        "FLOAT", "BINFLOAT",
        "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
        "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
        "EMPTY_LIST", "APPEND", "APPENDS", "LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
        "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD",
    }
)  # fmt: skip
"""What a pickle of arrays does. Other ways to make objects, extension codes and persistent ids are not allowed."""

NUMBERS = frozenset({"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
"""What an array may hold. Objects ("O8") would be pickles within the pickle."""

_DAMAGE = (
    pickle.UnpicklingError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, OverflowError,
    MemoryError, RecursionError, Warning,
)  # fmt: skip
"""What an unpickler may raise for a damaged file."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a pickle, by name: {name: array}, or {"model": {name: array}, ...} as Detectron2 writes it."""
    named = one_line(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InvalidData(f"{named} has {path.stat().st_size} bytes: at most {LARGEST_FILE} are read.")
        data = path.read_bytes()
    except OSError as error:
        raise InvalidData(f"{named} cannot be read ({error.strerror}). Check `detector.weights`.") from error
    try:
        # Python only warns of odd texts in damaged pickles; here they are errors.
        with warnings.catch_warnings(action="error"):
            _check_operations(data)
            return _collect_arrays(_Unpickler(data).load(), most=len(data))
    except _Refused as refusal:
        raise InvalidData(f"{named} is refused, and nothing in it was run: {one_line(refusal, 300)}.") from refusal
    except _DAMAGE as error:
        raise InvalidData(f"{named} is not a whole pickle ({_describe(error)}). Download it again.") from error


class _Refused(Exception):
    """The file contains something that a pickle of arrays does not need."""


def _check_operations(data: bytes) -> None:
    """Check the operations without running them. This comes first: one large memo number would fill the memory."""
    for number, (operation, argument, _) in enumerate(pickletools.genops(io.BytesIO(data))):
        if operation.name not in OPERATIONS:
            raise _Refused(f"its pickle uses {operation.name}, which arrays do not need")
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and not 0 <= int(argument or 0) <= number:
            raise _Refused(f"its pickle remembers value {argument} before it has made as many")
        if number >= MOST_OPERATIONS:
            raise _Refused(f"its pickle has more than {MOST_OPERATIONS} operations")


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes) -> None:
        # Texts of Python 2 are bytes; read as latin1, every byte is kept.
        super().__init__(io.BytesIO(data), encoding="latin1")
        self._bytes_left = len(data)

    def find_class(self, module: str, name: str) -> Any:
        module = module.replace("numpy.core", "numpy._core")
        known: dict[tuple[str, str], Callable[..., Any]] = {
            ("numpy._core.multiarray", "_reconstruct"): lambda *_: _Array(),
            ("numpy", "ndarray"): _refuse_call,
            ("numpy", "dtype"): lambda code, *_: _NumberType(code),
            ("numpy._core.multiarray", "scalar"): lambda kind, raw: _Array((), kind, raw),
            ("numpy._core.numeric", "_frombuffer"): _from_buffer,
            ("_codecs", "encode"): self._encode,
            ("builtins", "bytes"): lambda: b"",
            ("__builtin__", "bytes"): lambda: b"",
            ("collections", "OrderedDict"): _make_dict,
        }
        if (module, name) not in known:
            raise _Refused(f"its pickle asks for {module}.{name}, which arrays do not need")
        return _StandIn(known[module, name])

    def _encode(self, text: str, encoding: str) -> bytes:
        """Protocol 2 writes bytes as encoded texts. Their total is limited: one short text, encoded again and again,
        would fill the memory."""
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise _Refused(f"its pickle asks to encode a text as {encoding!r}; bytes come as latin1")
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            raise _Refused("its pickle makes more bytes than the file has")
        return text.encode("latin1")


class _StandIn:
    """Answers a call in place of what the pickle asked for. It has no state that the pickle could set."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise _Refused("its pickle changes a function")


class _NumberType:
    """Stands for numpy.dtype, as far as numbers need it."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        plain = code.lstrip("<>=|") if isinstance(code, str) else ""
        if plain not in NUMBERS:
            raise _Refused(f"it has an array of {code!r}, which are not numbers")
        self.code = plain
        self.order = ">" if code.startswith(">") else "<"

    def __setstate__(self, state: Any) -> None:
        """(version, byte order, subtype, names, fields, size, alignment, flags)."""
        _, order, subtype, names, fields, *_ = state
        if order not in ("<", ">", "|", "=") or (subtype, names, fields) != (None, None, None):
            raise _Refused("it has an array of records, which are not numbers")
        self.order = ">" if order == ">" else "<"

    def to_numpy(self) -> np.dtype[Any]:
        return np.dtype(f"{self.order}{self.code}")


class _Array:
    """Stands for numpy.ndarray, which is made when all is read and only if shape, type and bytes fit."""

    __slots__ = ("fortran", "kind", "raw", "shape")

    def __init__(self, shape: Any = None, kind: Any = None, raw: Any = None, *, fortran: bool = False) -> None:
        self.shape, self.kind, self.raw, self.fortran = shape, kind, raw, fortran

    def __setstate__(self, state: Any) -> None:
        """(version, shape, dtype, whether the first axis is the fastest, bytes)."""
        *_, self.shape, self.kind, fortran, self.raw = state
        self.fortran = bool(fortran)

    @property
    def size(self) -> int:
        """Bytes, as numpy would hold it."""
        shape, raw = self.shape, self.raw
        whole = isinstance(shape, tuple) and all(isinstance(length, int) and length >= 0 for length in shape)
        if not whole or not isinstance(self.kind, _NumberType) or not isinstance(raw, bytes | bytearray | str):
            raise _Refused("it has an array without a shape, a type or bytes")
        needed: int = math.prod(shape) * self.kind.to_numpy().itemsize
        if needed != len(raw):
            raise _Refused(f"it has an array of shape {shape} with {len(raw)} bytes")
        return needed

    def to_numpy(self) -> NDArray[Any]:
        form = self.kind.to_numpy()
        raw = self.raw.encode("latin1") if isinstance(self.raw, str) else self.raw
        flat = np.frombuffer(raw, dtype=form).astype(form.newbyteorder("="), copy=False)
        return flat.reshape(self.shape, order="F" if self.fortran else "C")


def _from_buffer(buffer: Any, kind: Any, shape: Any, order: Any, *_: Any) -> _Array:
    if order not in ("C", "F"):
        raise _Refused(f"it has an array in the unknown order {order!r}")
    return _Array(shape, kind, buffer, fortran=order == "F")


def _make_dict() -> dict[Any, Any]:
    """Takes no content: copies of existing content would cost the file nothing."""
    return {}


def _refuse_call(*_: Any) -> Any:
    raise _Refused("its pickle calls numpy.ndarray")


def _collect_arrays(content: Any, *, most: int) -> dict[str, NDArray[Any]]:
    model = content.get("model", content) if isinstance(content, dict) else None
    if not isinstance(model, dict) or not model:
        raise _Refused("it holds no dict of arrays, nor one under 'model', as a file of Detectron2 does")
    strangers = [name for name, value in model.items() if not isinstance(name, str) or not isinstance(value, _Array)]
    if strangers:
        raise _Refused(f"it holds {str(strangers[0])[:80]!r}, which is not an array")
    # One array under many names costs the file nothing.
    if sum(value.size for value in model.values()) > most:
        raise _Refused("its arrays have more bytes than the file")
    return {name: value.to_numpy() for name, value in model.items()}


def _describe(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no details'}", 200)
