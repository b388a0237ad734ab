"""Damage that knows nothing of what is in a file: bytes are changed, inserted, removed, repeated."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Mutation = Callable[[bytes, Random], bytes]

INTERESTING = tuple(
    value.to_bytes(size, order)
    for size in (1, 2, 4, 8)
    for bits in (8 * size - 1, 8 * size)
    for value in (0, 1, 2**bits - 1, 2 ** (bits - 1), 100 % 2**bits)
    for order in ("big", "little")
)
"""Numbers at the edges of what a header can hold."""


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """Damage bytes without any knowledge of what they are."""
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
