"""A folder to label: pictures of chosen frames, a table of them, and what to do next in a few words."""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from PIL import Image as PillowImage

from leocod.data.choose import ChosenFrame
from leocod.data.output import open_output
from leocod.errors import InvalidData
from leocod.readers.frame_numbers import name_frame
from leocod.text import one_line

QUALITY = 95
"""Of the JPEG pictures. They are for people to look at; a run decodes the video itself."""


def write_label_folder(out: Path, videos: Sequence[Path], frames: Iterable[ChosenFrame], *, rule: str) -> Counter[Path]:
    """Write chosen frames to a new folder; return how many there are of each video.

    `rule` says how they were chosen. The folder appears when it is complete.
    """
    counts: Counter[Path] = Counter()
    with open_output(out) as folder:
        (folder / "images").mkdir()
        with (folder / "frames.csv").open("w", encoding="utf-8", newline="") as opened:
            table = csv.writer(opened)
            table.writerow(("name", "video", "frame", "seconds"))
            for frame in frames:
                name = f"{name_frame(frame.video.stem, frame.number)}.jpg"
                PillowImage.fromarray(frame.image).save(folder / "images" / name, quality=QUALITY, subsampling=0)
                table.writerow((name, frame.video.name, frame.number, f"{frame.seconds:.2f}"))
                counts[frame.video] += 1
        if not counts:
            raise InvalidData(f"{', '.join(map(one_line, videos))}: no frame could be decoded. Is the file whole?")
        (folder / "README.md").write_text(_explain(videos, counts, rule), encoding="utf-8")
    return counts


def _explain(videos: Sequence[Path], counts: Counter[Path], rule: str) -> str:
    words = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    template = words.from_string(files("leocod.data").joinpath("label_folder.md.j2").read_text(encoding="utf-8"))
    sources = [str(video) for video in videos]
    source = sources[0] if len(sources) == 1 else json.dumps(sources, ensure_ascii=False)
    return template.render(
        count=counts.total(),
        videos=", ".join(one_line(video.name) for video in videos),
        rule=rule,
        example=f"{name_frame(videos[0].stem, 12)}.jpg",
        paths=shlex.join(sources),
        first=shlex.quote(sources[0]),
        source=shlex.quote(f"benchmark.source={source}"),
    )
