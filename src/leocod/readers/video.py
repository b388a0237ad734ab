"""One's own video: a file or a folder of frames, with or without labels for some of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leocod.errors import InvalidConfig, InvalidData, InvalidFrame
from leocod.files.images import SUFFIXES, read_size
from leocod.files.paths import Root
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.coco import CocoFrames, name_record, read_coco, read_stated_size
from leocod.readers.coco_video import FRAME_NUMBER_KEYS
from leocod.readers.image_checks import describe_size_mismatch
from leocod.readers.recording import Entry, FrameProblems, Problem, Recording, Report, raise_problem
from leocod.readers.video_frames import VideoFrames
from leocod.text import natural_key, one_line, shorten
from leocod.types import Labels


def read_video(
    source: Path | VideoFrames,
    labels: Path | None = None,
    *,
    every: int = 1,
    classes: Sequence[str] | None = None,
    report: Report = raise_problem,
) -> Recording:
    """Read every so-many-th frame of a video file or a folder, not yet divided into steps.

    `labels` is a COCO file. An image in it labels the frame of the same file name, or, in a video file, the frame with
    the number in its `frame_id`, `frame_number` or `frame_index`, counted from 0, or in a name as `leocod predict`
    writes it. A frame that it does not have is one that nobody has labelled; one that it has without annotations shows
    nothing. Photos are turned as their EXIF notes say.
    """
    if isinstance(source, Path):
        source = VideoFrames(source, report) if source.is_file() else source
    frames = _FileFrames(source) if isinstance(source, VideoFrames) else _FolderFrames(source)
    if labels is not None:
        return _read_labelled(frames, labels, every, classes, report)
    if not classes:
        raise InvalidConfig("classes: needed, because there are no labels that would name them.")
    numbers = enumerate(range(0, len(frames), every))
    return Recording(tuple(classes), tuple(_make_unlabelled(frames, id, number, report) for id, number in numbers))


def _read_labelled(
    frames: _FileFrames | _FolderFrames, file: Path, every: int, classes: Sequence[str] | None, report: Report
) -> Recording:
    coco = read_coco(file, report)
    names = choose_classes(tuple(coco.categories.values()), classes, file, "under 'categories'")
    coco_frames = CocoFrames(coco, Root(file.parent), number_classes(coco.categories, names), report)
    images = _group_by_frame(coco.images, frames, file, report)
    entries = []
    for id, number in enumerate(range(0, len(frames), every)):
        if number not in images:
            entries.append(_make_unlabelled(frames, id, number, report))
            continue
        image, *repeats = images.pop(number)
        for repeat in repeats:
            what = f"it labels frame {number}, as {name_record(image)} does. Label it once."
            report(Problem(file, name_record(repeat), what, frame=id, kind="duplicate id"))
        problems = FrameProblems(report, file, name_record(image), id, broken=bool(repeats))
        size = frames.read_size(number, problems)
        stated = read_stated_size(image, problems)
        if size is not None and stated is not None and stated != size:
            problems.add("", frames.describe_size_mismatch(number, stated, size), "size")
        labels: Labels | None = None
        if size is not None and not problems.broken:
            labels = coco_frames.make_labels(image, size, problems)
        if problems.broken and image.get("labelled") is not False:
            labels = Labels.none()
        entries.append(coco_frames.add_instances(_make_entry(frames, id, number, size, labels, problems), image))
    if images:
        what = f"{len(images)} of its images label frames that every={every} passes over, such as frame {min(images)}."
        report(Problem(file, "", what, breaks=False))
    return Recording(names, tuple(entries))


def _make_unlabelled(frames: _FileFrames | _FolderFrames, id: int, number: int, report: Report) -> Entry:
    problems = FrameProblems(report, frames.get_path(number), "", id)
    if refusal := frames.explain_refusal(number):
        problems.add("", refusal, "path")
    return _make_entry(frames, id, number, None, None, problems)


def _make_entry(
    frames: _FileFrames | _FolderFrames,
    id: int,
    number: int,
    size: tuple[int, int] | None,
    labels: Labels | None,
    problems: FrameProblems,
) -> Entry:
    video, path = one_line(frames.path.stem), frames.get_path(number)
    size = size or frames.known_size
    return Entry(id, video, number, path, size, labels, broken=problems.broken, record=problems.where)


@dataclass(frozen=True)
class _FileFrames:
    """The frames of a video file."""

    frames: VideoFrames

    @property
    def path(self) -> Path:
        return self.frames.path

    @property
    def known_size(self) -> tuple[int, int] | None:
        return self.frames.size

    def __len__(self) -> int:
        return len(self.frames)

    def get_path(self, number: int) -> Path:
        return self.path

    def explain_refusal(self, number: int) -> str | None:
        return None

    def read_size(self, number: int, problems: FrameProblems) -> tuple[int, int] | None:
        return self.frames.size

    def describe_size_mismatch(self, number: int, stated: tuple[int, int], real: tuple[int, int]) -> str:
        says, has = (f"{width} x {height}" for height, width in (stated, real))
        return f"it says {says} pixels, but the frames of {self.path} are {has}, upright. Correct the record."

    def find_number(self, image: Mapping[str, Any]) -> int | None:
        """Return which frame an image of a COCO file labels; None: it does not say."""
        for key in FRAME_NUMBER_KEYS:
            if type(image.get(key)) is int:
                return int(image[key])
        # Only as `leocod predict` names frames: other tools count from 1, or name every tenth frame.
        form = rf"{re.escape(self.path.stem)}_([0-9]{{6}}|[1-9][0-9]{{6,8}})"
        match = re.fullmatch(form, str(image.get("file_name")))
        return int(match[1]) if match else None

    def explain_no_number(self, image: Mapping[str, Any]) -> str:
        """Say what an image needs so that its frame is known."""
        return (
            f"it does not say which frame of {self.path.name} it labels: its file_name is "
            f"{shorten(image.get('file_name'))}. Give it a frame_id, counted from 0, or a name such as "
            f"{self.path.stem}_000012, as `leocod predict` does."
        )


class _FolderFrames:
    """The pictures of a folder in the order of their names, numbers in them by value."""

    known_size = None

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidData(f"{one_line(path)}: no such file or folder. It should be a video or a folder of frames.")
        self.path = path
        root = Root(path)
        names = sorted((file.name for file in path.iterdir() if file.suffix.lower() in SUFFIXES), key=natural_key)
        if not names:
            raise InvalidData(f"{one_line(path)} holds no images ({', '.join(sorted(SUFFIXES))}).")
        self._paths = [path / name for name in names]
        refusals = ((number, root.explain_refusal(name)) for number, name in enumerate(names))
        self._refusals = {number: refusal for number, refusal in refusals if refusal}
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._paths)

    def get_path(self, number: int) -> Path:
        return self._paths[number]

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

    def find_number(self, image: Mapping[str, Any]) -> int | None:
        """Return which frame an image of a COCO file labels; None: none of them."""
        return self._numbers.get(str(image.get("file_name", "")).rpartition("/")[2])

    def explain_no_number(self, image: Mapping[str, Any]) -> str:
        """Say why an image labels no frame."""
        name = shorten(image.get("file_name"))
        return f"it labels a frame {name}, which is not among the {len(self)} of {self.path}. Correct its file_name."


def _group_by_frame(
    images: Sequence[dict[str, Any]], frames: _FileFrames | _FolderFrames, file: Path, report: Report
) -> dict[int, list[dict[str, Any]]]:
    """Group the images by the frame that they label; there should be one of each."""
    members: dict[int, list[dict[str, Any]]] = {}
    for image in images:
        number = frames.find_number(image)
        if number is None:
            # In a video file, these labels may be those of any frame.
            fatal = isinstance(frames, _FileFrames)
            what = frames.explain_no_number(image)
            report(Problem(file, name_record(image), what, kind="stray annotation", fatal=fatal))
        elif not 0 <= number < len(frames):
            what = f"it labels frame {shorten(number)}, which is not among the {len(frames)} of {frames.path}."
            report(Problem(file, name_record(image), what, kind="stray annotation"))
        else:
            members.setdefault(number, []).append(image)
    return members
