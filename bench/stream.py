"""Frames a second of every source, and whether a step of a long stream costs more than one of a short stream.

    .venv/bin/python bench/stream.py

Files of each layout are written to a temporary folder: some pictures of the built-in world, and as many hard links to
them as the stream is long, so that both lengths read the same bytes, from the disk's cache. A step is handed out as a
run gets it: its frames with their labels, and their pixels. It is timed at chance positions, and in order at the end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import av
import numpy as np
import torch
from harness import Spread, arguments, in_turn, record, table
from PIL import Image

from leocod.benchmarks.base import Benchmark
from leocod.benchmarks.coco_video import CocoVideo, CocoVideoOptions
from leocod.benchmarks.egoobjects import EgoObjects, EgoObjectsOptions
from leocod.benchmarks.oak import Oak, OakOptions
from leocod.benchmarks.video import Video, VideoOptions
from leocod.benchmarks.wander import Wander, WanderOptions

SIZE = (240, 320)
PICTURES = 34
"""Different ones; a stream of files shows them over and over."""
GROUP = 17
"""Frames of a step, and the one held out after it."""
WARM_UP = 1
IN_ORDER = 3
"""Steps read in order towards the end of a stream, in each round."""
ANYWHERE = 8
"""Steps read at chance positions, in each round: some places have more in them than others, some frames are further
from the last key frame."""
NAMES = ("mug", "book")
BOX = (40, 30, 120, 90)


class Scene(NamedTuple):
    """What a layout is made of. Whoever writes one gives back what opens it."""

    folder: Path
    jpegs: list[Path]
    pixels: list[Any]
    steps: int

    @property
    def frames(self) -> int:
        return self.steps * GROUP

    def link(self, number: int, path: Path) -> None:
        """The picture of a frame, at a path of its own."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(self.jpegs[number % len(self.jpegs)])


def written(path: Path, content: Any) -> Path:
    """A JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def oak(scene: Scene) -> Callable[[], Benchmark]:
    """`Raw` and `Label`, a folder for each step, a label file for each picture."""
    corners = dict(zip(("x1", "y1", "x2", "y2"), BOX, strict=True))
    label = written(scene.folder / "label.json", [{"id": 0, "category": NAMES[0], "box2d": corners}])
    for number in range(scene.frames):
        place = f"{number // GROUP}/day_{number}"
        scene.link(number, scene.folder / "Raw" / f"{place}.jpg")
        file = scene.folder / "Label" / f"{place}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.hardlink_to(label)
    return partial(Oak, OakOptions(root=scene.folder, layout="original"), seed=0)


def coco(scene: Scene, *, address: bool) -> dict[str, Any]:
    """The content of a COCO file, and its pictures under `images`."""
    images, annotations = [], []
    height, width = SIZE
    for number in range(scene.frames):
        name = f"{number:06d}.jpg"
        scene.link(number, scene.folder / "images" / name)
        image = {"id": number, "file_name": name, "height": height, "width": width, "video_id": number // 200}
        if address:
            image["url"] = f"https://host/{name}"
        images.append(image if address else {**image, "frame_id": number % 200})
        box = [BOX[0], BOX[1], BOX[2] - BOX[0], BOX[3] - BOX[1]]
        annotation = {"id": number, "image_id": number, "category_id": number % 2 + 1, "bbox": box, "area": 4800}
        annotations.append(annotation)
    categories = [{"id": number + 1, "name": name} for number, name in enumerate(NAMES)]
    content: dict[str, Any] = {"images": images, "annotations": annotations, "categories": categories}
    if not address:
        content["videos"] = [{"id": number, "name": f"video {number}"} for number in range(scene.frames // 200 + 1)]
    return content


def egoobjects(scene: Scene) -> Callable[[], Benchmark]:
    """One file in LVIS form beside `images`."""
    written(scene.folder / "EgoObjectsV1_unified_train.json", coco(scene, address=True))
    return partial(EgoObjects, EgoObjectsOptions(root=scene.folder, layout="original"), seed=0)


def coco_video(scene: Scene) -> Callable[[], Benchmark]:
    """One file whose images have an order."""
    file = written(scene.folder / "labels.json", coco(scene, address=False))
    return partial(CocoVideo, CocoVideoOptions(annotations=file), seed=0)


def processed(scene: Scene) -> Callable[[], Benchmark]:
    """Lists of frames by step, a JSON file for each frame."""
    height, width = SIZE
    annotations = [{"category": NAMES[0], "bbox": list(BOX), "bbox_mode": 0}]
    lines: dict[bool, list[str]] = {True: ["step_name,json_file"], False: ["step_name,json_file,oracle"]}
    for number in range(scene.frames):
        step = f"step_{number // GROUP:05d}"
        scene.link(number, scene.folder / "oak" / "images" / step / f"{number}.jpg")
        content = {"file_name": f"{number}.jpg", "height": height, "width": width, "annotations": annotations}
        written(scene.folder / "oak" / "annotations" / step / f"{number}.json", content)
        held_out = number % GROUP == GROUP - 1
        row = f"{step},oak/annotations/{step}/{number}.json"
        lines[held_out].append(row if held_out else f"{row},1")
    written(scene.folder / "oak" / "mapping.json", {name: number for number, name in enumerate(NAMES)})
    for name, rows in (("test", lines[True]), ("train_anno16", lines[False])):
        (scene.folder / "oak" / f"{name}.csv").write_text("\n".join(rows))
    return partial(Oak, OakOptions(root=scene.folder, layout="processed"), seed=0)


def video(scene: Scene) -> Callable[[], Benchmark]:
    """A file with a key frame every second."""
    scene.folder.mkdir(parents=True, exist_ok=True)
    path = scene.folder / "video.mp4"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=30, options={"preset": "ultrafast"})
        stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
        stream.codec_context.gop_size = 30
        for pixels in islice(cycle(scene.pixels), scene.frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return partial(Video, VideoOptions(source=path, classes=NAMES), seed=0)


LAYOUTS: dict[str, Callable[[Scene], Callable[[], Benchmark]]] = {
    "OAK": oak,
    "EgoObjects": egoobjects,
    "COCO with an order": coco_video,
    "processed": processed,
    "video file": video,
}


def pictures(count: int) -> list[Any]:
    """Frames of the built-in world, in the size of the files."""
    walk = Wander(WanderOptions(steps=-(-count // 16), height=SIZE[0], width=SIZE[1]), seed=0)
    return [frame.image() for step in range(walk.steps) for frame, _ in walk.frames_of(step)][:count]


def read(benchmark: Benchmark, step: int) -> None:
    """What a stream does to hand out a step."""
    for frame, _ in benchmark.frames_of(step):
        frame.load()


def by_chance(benchmark: Benchmark, rounds: int) -> Callable[[], None]:
    """A call that reads steps anywhere."""
    random = np.random.default_rng(0)

    def work() -> None:
        for step in random.integers(benchmark.steps, size=ANYWHERE).tolist():
            read(benchmark, step)

    return work


def at_the_end(benchmark: Benchmark, rounds: int) -> Callable[[], None]:
    """A call that reads the next steps in order; with the last round, the stream is over."""
    last = range(benchmark.steps - IN_ORDER * rounds, benchmark.steps)
    # A stream that has fewer comes again.
    steps = iter([step % benchmark.steps for step in last])

    def work() -> None:
        for step in islice(steps, IN_ORDER):
            read(benchmark, step)

    return work


class Source(NamedTuple):
    """A kind of stream in two lengths; each is opened when it is asked for."""

    name: str
    frame: str
    """Its size."""
    short: Callable[[], Benchmark]
    long: Callable[[], Benchmark]


def sources(folder: Path, steps: int, times: int, walk: int) -> Iterator[Source]:
    """All of them, one after the other; the files of one are written when it is asked for."""
    short, long = (partial(Wander, WanderOptions(steps=length), seed=0) for length in (walk, walk * times))
    yield Source("built-in world", "128 x 96", short, long)
    pixels = pictures(PICTURES)
    jpegs = [folder / f"{number}.jpg" for number in range(len(pixels))]
    for path, one in zip(jpegs, pixels, strict=True):
        Image.fromarray(one).save(path, quality=90)
    for name, write in LAYOUTS.items():
        scenes = [Scene(folder / name / str(length), jpegs, pixels, length) for length in (steps, steps * times)]
        yield Source(name, f"{SIZE[1]} x {SIZE[0]}", *(write(scene) for scene in scenes))


WAYS = {"anywhere": by_chance, "at the end": at_the_end}


class Opened(NamedTuple):
    """A stream, and how long it took to open it."""

    benchmark: Benchmark
    seconds: float


def opened(opener: Callable[[], Benchmark]) -> Opened:
    """Its index is read; no pixels are."""
    began = time.perf_counter()
    benchmark = opener()
    return Opened(benchmark, time.perf_counter() - began)


def measured(short: Opened, long: Opened, rounds: int) -> dict[str, Any]:
    """Both lengths in turn, anywhere and at the end."""
    works = {
        f"{where}, {length}": way(one.benchmark, rounds + WARM_UP)
        for where, way in WAYS.items()
        for length, one in (("short", short), ("long", long))
    }
    taken = in_turn(works, rounds=rounds, warm_up=WARM_UP)
    frames = IN_ORDER * (GROUP - 1)
    found: dict[str, Any] = {
        "steps": [short.benchmark.steps, long.benchmark.steps],
        "seconds to open": [short.seconds, long.seconds],
        "frames a second": Spread(tuple(frames / seconds for seconds in taken["at the end, long"].values)),
        **{f"seconds {name}": spread for name, spread in taken.items()},
    }
    for where in WAYS:
        long_one, short_one = taken[f"{where}, long"], taken[f"{where}, short"]
        found[f"long / short, {where}"] = long_one.over(short_one)
        found[f"long / short, {where}, of medians"] = long_one.median / short_one.median
    return found


def main() -> None:
    """Every source at both lengths."""
    options = arguments(__doc__, rounds=20, steps=10, times=100, walk=400)
    torch.set_num_threads(options.threads)
    rows, content, worst = [], {}, {}
    with TemporaryDirectory() as temporary:
        for name, size, short, long in sources(Path(temporary), options.steps, options.times, options.walk):
            found = measured(opened(short), opened(long), options.rounds)
            worst[name] = max(found[f"long / short, {where}, of medians"] for where in WAYS)
            ratios = [f"{found[f'long / short, {where}, of medians']:.2f}" for where in WAYS]
            steps = " and ".join(map(str, found["steps"]))
            to_open = " and ".join(f"{seconds:.2f}" for seconds in found["seconds to open"])
            rows.append([name, size, found["frames a second"].told(1, 0), steps, *ratios, to_open])
            kept = {key: value.kept() if isinstance(value, Spread) else value for key, value in found.items()}
            content[name] = {"frame": size, **kept}
    heads = ["source", "frame", "frames a second", "steps", "long / short, anywhere", "at the end", "to open, s"]
    print(table(heads, rows))
    name = max(worst, key=worst.__getitem__)
    print(f"\na step of a stream {options.times} x as long / a step, at worst: {worst[name]:.2f} ({name})")
    record(
        options,
        {
            "rounds": options.rounds,
            "steps read in order": IN_ORDER,
            "steps read anywhere": ANYWHERE,
            "sources": content,
        },
    )


if __name__ == "__main__":
    main()
