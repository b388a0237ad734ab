"""Damage by somebody who knows PNG, pickle, torch and safetensors: checksums and lengths are right again."""

from __future__ import annotations

import io
import pickletools
import struct
import zipfile
import zlib
from random import Random

from byte_mutations import mutate_bytes
from odd_values import ODD_JSON
from text_mutations import mutate_json


def mutate_png(data: bytes, random: Random) -> bytes:
    """Damage a chunk, and correct its checksum."""
    chunks, place = [], 8
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    if not chunks:
        return mutate_bytes(data, random)
    number = random.randrange(len(chunks))
    kind, content = chunks[number]
    chunks[number] = kind, mutate_bytes(content, random)
    if random.random() < 0.2:
        other = random.choice(
            (b"tRNS", b"PLTE", b"eXIf", b"acTL", b"fcTL", b"fdAT", b"iCCP", b"zTXt", b"IDAT", b"IHDR")
        )
        chunks.insert(random.randrange(len(chunks)), (other, content))
    checked = (len(content).to_bytes(4, "big") + kind + content + _crc(kind + content) for kind, content in chunks)
    return data[:8] + b"".join(checked)


def _crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


def mutate_pickle(data: bytes, random: Random) -> bytes:
    """Remove, repeat, move or insert an operation, or change its number."""
    try:
        starts = [place or 0 for _, _, place in pickletools.genops(data)]
    # An earlier mutation may have put anything there.
    except Exception:
        return mutate_bytes(data, random)
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


def mutate_torch(data: bytes, random: Random) -> bytes:
    """Damage a member of the archive, and write a right archive; or damage the program, where there is no archive."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = {one.filename: archive.read(one) for one in archive.infolist() if one.file_size < 10 * len(data)}
        program = next(name for name in members if name.endswith("data.pkl"))
    # An earlier mutation may have put anything there.
    except Exception:
        return mutate_pickle(data, random)
    if random.random() < 0.8:
        members[program] = mutate_pickle(members[program], random)
    elif random.random() < 0.3:
        del members[random.choice(list(members))]
    else:
        name = random.choice(list(members))
        members[name] = mutate_bytes(members[name], random)
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", random.choice((0, 0, 0, 0, 0, zipfile.ZIP_DEFLATED))) as out:
        for name, content in members.items():
            out.writestr(zipfile.ZipInfo(name), content, out.compression)
    return result.getvalue()


def mutate_safetensors(data: bytes, random: Random) -> bytes:
    """Damage the header, and correct its length."""
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length]
    if not header:
        return mutate_bytes(data, random)
    kinds = tuple(f'"{name}"' for name in ("F4", "F8_E4M3", "F8_E8M0", "C64", "I8", "BOOL", "U64", "BF16", "F64"))
    shapes = ("[1, 1, 1]", "[0]", f"[{2**40}, 0]", f"[{2**63}]", "[4294967296, 4294967296]", "[0, 0]", "[16, 0]")
    changed = mutate_json(header, random, (*ODD_JSON, *kinds, *kinds, *shapes, *shapes))
    return len(changed).to_bytes(8, "little") + changed + data[8 + length :]
