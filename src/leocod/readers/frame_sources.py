"""Where the frames of one's own video are: in a file, or in a folder of pictures. Which of them an image labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from leocod.errors import InvalidData, InvalidFrame
from leocod.files.images import SUFFIXES, read_size
from leocod.files.paths import Root
from leocod.readers.frame_names import FrameNames, is_same_name
from leocod.readers.frame_numbers import FrameNumber, ends_in_number, lies_in_folder, name_frame, parse_name
from leocod.readers.frame_tables import NamedFrames
from leocod.readers.image_checks import describe_size_mismatch
from leocod.readers.labels.base import LabelledImage
from leocod.readers.recording import FrameProblems
from leocod.readers.video_frames import VideoFrames
from leocod.text import natural_key, one_line, shorten

COUNTED = re.compile(r"frame_([0-9]{6,9})", re.IGNORECASE)
"""What CVAT calls frame 12 where it writes frames out: frame_000012."""


@dataclass(frozen=True)
class FileFrames:
    """The frames of a video file."""

    frames: VideoFrames
    names: NamedFrames | None = None
    """Which frame a name means, where the user says so."""

    @property
    def path(self) -> Path:
        return self.frames.path

    @property
    def video(self) -> str:
        return one_line(self.path.stem)

    @property
    def known_size(self) -> tuple[int, int] | None:
        return self.frames.size

    def __len__(self) -> int:
        return len(self.frames)

    def get_path(self, number: int) -> Path:
        return self.path

    def get_place(self, number: int) -> tuple[str, int]:
        """Return the video of a frame, and its position in that."""
        return self.video, number

    def explain_refusal(self, number: int) -> str | None:
        return None

    def read_size(self, number: int, problems: FrameProblems) -> tuple[int, int] | None:
        return self.frames.size

    def describe_size_mismatch(self, number: int, stated: tuple[int, int], real: tuple[int, int]) -> str:
        says, has = (f"{width} x {height}" for height, width in (stated, real))
        return f"it says {says} pixels, but the frames of {self.path} are {has}, upright. Correct the record."

    def find_frame(self, image: LabelledImage) -> FrameNumber | None:
        """Return which frame an image labels; None: it does not say, or it is one of another video."""
        name = image.name or ""
        if self.names is not None:
            return self.names.find(name, self.video)
        if image.video is not None and not is_same_name(image.video, self.video):
            return None
        if image.number is not None:
            names_video = image.video is not None or lies_in_folder(name, self.video)
            return FrameNumber(image.number, names_video)
        # As `leocod predict` names frames. With an ending, a tool that counts from 1 may have written it.
        if match := re.fullmatch(rf"{re.escape(self.path.stem)}_([0-9]{{6}}|[1-9][0-9]{{6,8}})", name):
            return FrameNumber(int(match[1]), names_video=True)
        return parse_name(name, self.video)

    def explain_no_frame(self, image: LabelledImage) -> str:
        """Say what an image needs so that its frame is known."""
        if self.names is not None:
            return f"{shorten(image.name)} is no name of a frame of {self.path.name}, as frame_names says them."
        if ends_in_number(image.name or ""):
            return f"{shorten(image.name)} is a frame of another video than {self.path.name}, or names no video."
        return (
            f"{shorten(image.name)} does not say which frame of {self.path.name} it is. Rename it, such as "
            f"{name_frame(self.video, 12)} for frame 12, counted from 0; or say with frame_names what its name means; "
            "or give the folder of pictures that was labelled as the source."
        )


class FolderFrames:
    """The pictures of a folder in the order of their names, numbers in them by value.

    If there are none right in it, those of the folders below it, each of which is a video.
    """

    known_size = None

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidData(f"{one_line(path)}: no such file or folder. It should be a video or a folder of frames.")
        self.path = path
        names = _list_pictures(path)
        if not names:
            raise InvalidData(f"{one_line(path)} holds no images ({', '.join(sorted(SUFFIXES))}).")
        self._paths = [path / name for name in names]
        root = Root(path)
        refusals = ((number, root.explain_refusal(name)) for number, name in enumerate(names))
        self._refusals = {number: refusal for number, refusal in refusals if refusal}
        self._names = names
        self._index = FrameNames(names)
        matches = ((number, COUNTED.fullmatch(file.stem)) for number, file in enumerate(self._paths))
        self._counted = {int(match[1]): number for number, match in matches if match}
        self._places = [
            (one_line(folder or path.stem), index)
            for folder, members in groupby(names, key=lambda name: name.rpartition("/")[0])
            for index, _ in enumerate(members)
        ]

    @property
    def video(self) -> str:
        return one_line(self.path.stem)

    def __len__(self) -> int:
        return len(self._paths)

    def get_path(self, number: int) -> Path:
        return self._paths[number]

    def get_place(self, number: int) -> tuple[str, int]:
        """Return the video of a frame, and its position in that."""
        return self._places[number]

    def explain_refusal(self, number: int) -> str | None:
        """Say why a picture is not opened: it is a link to elsewhere."""
        return self._refusals.get(number)

    def read_size(self, number: int, problems: FrameProblems) -> tuple[int, int] | None:
        if refusal := self.explain_refusal(number):
            problems.add("", refusal, "path")
            return None
        try:
            return read_size(self._paths[number], upright=True)
        except InvalidFrame as error:
            problems.add("", str(error), "picture")
            return None

    def describe_size_mismatch(self, number: int, stated: tuple[int, int], real: tuple[int, int]) -> str:
        path = self._paths[number]
        return f"{path}: {describe_size_mismatch(path, stated, real, upright=True)}"

    def find_frame(self, image: LabelledImage) -> FrameNumber | None:
        """Return which frame an image labels; None: none of them, or it is not clear which."""
        number = self._find_number(image)
        if number is None:
            return None
        return FrameNumber(number, names_video=image.name is not None and lies_in_folder(image.name, self.video))

    def _find_number(self, image: LabelledImage) -> int | None:
        if image.name is not None:
            found = self._index.find(image.name)
            return found[0] if len(found) == 1 else None
        if image.number is None or self._counted:
            return None if image.number is None else self._counted.get(image.number)
        return image.number if self._has_places_of(image) else None

    def explain_no_frame(self, image: LabelledImage) -> str:
        """Say why an image labels no frame."""
        if image.name is None and not self._counted and not self._has_places_of(image):
            return (
                f"picture {image.number} of {image.count or 'a task'} is labelled by its place, but the {len(self)} of "
                f"{self.path} may not be the same ones in the same order. Export as CVAT for images 1.1, which names "
                "them."
            )
        found = [] if image.name is None else self._index.find(image.name)
        if len(found) > 1:
            first, second, *_ = (one_line(self._names[number], 100) for number in found)
            return (
                f"{shorten(image.name)} may mean {len(found)} frames of {self.path}, such as {first} and {second}. Put "
                "the folder before its name, too."
            )
        name = shorten(image.number if image.name is None else image.name)
        return f"{name} is not among the {len(self)} frames of {self.path}. Correct its name."

    def _has_places_of(self, image: LabelledImage) -> bool:
        """Whether a place among the pictures that a tool had is the same place here.

        There must be as many; and CVAT sorts names letter by letter, which may not be the order by number.
        """
        return image.count == len(self) and self._is_in_plain_order

    @cached_property
    def _is_in_plain_order(self) -> bool:
        return self._names == sorted(self._names)


FrameSource = FileFrames | FolderFrames


def _list_pictures(path: Path) -> list[str]:
    names = [file.name for file in path.iterdir() if file.suffix.lower() in SUFFIXES]
    if not names:
        below = (file.relative_to(path) for file in path.rglob("*") if file.suffix.lower() in SUFFIXES)
        names = [file.as_posix() for file in below if not any(part.startswith(".") for part in file.parts)]
    # Folder by folder: a folder's name may go on where that of another ends.
    return sorted(names, key=lambda name: [natural_key(part) for part in name.split("/")])
