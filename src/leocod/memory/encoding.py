"""How the memory stores pixels: as they are, or as JPEG."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

import numpy as np
from PIL import Image as PillowImage

from leocod.errors import InvalidConfig, InvalidFrame
from leocod.files.images import LARGEST
from leocod.text import one_line
from leocod.types import Frame, Image, Picture

EncodingName = Literal["raw", "jpeg"]

SUBSAMPLING = "4:4:4"
"""Chroma at full resolution. Byte for byte it is closer to the frame: in the built-in world, quality 90 so is smaller
and closer than quality 95 at 4:2:0 (5.0 and 5.8 kB a frame, 36.2 and 35.8 dB)."""

LONGEST_SIDE = 65_500
"""Pixels, of what libjpeg writes."""


class Encoding(Protocol):
    """A way to store pixels."""

    @property
    def cure(self) -> str:
        """What makes a stored frame smaller, in the words of the options."""
        ...

    def encode(self, pixels: Image) -> Image | Picture:
        """The pixels as they are stored. Nothing else refers to them."""
        ...


class Raw:
    """Every pixel as it is."""

    cure: ClassVar[str] = "store frames as JPEG (strategy.memory_encoding: jpeg)"

    def encode(self, pixels: Image) -> Image:
        # A view would keep the whole step's pixels alive.
        return pixels.copy()


@dataclass(frozen=True)
class JPEG:
    """Baseline JPEG without chroma subsampling. It loses a little, once: decoding gives the same pixels each time."""

    quality: int = 90
    cure: ClassVar[str] = "lower strategy.memory_jpeg_quality"

    def encode(self, pixels: Image) -> EncodedPicture:
        if max(pixels.shape) > LONGEST_SIDE:
            raise InvalidConfig(
                f"A frame of {pixels.shape[0]} x {pixels.shape[1]} pixels cannot be a JPEG, whose sides have at most "
                f"{LONGEST_SIDE}. Set strategy.memory_encoding: raw."
            )
        file = io.BytesIO()
        PillowImage.fromarray(pixels).save(file, "JPEG", quality=self.quality, subsampling=SUBSAMPLING)
        return EncodedPicture(file.getvalue())


@dataclass(frozen=True)
class EncodedPicture:
    """A JPEG file in memory, decoded whenever its pixels are asked for."""

    data: bytes

    def image(self) -> Image:
        try:
            with PillowImage.open(io.BytesIO(self.data), formats=("JPEG",)) as file:
                if file.width * file.height > LARGEST:
                    raise ValueError(f"more than {LARGEST} pixels")
                return np.asarray(file)
        # Damage can end in almost any error inside Pillow's reader.
        except Exception as error:
            raise InvalidFrame(f"A remembered frame is not a readable JPEG ({one_line(str(error))}).") from error


def find_encoding(name: EncodingName, quality: int) -> Encoding:
    """The encoding that the options name."""
    return JPEG(quality) if name == "jpeg" else Raw()


def encode_frame(frame: Frame, encoding: Encoding) -> Frame:
    """The same frame, holding its pixels as they are stored."""
    return replace(frame, content=encoding.encode(frame.image()))


def count_bytes(frame: Frame) -> int:
    """Bytes of the pixels as they are stored."""
    return len(frame.content.data) if isinstance(frame.content, EncodedPicture) else frame.bytes
