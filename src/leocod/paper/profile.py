"""The profile of a stream with its responses: as a file, and side by side with others on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from leocod.data.novelty import Novelty
from leocod.data.profile import Profile
from leocod.errors import InvalidConfig, InvalidData
from leocod.files.documents import Documents
from leocod.paper.responses import Response, Responses
from leocod.paper.table import DATASETS
from leocod.report.page import format_points
from leocod.run.choices import validate
from leocod.settings import Settings
from leocod.text import one_line

CURE = "Write it again: leocod show TARGET --profile --out FILE.json."
FILES = Documents(InvalidData, missing=f"{{}}: no such profile. {CURE}", cure=CURE, largest=10_000_000)

LONGEST_NAME = 40
"""Letters of the name of a stream on a terminal."""
UNKNOWN = "–"


class StreamProfile(Settings):
    """What a profile's file holds."""

    stream: str
    """The name of the stream: of its config file, or of the benchmark."""
    leocod: str
    """Version."""
    source: dict[str, Any] | None
    """Commit of the code, and whether it was changed since; null when it was installed for good."""
    command: tuple[str, ...]
    config: dict[str, Any]
    """The whole config, with its defaults."""
    profile: Profile
    responses: Responses | None = None


def read_profile(file: Path) -> StreamProfile:
    """A profile that was written earlier."""
    content = FILES.read_json(file)
    if not isinstance(content, dict):
        raise FILES.make_error(file, "it is not a profile")
    try:
        return validate(StreamProfile, content)
    except InvalidConfig as error:
        raise InvalidData(f"{one_line(file)} is not a profile of this version. {error} {CURE}") from error


def make_profile_table(streams: Sequence[StreamProfile]) -> Grid:
    """Tabulate the figures of streams, a column each."""
    grid = _start_grid("", streams)
    for name, show in ROWS.items():
        grid.add_row(name, *(show(stream.profile) for stream in streams))
    return grid


def make_response_table(streams: Sequence[StreamProfile]) -> Grid | None:
    """Tabulate the responses of streams beside the paper's, a column each; None where no stream has any."""
    known = [stream.responses for stream in streams if stream.responses]
    if not known:
        return None
    grid = _start_grid("", streams)
    for name in DATASETS.values():
        grid.add_column(f"{name}\n(paper)", justify="right")
    first = known[0]
    fap = [UNKNOWN if not of or of.fap is None else format_points(of.fap) for of in (one.responses for one in streams)]
    paper = [UNKNOWN if name not in first.paper_fap else format_points(first.paper_fap[name]) for name in DATASETS]
    grid.add_row(Text(f"FAP of {one_line(first.baseline)}"), *fap, *paper)
    rows: dict[str, Response] = {}
    for row in (row for responses in known for row in responses.rows):
        rows.setdefault(row.key, row)
    for row in rows.values():
        ours = [_show_response(stream.responses, row.key) for stream in streams]
        theirs = [_show_ratio(row.paper.get(name)) for name in DATASETS]
        grid.add_row(Text(one_line(row.name)), *ours, *theirs)
    return grid


def _start_grid(title: str, streams: Sequence[StreamProfile]) -> Grid:
    grid = Grid(title, box=None)
    for stream in streams:
        # A name may look like markup.
        grid.add_column(Text(one_line(stream.stream, LONGEST_NAME)), justify="right")
    return grid


def _show_response(responses: Responses | None, key: str) -> str:
    found: Response | None = next((row for row in responses.rows if row.key == key), None) if responses else None
    if found is None or found.ratio is None:
        return UNKNOWN
    spread = f" ({_show_ratio(found.lowest)}–{_show_ratio(found.highest)})" if found.runs > 1 else ""
    return f"{_show_ratio(found.ratio)}{spread}"


def _show_ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _show_number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}" if value % 1 else f"{value:.0f}"


def _show_share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.0f} %"


def _show_range(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else f"{100 * low:.0f} to {100 * high:.0f} %"


def _show_novelty(show: Callable[[Novelty], str]) -> Callable[[Profile], str]:
    return lambda profile: UNKNOWN if profile.novelty is None else show(profile.novelty)


ROWS: Mapping[str, Callable[[Profile], str]] = {
    "steps": lambda profile: str(profile.steps),
    "training frames": lambda profile: str(profile.frames),
    "  labelled by somebody": lambda profile: str(profile.density.labelled_frames),
    "test frames": lambda profile: str(profile.test_frames),
    "objects a frame": lambda profile: _show_number(profile.density.objects_per_frame),
    "classes a frame": lambda profile: _show_number(profile.density.classes_per_frame),
    "classes a step": lambda profile: _show_number(profile.density.classes_per_step),
    "frames without any object": lambda profile: _show_share(profile.density.empty_frames),
    "box size by short side: median": lambda profile: _show_share(profile.boxes.median),
    "  quartiles": lambda profile: _show_range(profile.boxes.lower_quartile, profile.boxes.upper_quartile),
    "boxes at the border": lambda profile: _show_share(profile.boxes.at_border),
    "classes that appear": lambda profile: str(profile.revisits.classes),
    "visits of a class": lambda profile: _show_number(profile.revisits.visits_per_class),
    "steps between visits: median": lambda profile: _show_number(profile.revisits.median_gap),
    "  longest": lambda profile: _show_number(profile.revisits.longest_gap),
    "boxes of the top fifth of classes": lambda profile: _show_share(profile.revisits.frequent_fifth),
    "boxes whose class the start knows": lambda profile: _show_share(profile.start.known),
    "  in the first third": lambda profile: _show_share(profile.start.known_first_third),
    "  in the last third": lambda profile: _show_share(profile.start.known_last_third),
    "instances": _show_novelty(lambda novelty: str(novelty.instances)),
    "  seen in labelled frames of the step": _show_novelty(lambda novelty: _show_share(novelty.seen_in_step)),
    "  never in a labelled frame": _show_novelty(lambda novelty: _show_share(novelty.never_labelled)),
    "  back, and seen at an earlier visit": _show_novelty(lambda novelty: _show_share(novelty.seen_before)),
    "grey difference to the next frame": lambda profile: _show_number(profile.motion.neighbours),
    "  between random frames": lambda profile: _show_number(profile.motion.random_frames),
}
"""What is shown of a profile, in this order. Names are short: three streams fit on 80 columns."""
