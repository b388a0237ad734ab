"""One's own video: a file or a folder of frames, or several, with or without labels for some of the frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leocod.errors import InvalidConfig
from leocod.readers.annotations import ClassNumbers, make_labels
from leocod.readers.classes import choose_classes, number_classes
from leocod.readers.frame_numbers import refuse_same_names
from leocod.readers.frame_sources import FileFrames, FolderFrames, FrameSource
from leocod.readers.frame_tables import read_frame_names
from leocod.readers.label_matching import match_labels
from leocod.readers.labels.base import LabelledImage, LabelSet
from leocod.readers.labels.formats import read_labels
from leocod.readers.recording import (
    Entry,
    FrameProblems,
    Instance,
    Problem,
    Recording,
    Report,
    is_sparse,
    raise_problem,
)
from leocod.readers.video_frames import VideoFrames
from leocod.text import one_line, pluralize
from leocod.types import Labels

Source = Path | VideoFrames
LabelFiles = Path | Sequence[Path | None] | None
"""Labels of all videos, or those of each in the order of the videos."""

Assigned = dict[int, tuple[list[LabelledImage], ClassNumbers]]
"""Number of a frame -> the images that label it, of which there should be one, and what their file calls classes."""


def read_video(
    source: Source | Sequence[Source],
    labels: LabelFiles = None,
    *,
    every: int = 1,
    classes: Sequence[str] | None = None,
    frame_names: str | None = None,
    keep_labelled: bool = True,
    report: Report = raise_problem,
) -> Recording:
    """Read every so-many-th frame of a video file or a folder, or of several, not yet divided into steps.

    `labels` are in any format of `readers/labels`. An image in them labels the frame of its name, as `FrameNames`
    finds it in a folder, and `parse_name` or `frame_names` in a video file, or the frame of its number, counted from 0.
    A frame that they do not have is one that nobody has labelled; one that they have without objects shows nothing.
    `keep_labelled`: where labels are sparse, every labelled frame is taken. Photos are turned as their EXIF notes say.
    """
    given = [source] if isinstance(source, Path | VideoFrames) else list(source)
    sources = [_open_source(one, frame_names, report) for one in given]
    refuse_same_names([source.path for source in sources])
    sets = _read_label_sets(labels, len(sources), classes, report)
    if not sets and not classes:
        raise InvalidConfig("classes: needed, because there are no labels that would name them.")
    names = _merge_classes([labels for labels, _ in sets], classes) if sets else tuple(classes or ())
    assigned: list[Assigned] = [{} for _ in sources]
    for one, places in sets:
        _assign(assigned, one, places, sources, names, report)
    entries: list[Entry] = []
    for frames, images in zip(sources, assigned, strict=True):
        numbers = _choose_numbers(frames, images, every, keep_labelled=keep_labelled, report=report)
        entries += (_make(frames, id, number, images, report) for id, number in enumerate(numbers, start=len(entries)))
    return Recording(names, tuple(entries))


def _open_source(source: Source, frame_names: str | None, report: Report) -> FrameSource:
    if isinstance(source, Path) and not source.is_file():
        if frame_names is not None:
            raise InvalidConfig(f"frame_names goes with video files: {one_line(source)} is none.")
        return FolderFrames(source)
    frames = source if isinstance(source, VideoFrames) else VideoFrames(source, report)
    return FileFrames(frames, None if frame_names is None else read_frame_names(frame_names))


def _read_label_sets(
    labels: LabelFiles, count: int, classes: Sequence[str] | None, report: Report
) -> list[tuple[LabelSet, range]]:
    """Read the labels. Each set comes with the places of the videos that it may label."""
    if labels is None:
        return []
    if isinstance(labels, Path):
        return [(_name_classes(read_labels(labels, report), classes), range(count))]
    if len(labels) != count:
        raise InvalidConfig(
            f"labels: {len(labels)} files for {count} videos. Give one for each video, with null for a video that has "
            "none, or one for all."
        )
    return [
        (_name_classes(read_labels(file, report), classes), range(place, place + 1))
        for place, file in enumerate(labels)
        if file is not None
    ]


def _name_classes(labels: LabelSet, classes: Sequence[str] | None) -> LabelSet:
    """Name the classes of a format that only numbers them, and of which no list was found."""
    if labels.classes or not labels.is_numbered:
        return labels
    if not classes:
        raise InvalidConfig(
            f"classes: needed, because {one_line(labels.path)} has no list of them {labels.where}. Name them in the "
            "order of their numbers, with --classes or --set benchmark.classes=[...], or in a classes.txt."
        )
    return replace(labels, classes=dict(enumerate(classes)))


def _merge_classes(sets: Sequence[LabelSet], chosen: Sequence[str] | None) -> tuple[str, ...]:
    """Return the classes that take part: the chosen ones, or all in the order in which they first appear."""
    known = dict.fromkeys(name for labels in sets for name in labels.classes.values())
    if not all(labels.is_listed for labels in sets):
        known |= dict.fromkeys(chosen or ())
    files = ", ".join(one_line(labels.path) for labels in sets)
    return choose_classes(tuple(known), chosen, files, sets[0].where)


def _assign(
    assigned: list[Assigned],
    labels: LabelSet,
    places: range,
    sources: Sequence[FrameSource],
    names: Sequence[str],
    report: Report,
) -> None:
    """Add the images of a set to the frames that they label."""
    numbers = number_classes(labels.classes, names)
    matches = match_labels(labels, [sources[place] for place in places], report)
    for place, images in matches.items():
        assigned[places[place.source]][place.number] = images, numbers


def _choose_numbers(
    frames: FrameSource, images: Assigned, every: int, *, keep_labelled: bool, report: Report
) -> Sequence[int]:
    """Choose the frames that are taken: every so-many-th, and the labelled ones where labels are sparse."""
    numbers = range(0, len(frames), every)
    # A file may also list images that nobody has labelled.
    labelled = {number for number, ((image, *_), _) in images.items() if image.objects is not None}
    passed_over = sorted(number for number in labelled if number % every)
    if not passed_over:
        return numbers
    if keep_labelled and is_sparse(len(labelled) - len(passed_over), len(numbers)):
        return sorted({*numbers, *labelled})
    what = f"every={every} passes over {pluralize(len(passed_over), 'labelled frame')}, such as frame {passed_over[0]}."
    report(Problem(frames.path, "", what, breaks=False))
    return numbers


def _make(frames: FrameSource, id: int, number: int, images: Assigned, report: Report) -> Entry:
    if number not in images:
        return _make_unlabelled(frames, id, number, report)
    (image, *repeats), numbers = images[number]
    for repeat in repeats:
        what = f"it labels frame {number}, as {image.record or image.file.name} does. Label it once."
        report(Problem(repeat.file, repeat.record, what, frame=id, kind="duplicate id"))
    problems = FrameProblems(report, image.file, image.record, id, broken=bool(repeats))
    return _make_labelled(frames, image, number, numbers, problems)


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
