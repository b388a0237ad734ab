"""Every reader of files from outside: how valid files are made for it, and how leocod reads them.

A new reader is one more line in `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import label_seeds
import seeds
import weight_seeds
from checkpoints import checkpoint_acts, write_checkpoints
from mutations import Files
from run_directories import report_acts, write_runs

from leocod.benchmarks.base import Recorded
from leocod.benchmarks.coco_video import CocoVideo
from leocod.benchmarks.egoobjects import EgoObjects
from leocod.benchmarks.oak import Oak
from leocod.benchmarks.video import Video
from leocod.benchmarks.voc import Voc
from leocod.data.check import check
from leocod.errors import InvalidData, InvalidFrame
from leocod.files.images import read_orientation, read_pixels, read_size
from leocod.files.videos import VideoFile
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.networks.base import BackboneLayout, BaseDetector
from leocod.networks.one_stage import OneStage
from leocod.networks.two_stage import TwoStage
from leocod.readers.frame_tables import read_frame_names
from leocod.readers.video_frames import VideoFrames
from leocod.run.config import load_config
from leocod.run.layers import parse_override
from leocod.stream.recorded import Stream
from leocod.weights import load_weights, read_classes

LONGEST_LINE = 3000
"""Characters of a line of `data check`, paths of the temporary folder with it."""

Act = Callable[[], object]
"""Something that the product does with a file. It succeeds, or raises a LeocodError."""


@dataclass(frozen=True)
class Reader:
    """One way into the product for what others have written."""

    name: str
    make: Callable[[Path], None]
    """Writes valid data, each piece of it in a folder of its own under the one that is given."""
    acts: Callable[[Path], Iterable[Act]]
    """What the product does with the data in a folder, all of it read. One act is not kept from its turn by another."""
    names_file: bool = True
    """Whether what it says of a file must name it; of a config, the key is named."""


def make_seeds(reader: Reader, folder: Path) -> list[Files]:
    """Write valid data to the folder, and return each piece of it as files by path."""
    reader.make(folder)
    return [
        {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}
        for root in sorted(folder.iterdir())
    ]


def _benchmark(kind: type[Recorded], **options: Any) -> list[Act]:
    """Once in a run that stops at the first bad frame, once in one that leaves such frames out."""
    return [partial(_use, kind, {**options, "on_bad_frame": how, "frames_per_step": 1}) for how in ("stop", "skip")]


def _use(kind: type[Recorded], options: dict[str, Any]) -> None:
    """As a run does: test frames, then every step with its pixels."""
    benchmark = kind(kind.Options(**options), seed=0)  # type: ignore[attr-defined]
    _ = benchmark.lost_test_frames + benchmark.unlabelled_test_frames + len(benchmark.test_steps())
    texts = [str(problem) for problem in benchmark.problems]
    for step in Stream(benchmark, RandomLabeller(RandomOptions(per_step=1), seed=0)).steps():
        texts += [frame.video for frame in step.frames]
    "".join((*benchmark.classes, *texts)).encode()


def _check(path: Path, labels: Path | None = None) -> None:
    for line in check(path, labels=labels).lines(20):
        assert line.isprintable(), f"not one printable line: {line!r}"
        assert len(line) < LONGEST_LINE, f"a line of {len(line)} characters: {line[:200]}"


def _override(file: Path) -> None:
    if file.is_symlink() or not file.is_file():
        return
    # What a shell can hand over: no NUL, and bytes that are no text as it decodes them.
    text = file.read_bytes().replace(b"\0", b"").decode("utf-8", "surrogateescape")
    load_config(overrides=[parse_override(line) for line in text.split("\n")]).to_yaml()


def _voc(folder: Path) -> list[Act]:
    by_list = {"sets": ("a", "b")} if (folder / "ImageSets").is_dir() else {}
    return _benchmark(Voc, root=folder, rename={"book": "mug"}, **by_list)


def _labels(folder: Path) -> list[Act]:
    """Labels of another tool: with the frames beside them, and as `data check` reads both."""
    frames, labels = folder / "frames", folder / "labels"
    return [*_benchmark(Video, source=frames, labels=labels), partial(_check, frames, labels)]


def _images(folder: Path) -> Iterator[Act]:
    for path in sorted(folder.iterdir()):
        yield partial(read_orientation, path)
        for upright in (False, True):
            yield partial(read_size, path, upright=upright)
            yield partial(read_pixels, path, upright=upright)


def _videos(folder: Path) -> Iterator[Act]:
    for path in sorted(folder.iterdir()):
        if path.suffix != ".json":
            yield partial(_play, path)
            yield partial(_jump, path)
            yield from _benchmark(Video, source=path, labels=folder / "labels.json", every=2)


def _play(path: Path) -> None:
    for shown in VideoFile(path):
        assert shown.image.shape[2] == 3


def _jump(path: Path) -> None:
    """Back and forth, where in order nobody would notice what is wrong; to some of what may be thousands of frames."""
    frames = VideoFrames(path, lambda problem: None)
    numbers = [*range(min(len(frames), 8)), len(frames) - 1, 0]
    for number in Random(0).sample(numbers, len(numbers)):
        with suppress(InvalidFrame):
            frames.image(number)
    frames.close()


@cache
def _detector(stages: int, *, stride_in_1x1: bool) -> BaseDetector:
    kind, architecture = (TwoStage, "resnet50-c4") if stages == 2 else (OneStage, "retinanet-resnet50-fpn")
    network = weight_seeds.Network(stages)
    detector = kind(network, seeds.CLASSES, learning_rate=1.0)
    detector.backbone_layout = BackboneLayout(
        architecture,
        {"": "backbone.body.", "layer4.": "roi_heads.box_head.layer4."} if stages == 2 else {"": "backbone.body."},
        network.transform.image_mean,
        network.transform.image_std,
        stride_in_1x1 if stages == 2 else None,
    )
    return detector


def _weights(folder: Path) -> Iterator[Act]:
    for path in sorted(folder.iterdir()):
        yield partial(read_classes, str(path))
        yield partial(_start, path)


def _start(path: Path) -> None:
    """Fill a network of two stages; if it does not fit, one of one stage."""
    of_detectron2 = path.suffix == ".pkl"
    try:
        load_weights(_detector(2, stride_in_1x1=of_detectron2), str(path))
    except InvalidData:
        if of_detectron2:
            raise
        load_weights(_detector(1, stride_in_1x1=False), str(path))


READERS = {
    reader.name: reader
    for reader in (
        Reader(
            "config",
            seeds.write_config,
            lambda folder: [lambda: load_config(folder / "config.yaml").to_yaml()],
            names_file=False,
        ),
        Reader(
            "overrides",
            seeds.write_overrides,
            lambda folder: [partial(_override, folder / "overrides.txt")],
            names_file=False,
        ),
        Reader("coco", seeds.write_coco, lambda folder: _benchmark(CocoVideo, annotations=folder / "labels.json")),
        Reader(
            "folder",
            seeds.write_folder,
            lambda folder: _benchmark(Video, source=folder / "frames", labels=folder / "labels.json"),
        ),
        Reader("video", seeds.write_videos, _videos),
        Reader("image", seeds.write_images, _images),
        Reader("oak", seeds.write_oak, lambda folder: _benchmark(Oak, root=folder)),
        Reader("oak-processed", seeds.write_processed, lambda folder: _benchmark(Oak, root=folder)),
        Reader(
            "egoobjects",
            seeds.write_egoobjects,
            lambda folder: _benchmark(EgoObjects, root=folder) + _benchmark(EgoObjects, root=folder, test="eval"),
        ),
        Reader("egoobjects-processed", seeds.write_processed, lambda folder: _benchmark(EgoObjects, root=folder)),
        Reader("voc", seeds.write_voc, _voc),
        Reader("labels-coco", label_seeds.write_coco, _labels),
        Reader("labels-yolo", label_seeds.write_yolo, _labels),
        Reader("labels-voc", label_seeds.write_voc, _labels),
        Reader("labels-cvat", label_seeds.write_cvat, _labels),
        Reader("labels-label-studio", label_seeds.write_label_studio, _labels),
        Reader(
            "frame-names",
            label_seeds.write_frame_names,
            lambda folder: [lambda: read_frame_names(str(folder / "names.csv")).find("a.jpg", "walk")],
        ),
        Reader("detectron2", weight_seeds.write_detectron2, _weights),
        Reader("torchvision", weight_seeds.write_torchvision, _weights),
        Reader("safetensors", weight_seeds.write_safetensors, _weights),
        Reader("check-coco", seeds.write_coco, lambda folder: [partial(_check, folder / "labels.json")]),
        Reader("check-oak", seeds.write_oak, lambda folder: [partial(_check, folder)]),
        Reader("check-voc", seeds.write_voc, lambda folder: [partial(_check, folder)]),
        Reader(
            "check-folder",
            seeds.write_folder,
            lambda folder: [partial(_check, folder / "frames", folder / "labels.json")],
        ),
        Reader("checkpoint", write_checkpoints, checkpoint_acts),
        Reader("run-directory", write_runs, report_acts),
    )
}
