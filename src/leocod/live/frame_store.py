"""The pictures of a live run: frames/<id>.jpg. What is learnt is what is stored, so that it can be learnt again."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from leocod.errors import InvalidFrame
from leocod.files.atomic import atomic_write, remove, sync
from leocod.memory.encoding import JPEG, EncodedPicture
from leocod.types import Frame, Image

QUALITY = 95


class FrameStore:
    """Writes frames as JPEG files and reads them back."""

    def __init__(self, folder: Path, video: str) -> None:
        self.folder = folder
        self.video = video
        self._encoding = JPEG(QUALITY)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, number: int) -> Path:
        """Where a frame is, if it is stored."""
        return self.folder / f"{number}.jpg"

    def add(self, number: int, image: Image) -> Frame:
        """Store a frame. Returns it with the pixels that were stored, which a JPEG changes a little."""
        picture = self._encoding.encode(image)
        with atomic_write(self.path(number), durable=False) as temporary:
            temporary.write_bytes(picture.data)
        return self._load(number, picture)

    def read(self, number: int) -> Frame:
        """A stored frame with its pixels."""
        try:
            return self._load(number, EncodedPicture(self.path(number).read_bytes()))
        except OSError as error:
            raise InvalidFrame(f"{self.path(number)} cannot be read ({error.strerror}).") from error

    def list(self) -> list[int]:
        """The numbers of all frames that are stored, oldest first."""
        return sorted(int(file.stem) for file in self.folder.glob("*.jpg") if file.stem.isdecimal())

    def has(self, number: int) -> bool:
        """Whether a frame is stored."""
        return self.path(number).exists()

    def make_durable(self, number: int) -> None:
        """Wait until a frame has reached the disk."""
        sync(self.path(number))
        sync(self.folder)

    def keep_only(self, wanted: Collection[int]) -> None:
        """Remove all other frames."""
        for file in self.folder.iterdir():
            if not (file.stem.isdecimal() and int(file.stem) in wanted):
                remove(file)

    def _load(self, number: int, picture: EncodedPicture) -> Frame:
        pixels = picture.image()
        height, width = pixels.shape[:2]
        return Frame(number, self.video, number, (height, width), pixels)
