"""Find what is wrong with a data set before a run: read it all as a run would, and decode every picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from leocod.data.division import Division
from leocod.data.layouts import TOOL_LAYOUTS, VIDEO_LAYOUTS, Layout, detect_layout, find_pictures, list_coco_files
from leocod.errors import InvalidData, InvalidFrame
from leocod.readers.coco import Coco, name_record, read_coco
from leocod.readers.coco_video import FRAME_NUMBER_KEYS, has_steps, read_coco_video
from leocod.readers.egoobjects import find_files, get_file_name, read_egoobjects
from leocod.readers.image_checks import Progress, check_images
from leocod.readers.oak import read_oak
from leocod.readers.processed import read_processed
from leocod.readers.recording import Problem, ProblemKind, Recording, Report
from leocod.readers.video import LabelFiles, read_video
from leocod.readers.video_frames import VideoFrames
from leocod.readers.voc import read_voc
from leocod.text import one_line, pluralize, shorten, strip_file_name

SUMMED_UP: tuple[ProblemKind, ...] = ("no test frame", "few test frames", "untested classes")
"""Kinds whose problems are sentences about many frames or classes: their number says nothing."""


@dataclass(frozen=True)
class Findings:
    """What a data set holds, and what is wrong with it."""

    paths: Sequence[Path]
    layout: str
    recording: Recording | None
    """None: not even the frames could be listed."""
    problems: tuple[Problem, ...]
    division: str = ""
    """How the labelled frames are used, in words; empty where the files say it, or nobody has labelled one."""

    @property
    def breaks(self) -> bool:
        """Whether a run on it would stop."""
        return any(problem.breaks for problem in self.problems)

    def lines(self, most: int) -> Iterator[str]:
        """Describe the content, up to `most` problems of each kind, and the number of each kind."""
        yield f"{', '.join(map(one_line, self.paths))}: {self.layout} layout{self._describe_content()}."
        if self.division:
            yield self.division
        kinds: Counter[ProblemKind] = Counter(problem.kind for problem in self.problems)
        for kind, count in kinds.most_common():
            listed = [problem for problem in self.problems if problem.kind == kind]
            yield f"{kind}{'' if kind in SUMMED_UP else f': {count}'}{_describe_breaking(listed)}"
            yield from (f"  {_describe(problem)}" for problem in listed[:most])
            if count > most:
                yield f"  ... and {count - most} more"
        breaking = sum(problem.breaks for problem in self.problems)
        total = pluralize(len(self.problems), "problem")
        yield f"{total}, {breaking or 'none'} of which would stop a run." if self.problems else "Nothing is wrong."

    def _describe_content(self) -> str:
        if self.recording is None:
            return ", which cannot be read"
        entries = self.recording.entries
        labelled = [entry.labels for entry in entries if entry.labels is not None and not entry.broken]
        objects = sum(map(len, labelled))
        empty = sum(len(labels) == 0 for labels in labelled)
        return (
            f", {pluralize(len(entries), 'frame')}, {len(labelled)} of them labelled, "
            f"{empty} of these without objects, "
            f"{pluralize(objects, 'object')}, {pluralize(len(self.recording.classes), 'class')}"
        )


def check(
    path: Path | Sequence[Path],
    layout: Layout | Literal["auto"] = "auto",
    *,
    labels: LabelFiles = None,
    classes: Sequence[str] | None = None,
    frame_names: str | None = None,
    quick: bool = False,
    progress: Progress = lambda total: None,
) -> Findings:
    """Read all of a data set as a run would, but go on where a run would stop, and decode every picture.

    Several paths are videos or folders of frames, which are one stream. `labels` are those that go with a video or a
    folder of frames, in any format; `classes` and `frame_names` are as a run has them. With `quick` only the header of
    each picture is read.
    """
    paths = [path] if isinstance(path, Path) else list(path)
    label_files = [file for file in ([labels] if isinstance(labels, Path) else labels or ()) if file is not None]
    first, *_ = paths
    chosen = _choose_layout(paths, layout, label_files)
    problems: list[Problem] = []
    try:
        if chosen in VIDEO_LAYOUTS:
            recording = _read_own(paths, labels, classes, frame_names, problems.append)
        else:
            recording = _read(first, chosen, classes, problems.append)
    except InvalidData as error:
        # Such as a file that is cut: there are no frames to check.
        problems.append(Problem(first, "", strip_file_name(first, error), kind="file"))
        return Findings(paths, chosen, None, tuple(problems))
    problems += _check_pixels(paths, chosen, recording, problems, quick=quick, progress=progress)
    where, is_own = (label_files or paths)[0], chosen in (*VIDEO_LAYOUTS, *TOOL_LAYOUTS)
    if not is_own:
        problems += _find_unlabelled_frames(recording)
    problems += _find_unused_classes(recording, where)
    if chosen in VIDEO_LAYOUTS and not label_files:
        return Findings(paths, chosen, recording, tuple(problems))
    division = Division(recording, is_own=is_own)
    problems += division.find_problems(where)
    return Findings(paths, chosen, recording, tuple(problems), division.describe() if is_own else "")


def _choose_layout(paths: Sequence[Path], layout: Layout | Literal["auto"], labels: Sequence[Path]) -> Layout:
    for file in (*paths, *labels):
        if not file.exists():
            raise InvalidData(f"No file or folder '{one_line(file)}'. Check the name.")
    if not labels and len(paths) == 1:
        return detect_layout(paths[0]) if layout == "auto" else layout
    why = "--labels goes" if labels else "Several paths go"
    for path in paths:
        if path.is_file() and path.suffix.lower() in (".json", ".xml"):
            kind = path.suffix.lower().removeprefix(".")
            raise InvalidData(f"{why} with a video or a folder of frames, but {path} is a {kind}. Name the frames.")
    if layout == "auto":
        return "video" if paths[0].is_file() else "folder"
    if layout not in VIDEO_LAYOUTS:
        raise InvalidData(f"{why} with a video or a folder of frames; the {layout} layout has its own.")
    return layout


def _read_own(
    paths: Sequence[Path], labels: LabelFiles, classes: Sequence[str] | None, frame_names: str | None, report: Report
) -> Recording:
    if labels:
        return read_video(paths, labels, classes=classes, frame_names=frame_names, report=report)
    # The reader needs classes, and without labels there are none.
    return replace(read_video(paths, classes=("any",), report=report), classes=())


def _check_pixels(
    paths: Sequence[Path],
    layout: Layout,
    recording: Recording,
    problems: Sequence[Problem],
    *,
    quick: bool,
    progress: Progress,
) -> Iterator[Problem]:
    """Decode every frame, or read the headers of pictures only, and yield what is wrong."""
    videos = [path for path in paths if path.is_file()] if layout in VIDEO_LAYOUTS else []
    for video in () if quick else videos:
        yield from _check_video(video, progress)
    lost = {problem.frame for problem in problems if problem.kind in {"picture", "path", "file"}}
    there = [entry for entry in recording.entries if entry.id not in lost and entry.picture not in videos]
    if there:
        upright = layout in (*VIDEO_LAYOUTS, *TOOL_LAYOUTS)
        yield from check_images(there, quick=quick, upright=upright, progress=progress)


def _read(path: Path, layout: Layout, classes: Sequence[str] | None, report: Report) -> Recording:
    if layout == "processed":
        return read_processed(path, report=report)
    if layout == "oak":
        return read_oak(path, report=report)
    if layout == "voc":
        return read_voc(path, report=report)
    if layout == "egoobjects":
        recording = read_egoobjects(path, report=report)
        _find_duplicates(read_coco(find_files(path, "train")[0], lambda problem: None), get_file_name, report)
        return recording
    if layout == "coco":
        return _read_coco(path, report)
    return read_video(find_pictures(path), path, classes=classes, report=report)


def _read_coco(path: Path, report: Report) -> Recording:
    files = [path] if path.is_file() else list_coco_files(path)
    if len(files) != 1:
        raise InvalidData(f"{one_line(path)} holds {len(files)} JSON files. Name the COCO file itself.")
    coco = read_coco(files[0], lambda problem: None)
    _find_duplicates(coco, lambda image: image.get("file_name"), report)
    if not has_steps(coco):
        _check_order(coco, report)
    return read_coco_video(files[0], report=report)


def _find_duplicates(coco: Coco, get_name: Callable[[dict[str, Any]], Any], report: Report) -> None:
    """Report what a run does not check: annotations with the same id, and images with the same file."""
    names = Counter(name_record(record) for records in coco.annotations.values() for record in records)
    for name, count in names.items():
        if count > 1:
            what = f"{count} annotations are called that. Each is used all the same."
            report(Problem(coco.file, name, what, breaks=False, kind="duplicate id"))
    first: dict[str, str] = {}
    for image in coco.images:
        picture = get_name(image)
        if not isinstance(picture, str):
            continue
        if picture in first:
            what = f"its picture {shorten(picture)} is that of {first[picture]}, too. Both are used."
            report(Problem(coco.file, name_record(image), what, breaks=False, kind="duplicate picture"))
        first.setdefault(picture, name_record(image))


def _check_order(coco: Coco, report: Report) -> None:
    """Report frame numbers that do not rise, or that only some frames of a video have."""
    members: dict[str, list[dict[str, Any]]] = {}
    for image in coco.images:
        members.setdefault(shorten(image.get("video_id")), []).append(image)
    for images in members.values():
        whole = next((key for key in FRAME_NUMBER_KEYS if all(_is_numbered(image, key) for image in images)), None)
        some = next((key for key in FRAME_NUMBER_KEYS if any(_is_numbered(image, key) for image in images)), None)
        if whole is not None:
            _check_rising(coco, images, whole, report)
        elif some is not None:
            for image in (image for image in images if not _is_numbered(image, some)):
                what = (
                    f"its {some} is {shorten(image.get(some))}, while other frames of its video have a whole number. "
                    "All of them are ordered by file name."
                )
                report(Problem(coco.file, name_record(image), what, breaks=False, kind="order"))


def _is_numbered(image: Mapping[str, Any], key: str) -> bool:
    return type(image.get(key)) is int


def _check_rising(coco: Coco, images: list[dict[str, Any]], key: str, report: Report) -> None:
    for last, image in pairwise(images):
        if image[key] <= last[key]:
            what = (
                f"its frame number {shorten(image[key])} does not come after {shorten(last[key])}. "
                "Frames are used in order of number."
            )
            report(Problem(coco.file, name_record(image), what, breaks=False, kind="order"))


def _check_video(path: Path, progress: Progress) -> Iterator[Problem]:
    """Decode the frames of a video file in order, and yield what is wrong with them."""
    frames = VideoFrames(path, lambda problem: None)
    for number in range(len(frames)):
        try:
            frames.image(number)
        except InvalidFrame as error:
            what = str(error).removeprefix(f"{path}, frame {number} ")
            yield Problem(path, f"frame {number}", what, kind="picture")
        progress(len(frames))
    frames.close()


def _find_unlabelled_frames(recording: Recording) -> Iterator[Problem]:
    for entry in recording.entries:
        if entry.labels is None and not entry.broken:
            what = "nobody has labelled it. It can be learnt from, but not be tested on."
            yield Problem(entry.picture, "", what, breaks=False, kind="unlabelled frame")


def _find_unused_classes(recording: Recording, path: Path) -> Iterator[Problem]:
    labelled = [entry.labels for entry in recording.entries if entry.labels is not None]
    used = {number for labels in labelled for number in labels.classes.tolist()}
    for number, name in enumerate(recording.classes):
        if number not in used:
            what = "no usable frame shows it."
            yield Problem(path, f"class {shorten(name)}", what, breaks=False, kind="unused class")


def _describe(problem: Problem) -> str:
    # Where the whole file cannot be read, the reader's own message has named it.
    return one_line(problem.what) if problem.what.startswith(str(problem.file)) else str(problem)


def _describe_breaking(problems: list[Problem]) -> str:
    breaking = sum(problem.breaks for problem in problems)
    if not breaking:
        return ""
    return ", would stop a run" if breaking == len(problems) else f", {breaking} would stop a run"
