"""Whose labels these are: finds the frame of each labelled image, and says in one message which ones have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from leocod.readers.frame_numbers import FrameNumber
from leocod.readers.frame_sources import FrameSource
from leocod.readers.labels.base import LabelledImage, LabelSet
from leocod.readers.recording import Problem, ProblemKind, Report
from leocod.text import list_some, one_line, pluralize, shorten

SHOWN = 2
"""Names that a message lists."""


class Place(NamedTuple):
    """A frame: which source it is in, and its number there."""

    source: int
    number: int


Matches = dict[Place, list[LabelledImage]]
"""The images that label each frame; there should be one."""


def match_labels(labels: LabelSet, sources: Sequence[FrameSource], report: Report) -> Matches:
    """Find the frames that the images label. Images of no frame, or of one of several, are one problem."""
    matches: Matches = {}
    strays: list[tuple[LabelledImage, str]] = []
    uncertain: list[LabelledImage] = []
    for image in labels.images:
        found = _find_frames(image, sources)
        if len(found) != 1:
            strays.append((image, _explain(image, sources, several=len(found) > 1)))
            continue
        ((source, frame),) = found
        if not 0 <= frame.number < len(sources[source]):
            length, path = len(sources[source]), sources[source].path
            what = f"it labels frame {shorten(frame.number)}, which is not among the {length} of {path}."
            strays.append((image, what))
            continue
        matches.setdefault(Place(source, frame.number), []).append(image)
        if not frame.is_certain:
            uncertain.append(image)
    strays = [(image, what) for image, what in strays if image.objects is not None]
    if strays:
        report(_make_stray_problem(labels, sources, strays, is_another=not matches))
    if uncertain:
        report(_make_counting_problem(labels, uncertain))
    return matches


def _find_frames(image: LabelledImage, sources: Sequence[FrameSource]) -> list[tuple[int, FrameNumber]]:
    """Find the frames that an image can mean: those of the video that it names, if it names one."""
    found = [(place, frame) for place, source in enumerate(sources) if (frame := source.find_frame(image)) is not None]
    return [(place, frame) for place, frame in found if frame.names_video] or found


def _explain(image: LabelledImage, sources: Sequence[FrameSource], *, several: bool) -> str:
    if len(sources) == 1:
        return sources[0].explain_no_frame(image)
    name = shorten(image.number if image.name is None else image.name)
    videos = list_some([one_line(source.path.name, 60) for source in sources], 4)
    what = "may be a frame of several" if several else "is a frame of none"
    return f"{name} {what} of {videos}. Put the name of the video before its own, or give each video its own labels."


def _make_stray_problem(
    labels: LabelSet, sources: Sequence[FrameSource], strays: list[tuple[LabelledImage, str]], *, is_another: bool
) -> Problem:
    """Say how many images label no frame. Where some fit, these do no harm; where none does, it is another video."""
    (image, what), all_labelled = strays[0], sum(image.objects is not None for image in labels.images)
    kind: ProblemKind = "stray annotation"
    if all_labelled == 1:
        return Problem(image.file, image.record, what, is_another, kind=kind, fatal=is_another)
    names = [one_line(_name_image(stray), 60) for stray, _ in strays]
    where = list_some([one_line(source.path, 60) for source in sources], SHOWN)
    lost = "1 was" if len(strays) == 1 else f"{len(strays)} were"
    count = (
        f"{all_labelled - len(strays)} of {pluralize(all_labelled, 'labelled image')} were found in {where}; "
        f"{lost} not: {list_some(names, SHOWN)}. {'The first one: ' if len(strays) > 1 else ''}{what}"
    )
    return Problem(labels.path, "", count, is_another, kind=kind, fatal=is_another)


def _make_counting_problem(labels: LabelSet, uncertain: list[LabelledImage]) -> Problem:
    what = (
        f"{pluralize(len(uncertain), 'image')} with a name such as {shorten(uncertain[0].name)}: the number is taken "
        "as counted from 0, as CVAT counts. If the pictures were counted from 1, as ffmpeg does, set frame_names to "
        "frame_{number_from_1}."
    )
    return Problem(labels.path, "", what, breaks=False, kind="frame number")


def _name_image(image: LabelledImage) -> str:
    return f"frame {image.number}" if image.name is None else image.name
