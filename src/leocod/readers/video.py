"""One's own video: a file or a folder of frames, with or without labels for some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leocod.errors import InvalidConfig
from leocod.readers.annotations import ClassNumbers, make_labels
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.frame_sources import FileFrames, FolderFrames, FrameSource
from leocod.readers.labels.base import LabelledImage, LabelSet
from leocod.readers.labels.formats import read_labels
from leocod.readers.recording import Entry, FrameProblems, Instance, Problem, Recording, Report, raise_problem
from leocod.readers.video_frames import VideoFrames
from leocod.text import pluralize, shorten
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

    `labels` are in any format of `readers/labels`. An image in them labels the frame of its name, as `FrameNames`
    finds it; in a video file, the frame with its number, counted from 0, or with a name as `leocod predict` writes it.
    A frame that they do not have is one that nobody has labelled; one that they have without objects shows nothing.
    Photos are turned as their EXIF notes say.
    """
    if isinstance(source, Path):
        source = VideoFrames(source, report) if source.is_file() else source
    frames = FileFrames(source) if isinstance(source, VideoFrames) else FolderFrames(source)
    if labels is not None:
        return _read_labelled(frames, read_labels(labels, report), every, classes, report)
    if not classes:
        raise InvalidConfig("classes: needed, because there are no labels that would name them.")
    numbers = enumerate(range(0, len(frames), every))
    return Recording(tuple(classes), tuple(_make_unlabelled(frames, id, number, report) for id, number in numbers))


def _read_labelled(
    frames: FrameSource, labels: LabelSet, every: int, classes: Sequence[str] | None, report: Report
) -> Recording:
    known = tuple(labels.classes.values())
    if not labels.is_listed and classes is not None:
        known = tuple(dict.fromkeys((*known, *classes)))
    names = choose_classes(known, classes, labels.path, labels.where)
    numbers = number_classes(labels.classes, names)
    images = _group_by_frame(labels, frames, report)
    entries = []
    for id, number in enumerate(range(0, len(frames), every)):
        if number not in images:
            entries.append(_make_unlabelled(frames, id, number, report))
            continue
        image, *repeats = images.pop(number)
        for repeat in repeats:
            what = f"it labels frame {number}, as {image.record or image.file.name} does. Label it once."
            report(Problem(repeat.file, repeat.record, what, frame=id, kind="duplicate id"))
        problems = FrameProblems(report, image.file, image.record, id, broken=bool(repeats))
        entries.append(_make_labelled(frames, image, number, numbers, problems))
    if images:
        what = f"{len(images)} of its images label frames that every={every} passes over, such as frame {min(images)}."
        report(Problem(labels.path, "", what, breaks=False))
    return Recording(names, tuple(entries))


def _make_labelled(
    frames: FrameSource, image: LabelledImage, number: int, classes: ClassNumbers, problems: FrameProblems
) -> Entry:
    size = frames.read_size(number, problems)
    for part, what, kind, breaks in image.notes:
        problems.add(part, what, kind, breaks=breaks)
    if size is not None and image.size is not None and image.size != size:
        problems.add("", frames.describe_size_mismatch(number, image.size, size), "size")
    labels: Labels | None = None
    if size is not None and not problems.broken and image.objects is not None:
        labels = make_labels((thing.scale(size) for thing in image.objects), size, classes, problems)
    if problems.broken and image.objects is not None:
        labels = Labels.none()
    entry = _make_entry(frames, problems.frame, number, size, labels, problems)
    if labels is None or problems.broken:
        return entry
    return replace(entry, instances=_list_instances(image, entry.video, classes))


def _list_instances(image: LabelledImage, video: str, classes: ClassNumbers) -> tuple[Instance, ...] | None:
    """Name the thing that each label of an image shows; None when the file does not say it of each."""
    taking_part = (thing for thing in image.objects or () if classes[thing.category] is not None)
    found = [thing.find_instance(video) for thing in taking_part]
    named = [instance for instance in found if instance is not None]
    return tuple(named) if len(named) == len(found) else None


def _make_unlabelled(frames: FrameSource, id: int, number: int, report: Report) -> Entry:
    problems = FrameProblems(report, frames.get_path(number), "", id)
    if refusal := frames.explain_refusal(number):
        problems.add("", refusal, "path")
    return _make_entry(frames, id, number, None, None, problems)


def _make_entry(
    frames: FrameSource,
    id: int,
    number: int,
    size: tuple[int, int] | None,
    labels: Labels | None,
    problems: FrameProblems,
) -> Entry:
    (video, index), path = frames.get_place(number), frames.get_path(number)
    size = size or frames.known_size
    return Entry(id, video, index, path, size, labels, broken=problems.broken, record=problems.where)


def _group_by_frame(labels: LabelSet, frames: FrameSource, report: Report) -> dict[int, list[LabelledImage]]:
    """Group the images by the frame that they label; there should be one of each. Those of none are one problem."""
    members: dict[int, list[LabelledImage]] = {}
    strays: list[tuple[LabelledImage, str]] = []
    fatal = False
    for image in labels.images:
        number = frames.find_number(image)
        if number is None:
            strays.append((image, frames.explain_no_number(image)))
            # In a video file, these labels may be those of any frame.
            fatal |= isinstance(frames, FileFrames)
        elif not 0 <= number < len(frames):
            what = f"it labels frame {shorten(number)}, which is not among the {len(frames)} of {frames.path}."
            strays.append((image, what))
        else:
            members.setdefault(number, []).append(image)
    if strays:
        image, what = strays[0]
        if len(labels.images) > 1:
            what = f"{what} In all, {len(strays)} of {pluralize(len(labels.images), 'image')} label no frame."
        # Where some fit, labels for more frames than there are do no harm. Where none does, it is another video.
        breaks = fatal or not members
        report(Problem(image.file, image.record, what, breaks, kind="stray annotation", fatal=breaks))
    return members
