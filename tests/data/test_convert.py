from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image as PillowImage

from leocod.benchmarks.base import Benchmark
from leocod.benchmarks.coco_video import CocoVideo, CocoVideoOptions
from leocod.benchmarks.egoobjects import EgoObjects, EgoObjectsOptions
from leocod.benchmarks.oak import Oak, OakOptions
from leocod.benchmarks.video import Video, VideoOptions
from leocod.benchmarks.voc import Voc, VocOptions
from leocod.benchmarks.wander import Wander, WanderOptions
from leocod.data.convert import LabelChoice, OutputLayout, convert
from leocod.errors import InvalidConfig, InvalidData
from leocod.labelling.fixed import FixedLabeller, FixedOptions
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream, describe_stream
from leocod.types import Frame, LabelledFrame, Labels

COSTS = (2, 1)
LAYOUTS: tuple[OutputLayout, ...] = ("processed", "coco")
LANDSCAPE, PORTRAIT = (12, 20), (20, 12)
THIRDS = [[1 / 3, 0.1, 10 / 3, 11.7], [2, 3.3, 7.7, 9.1]]
"""Corners that no decimal number of a few digits gives."""


def pixels(number: int) -> np.ndarray:
    size = PORTRAIT if number % 2 else LANDSCAPE
    return np.random.default_rng(number).integers(0, 255, (*size, 3), dtype=np.uint8)


def boxes(number: int) -> list[list[float]]:
    """Of a frame; every third one is empty."""
    return THIRDS[: number % 3]


class Clip(Benchmark):
    """Five frames in two steps, the last one short, of two videos that come in turns; two test frames."""

    name = "clip"
    classes = ("mug", "book")
    steps = 2

    def __init__(self) -> None:
        self.pairs: list[LabelledFrame] = []
        for number in range(7):
            frame = Frame(10 + number, f"walk {number % 2}", number // 2, pixels(number).shape[:2], pixels(number))
            classes = np.arange(len(boxes(number))) % 2
            self.pairs.append((frame, Labels(np.asarray(boxes(number), np.float32), classes)))

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        return self.pairs[:3] if step == 0 else self.pairs[4:6]

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return [self.pairs[3], self.pairs[6]]


def save(path: Path, number: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.fromarray(pixels(number)).save(path)
    return path


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


SPLIT: dict[str, Any] = {"frames_per_step": 3, "hold_out": 1}
FRAMES = 10
"""Two steps and a short one."""


def a_clip(folder: Path) -> Benchmark:
    return Clip()


def a_walk(folder: Path) -> Benchmark:
    return Wander(WanderOptions(steps=2, frames_per_step=3, width=64, height=48), seed=3)


def coco_content(names: Sequence[str]) -> dict[str, Any]:
    corners = [(number, box) for number in range(len(names)) for box in boxes(number)]
    return {
        "categories": [{"id": 4, "name": "mug"}, {"id": 2, "name": "book"}],
        "images": [
            {
                "id": 50 + n,
                "file_name": name,
                "video_id": n // 6,
                "height": pixels(n).shape[0],
                "width": pixels(n).shape[1],
            }
            for n, name in enumerate(names)
        ],
        "annotations": [
            {"id": i, "image_id": 50 + n, "category_id": 2 + i % 2 * 2, "bbox": [a, b, c - a, d - b]}
            for i, (n, (a, b, c, d)) in enumerate(corners)
        ],
    }


def a_coco_file(folder: Path) -> Benchmark:
    names = [f"{number}.png" for number in range(FRAMES)]
    for number, name in enumerate(names):
        save(folder / "images" / name, number)
    write(folder / "a.json", coco_content(names))
    return CocoVideo(CocoVideoOptions(annotations=folder / "a.json", **SPLIT), seed=0)


def egoobjects(folder: Path) -> Benchmark:
    names = [f"{number}.jpg" for number in range(FRAMES)]
    for number, name in enumerate(names):
        save(folder / "images" / name, number)
    write(folder / "EgoObjectsV1_unified_train.json", coco_content(names))
    return EgoObjects(EgoObjectsOptions(root=folder, **SPLIT), seed=0)


def oak(folder: Path) -> Benchmark:
    for number in range(FRAMES):
        name = f"{number // 4}/walk_{number // 5}_{number}"
        save(folder / "Raw" / f"{name}.jpg", number)
        write(
            folder / "Label" / f"{name}.json",
            [
                {
                    "id": i,
                    "category": ("mug", "book")[i],
                    "box2d": dict(zip(("x1", "y1", "x2", "y2"), box, strict=True)),
                }
                for i, box in enumerate(boxes(number))
            ],
        )
    return Oak(OakOptions(root=folder, **SPLIT), seed=0)


def voc(folder: Path) -> Benchmark:
    """Images in the order of two lists, some of them without labels."""
    corner = "<{}>{}</{}>"
    for number in range(FRAMES):
        save(folder / "JPEGImages" / f"{number}.jpg", number)
        objects = "".join(
            f"<object><name>{('mug', 'book')[i]}</name><bndbox>"
            + "".join(
                corner.format(key, value, key)
                for key, value in zip(("xmin", "ymin", "xmax", "ymax"), (a + 1, b + 1, c, d), strict=True)
            )
            + "</bndbox></object>"
            for i, (a, b, c, d) in enumerate(boxes(number))
        )
        file = folder / "Annotations" / f"{number}.xml"
        file.parent.mkdir(exist_ok=True)
        if number != 5:
            file.write_text(f"<annotation>{objects}</annotation>")
    lists = folder / "ImageSets" / "Main"
    lists.mkdir(parents=True)
    for name, numbers in (("odd", range(1, FRAMES, 2)), ("even", range(0, FRAMES, 2))):
        (lists / f"{name}.txt").write_text("".join(f"{number}\n" for number in numbers))
    return Voc(VocOptions(root=folder, sets=("odd", "even"), **SPLIT), seed=0)


def processed(folder: Path) -> Benchmark:
    """Boxes in both forms, a published choice of labels, and test frames."""
    rows = []
    for number in range(FRAMES):
        save(folder / "ego" / "images" / f"{number}.jpg", number)
        height, width = pixels(number).shape[:2]
        annotations = [
            {"category": ("mug", "book")[i], "bbox": [a, b, c - a, d - b] if i else [a, b, c, d], "bbox_mode": i}
            for i, (a, b, c, d) in enumerate(boxes(number))
        ]
        content = {"file_name": f"/far/away/{number}.jpg", "height": height, "width": width, "image_id": number}
        write(folder / "ego" / "annotations" / f"{number}.json", {**content, "annotations": annotations})
        rows.append(f"step_{number // 4:05d},ego/annotations/{number}.json")
    write(folder / "ego" / "mapping.json", {"book": 1, "mug": 0})
    for cost in (3, *COSTS):
        chosen = [f"{row},{int(number % 4 >= 3 - cost)}" for number, row in enumerate(rows) if number % 4 != 3]
        (folder / "ego" / f"train_anno{cost}.csv").write_text("\n".join(["step_name,json_file,oracle", *chosen]))
    (folder / "ego" / "test.csv").write_text("\n".join(["step_name,json_file", *rows[3::4]]))
    return Oak(OakOptions(root=folder), seed=0)


def a_folder(folder: Path) -> Benchmark:
    """Of frames of which a few are labelled."""
    for number in range(FRAMES):
        save(folder / "film" / f"{number}.png", number)
    content = coco_content([f"{number}.png" for number in range(FRAMES)])
    kept = [image for image in content["images"] if image["id"] % 3 != 1]
    ids = {image["id"] for image in kept}
    annotations = [one for one in content["annotations"] if one["image_id"] in ids]
    write(folder / "labels.json", {**content, "images": kept, "annotations": annotations})
    return Video(VideoOptions(source=folder / "film", labels=folder / "labels.json", **SPLIT), seed=0)


def a_film(folder: Path) -> Benchmark:
    folder.mkdir(exist_ok=True)
    with av.open(str(folder / "walk.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(FRAMES):
            grey = np.full((48, 64, 3), 20 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode())
    return Video(VideoOptions(source=folder / "walk.mp4", classes=("mug",), **SPLIT), seed=0)


SOURCES = (a_clip, a_walk, a_coco_file, egoobjects, oak, voc, processed, a_folder, a_film)


def labels_of(benchmark: Benchmark) -> dict[int, LabelChoice]:
    """What a run is given at each cost: the published choice where there is one."""
    info = describe_stream(benchmark)
    labellers = {
        cost: RandomLabeller(RandomOptions(per_step=cost), seed=5)
        if info.published(cost) is None
        else FixedLabeller(FixedOptions(per_step=cost), stream=info)
        for cost in COSTS
    }
    return {cost: LabelChoice(Stream(benchmark, labeller)) for cost, labeller in labellers.items()}


def reread(out: Path, to: OutputLayout) -> Benchmark:
    if to == "coco":
        return CocoVideo(CocoVideoOptions(annotations=out / "annotations.json"), seed=0)
    return Oak(OakOptions(root=out), seed=0)


def everything(benchmark: Benchmark) -> list[list[LabelledFrame]]:
    return [*(list(benchmark.frames_of(step)) for step in range(benchmark.steps)), list(benchmark.test)]


@pytest.mark.parametrize("to", LAYOUTS)
@pytest.mark.parametrize("source", SOURCES)
def test_what_is_read_back_is_what_was_written(
    tmp_path: Path, source: Callable[[Path], Benchmark], to: OutputLayout
) -> None:
    before = source(tmp_path / "source")

    convert(before, tmp_path / "out", to=to, labels=labels_of(before))
    after = reread(tmp_path / "out", to)

    assert after.classes == before.classes
    assert after.test_steps() == before.test_steps()
    for old, new in zip(everything(before), everything(after), strict=True):
        for (frame, labels), (same, read) in zip(old, new, strict=True):
            assert (same.video, same.size) == (frame.video, frame.size)
            assert np.array_equal(same.image(), frame.image())
            if isinstance(frame.content, Path):
                assert isinstance(same.content, Path)
                assert same.content.read_bytes() == frame.content.read_bytes()
            assert read.source == labels.source
            assert np.array_equal(read.boxes, labels.boxes)
            assert np.array_equal(read.classes, labels.classes)


@pytest.mark.parametrize("to", LAYOUTS)
@pytest.mark.parametrize("source", SOURCES)
def test_the_frames_labelled_at_each_cost_stay_the_same(
    tmp_path: Path, source: Callable[[Path], Benchmark], to: OutputLayout
) -> None:
    before = source(tmp_path / "source")

    convert(before, tmp_path / "out", to=to, labels=labels_of(before))
    after = reread(tmp_path / "out", to)

    for cost, record in labels_of(before).items():
        chosen = after.published_frames(cost)
        assert chosen is not None
        for step in range(before.steps):
            revealed = record.reveal(step, before.frames_of(step))
            old = [number for number, (frame, _) in enumerate(before.frames_of(step)) if frame.id in revealed]
            new = [number for number, (frame, _) in enumerate(after.frames_of(step)) if frame.id in chosen]
            assert new == old


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


def test_the_processed_layout_is_the_authors(tmp_path: Path) -> None:
    clip = Clip()

    convert(clip, tmp_path / "out", to="processed", labels=labels_of(clip))

    folder = tmp_path / "out" / "clip"
    rows = rows_of(folder / "train_anno2.csv")
    assert [row["step_name"] for row in rows] == ["step_00000"] * 3 + ["step_00001"] * 2
    assert sum(int(row["oracle"]) for row in rows) == 4
    assert json.loads((folder / "mapping.json").read_text()) == {"mug": 0, "book": 1}
    assert rows[2]["json_file"] == "clip/annotations/walk_0/000001.json"
    frame = json.loads((tmp_path / "out" / rows[2]["json_file"]).read_text())
    assert (frame["file_name"], frame["height"], frame["width"]) == ("clip/images/walk_0/000001.png", 12, 20)
    assert [one["category"] for one in frame["annotations"]] == ["mug", "book"]
    assert all(one["bbox_mode"] == 0 for one in frame["annotations"])


def test_a_frame_that_nobody_labelled_is_marked_and_never_revealed(tmp_path: Path) -> None:
    film = a_film(tmp_path / "source")

    for to in LAYOUTS:
        convert(film, tmp_path / to, to=to, labels=labels_of(film))

    images = json.loads((tmp_path / "coco" / "annotations.json").read_text())["images"]
    assert all(image["labelled"] is False for image in images)
    rows = rows_of(tmp_path / "processed" / "video" / "train_anno2.csv")
    assert {row["oracle"] for row in rows} == {"0"}


def test_frames_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    clip = Clip()
    clip.pairs = [
        (replace(frame, video="A/../annotations" if frame.id % 2 else "a/../Annotations", index=0), labels)
        for frame, labels in clip.pairs
    ]

    convert(clip, tmp_path / "out", to="processed", labels=labels_of(clip))

    names = [str(file).lower() for file in (tmp_path / "out").rglob("*.png")]
    assert len(set(names)) == 7
    assert len(everything(reread(tmp_path / "out", "processed"))[0]) == 3


def test_a_video_may_be_called_like_a_folder_of_the_layout(tmp_path: Path) -> None:
    clip = Clip()
    clip.pairs = [(replace(frame, video="annotations"), labels) for frame, labels in clip.pairs]

    convert(clip, tmp_path / "out", to="processed", labels=labels_of(clip))

    frame, _ = reread(tmp_path / "out", "processed").frames_of(0)[0]
    assert frame.video == "annotations"
    assert np.array_equal(frame.image(), pixels(0))


def test_linked_pictures_share_their_bytes_with_the_source(tmp_path: Path) -> None:
    before = a_coco_file(tmp_path / "source")

    convert(before, tmp_path / "linked", to="coco", labels={}, link=True)
    convert(before, tmp_path / "copied", to="coco", labels={})

    source, linked, copied = (tmp_path / name / "images" for name in ("source", "linked", "copied"))
    assert (linked / "0" / "0.png").samefile(source / "0.png")
    assert not (copied / "0" / "0.png").samefile(source / "0.png")


def test_frames_that_cannot_be_read_are_left_out_where_the_benchmark_skips_them(tmp_path: Path) -> None:
    a_coco_file(tmp_path / "source")
    for number in (0, 4, 5, 6):
        (tmp_path / "source" / "images" / f"{number}.png").write_bytes(b"no picture")
    options = CocoVideoOptions(annotations=tmp_path / "source" / "a.json", on_bad_frame="skip", **SPLIT)
    before = CocoVideo(options, seed=0)

    for to in LAYOUTS:
        left_out = convert(before, tmp_path / to, to=to, labels=labels_of(before))
        after = reread(tmp_path / to, to)

        assert left_out == 4
        assert [len(pairs) for pairs in everything(after)] == [2, 2, 2]


@pytest.mark.parametrize("to", LAYOUTS)
def test_a_photo_that_had_to_be_turned_is_written_upright(tmp_path: Path, to: OutputLayout) -> None:
    note = PillowImage.Exif()
    note[0x0112] = 8
    (tmp_path / "film").mkdir()
    PillowImage.fromarray(pixels(0)).save(tmp_path / "film" / "photo.png", exif=note)
    before = Video(VideoOptions(source=tmp_path / "film", classes=("mug",), frames_per_step=1), seed=0)

    assert convert(before, tmp_path / to, to=to, labels=labels_of(before)) == 0

    ((frame, _),) = before.frames_of(0)
    ((again, _),) = reread(tmp_path / to, to).frames_of(0)
    np.testing.assert_array_equal(again.image(), np.rot90(pixels(0)))
    np.testing.assert_array_equal(again.image(), frame.image())
    assert isinstance(again.content, Path)
    assert again.content.name == "photo.png"


@pytest.mark.parametrize("damage", [b"", b"no picture"])
def test_damage_does_not_change_which_other_frames_are_labelled(tmp_path: Path, damage: bytes) -> None:
    whole = a_coco_file(tmp_path / "source")
    before = labels_of(whole)
    convert(whole, tmp_path / "whole", to="coco", labels=before)
    options = CocoVideoOptions(annotations=tmp_path / "source" / "a.json", on_bad_frame="skip", **SPLIT)
    lost = before[1].frames[0][0]
    (tmp_path / "source" / "images" / f"{lost}.png").write_bytes(damage)
    damaged = CocoVideo(options, seed=0)
    after = labels_of(damaged)
    convert(damaged, tmp_path / "damaged", to="coco", labels=after)

    for cost in COSTS:
        left = {step: [one for one in frames if one != lost] for step, frames in before[cost].frames.items()}
        assert after[cost].frames == {step: frames for step, frames in left.items() if frames}


@pytest.mark.parametrize("to", LAYOUTS)
def test_nothing_is_left_when_it_fails(tmp_path: Path, to: OutputLayout) -> None:
    before = a_coco_file(tmp_path / "source")
    (tmp_path / "source" / "images" / "8.png").unlink()

    with pytest.raises(InvalidData, match=r"8\.png: No such file"):
        convert(before, tmp_path / "out", to=to, labels=labels_of(before))

    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_taken_folder_is_left_alone_and_an_empty_one_is_filled(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    (tmp_path / "empty").mkdir()

    with pytest.raises(InvalidConfig, match="taken is already there"):
        convert(Clip(), tmp_path / "taken", to="coco", labels={})
    convert(Clip(), tmp_path / "empty", to="coco", labels={})

    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["mine.txt"]
    assert (tmp_path / "empty" / "annotations.json").is_file()


def test_every_step_is_told(tmp_path: Path) -> None:
    told: list[int] = []

    convert(Clip(), tmp_path / "out", to="coco", labels={}, progress=lambda: told.append(1))

    assert len(told) == 2


def change(file: Path, edit: Callable[[Any], None]) -> None:
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda content: content["images"].sort(key=lambda image: image["id"] % 4), "its step 0 comes after step 1"),
        (lambda content: content["images"].reverse(), "image 16: its step 1 comes after step 0"),
        (lambda content: content["images"][-1].update(step=3), "image 16: its step 3 comes after step 1"),
    ],
)
def test_steps_that_are_not_in_order_from_0_on_are_refused(
    tmp_path: Path, edit: Callable[[Any], None], told: str
) -> None:
    convert(Clip(), tmp_path / "out", to="coco", labels={})

    change(tmp_path / "out" / "annotations.json", edit)

    with pytest.raises(InvalidData, match=told):
        reread(tmp_path / "out", "coco")


def test_a_choice_of_frames_that_are_not_there_is_refused(tmp_path: Path) -> None:
    convert(Clip(), tmp_path / "out", to="coco", labels=labels_of(Clip()))

    change(tmp_path / "out" / "labels_2.json", lambda content: content["frames"]["0"].append(99))

    with pytest.raises(InvalidData, match=r"labels_2\.json: there is no image 99"):
        reread(tmp_path / "out", "coco")


def test_a_written_coco_file_can_be_divided_anew(tmp_path: Path) -> None:
    convert(Clip(), tmp_path / "out", to="coco", labels=labels_of(Clip()))

    options = CocoVideoOptions(annotations=tmp_path / "out" / "annotations.json", own_steps=False, **SPLIT)
    anew = CocoVideo(options, seed=0)

    assert [len(pairs) for pairs in everything(anew)] == [3, 3, 1]
    assert [frame.video for frame, _ in anew.frames_of(0)] == ["walk 0"] * 3
    assert anew.published_frames(2) is None


@pytest.mark.parametrize("to", LAYOUTS)
@pytest.mark.parametrize("name", ["../../out", "/etc", "..", "", "a/b", "nul\0", "\ud800", "two\nlines", "v" * 10_000])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str, to: OutputLayout) -> None:
    clip = Clip()
    clip.name = name
    clip.pairs = [(replace(frame, video=name), labels) for frame, labels in clip.pairs]

    convert(clip, tmp_path / "deep" / "out", to=to, labels=labels_of(clip))

    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    pictures = list((tmp_path / "deep" / "out").rglob("*.png"))
    assert len(pictures) == 7
    # One folder for the video, below the layout's own.
    assert {len(path.relative_to(tmp_path / "deep" / "out").parts) for path in pictures} == {
        4 if to == "processed" else 3
    }
