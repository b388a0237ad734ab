"""Small valid files of every form that is read: damage starts from something whole."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import yaml
from PIL import Image as PillowImage

from leocod.files.images import ORIENTATION
from leocod.run.config import load_config

HEIGHT, WIDTH = 12, 16
CLASSES = ("mug", "book")


def pixels(number: int = 0) -> np.ndarray:
    """A picture that no two numbers share."""
    return np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def write_picture(path: Path, number: int = 0) -> None:
    """Such a picture as a file, whatever its name ends in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.fromarray(pixels(number)).save(path)


def write_json(path: Path, content: Any) -> None:
    """A JSON file, with the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def write_config(folder: Path) -> None:
    """The quickstart, the same with every default in it, and one that reads files."""
    settings = {
        "quickstart": {"seed": 3, "strategy": "incremental", "labels": {"per_step": 2}},
        "whole": yaml.safe_load(load_config().to_yaml()),
        "files": {
            "benchmark": {"name": "coco_video", "annotations": "a.json", "classes": ["mug"], "videos": [1, "b"]},
            "detector": {"name": "faster_rcnn", "weights": "w.pkl"},
            "strategy": {"name": "derpp"},
            "efficient_cls": None,
        },
    }
    for name, content in settings.items():
        (folder / name).mkdir()
        (folder / name / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def write_overrides(folder: Path) -> None:
    """Two at a time, as on a command line."""
    lines = (
        "seed=4", "strategy=icarl", "strategy.memory_per_class=10", "benchmark.only=[mug, chair]",
        "labels={per_step: 2}", "efficient_cls=null", "efficient_cls.pseudo_labels=false", "detector.weights=null",
    )  # fmt: skip
    for number in range(0, len(lines), 2):
        (folder / str(number)).mkdir()
        (folder / str(number) / "overrides.txt").write_text("\n".join(lines[number : number + 2]))


def coco_content(count: int, *, steps: bool = False) -> dict[str, Any]:
    """What a COCO file of so many frames of two videos says, each frame with one object."""
    images: list[dict[str, Any]] = [
        {"id": n, "file_name": f"{n}.png", "height": HEIGHT, "width": WIDTH, "video_id": n % 2 + 1, "frame_id": n}
        for n in range(count)
    ]
    if steps:
        for image in images:
            image |= {"step": image["id"] // 2, "held_out": image["id"] % 2 == 1, "labelled": image["id"] != 2}
    return {
        "videos": [{"id": 1, "name": "walk"}, {"id": 2, "name": "ride"}],
        "categories": [{"id": number + 1, "name": name} for number, name in enumerate(CLASSES)],
        "images": images,
        "annotations": [
            {"id": n, "image_id": n % count, "category_id": n % 2 + 1, "bbox": [1, 2.5, 6, 7], "iscrowd": 0, "area": 42}
            for n in range(count)
        ],
    }


def write_coco(folder: Path) -> None:
    """One whose frames are to be divided, one that tells its steps and whose labels were chosen."""
    for name, told in (("plain", False), ("steps", True)):
        for number in range(4):
            write_picture(folder / name / "images" / f"{number}.png", number)
        write_json(folder / name / "labels.json", coco_content(4, steps=told))
    write_json(folder / "steps" / "labels_1.json", {"frames": {"0": [0], "1": [2]}})


def write_folder(folder: Path) -> None:
    """A folder of frames, one of them turned, with a labels file beside it."""
    for number in range(3):
        write_picture(folder / "video" / "frames" / f"{number}.png", number)
    turned = PillowImage.Exif()
    turned[ORIENTATION] = 6
    PillowImage.fromarray(pixels(3)).save(folder / "video" / "frames" / "3.jpg", exif=turned)
    content = coco_content(4)
    content["images"][3] |= {"file_name": "3.jpg", "height": WIDTH, "width": HEIGHT}
    write_json(folder / "video" / "labels.json", content)


def write_videos(folder: Path) -> None:
    """Small films in the usual containers and codecs, with labels by frame number."""
    kinds = (
        ("h264.mp4", "libx264", "yuv420p"), ("mpeg4.mp4", "mpeg4", "yuv420p"), ("mjpeg.avi", "mjpeg", "yuvj420p"),
        ("vp8.webm", "libvpx", "yuv420p"), ("vp9.mkv", "libvpx-vp9", "yuv420p"), ("mpeg2.ts", "mpeg2video", "yuv420p"),
        ("ffv1.mkv", "ffv1", "yuv420p"), ("theora.ogv", "libtheora", "yuv420p"), ("flv1.flv", "flv", "yuv420p"),
        ("raw.avi", "rawvideo", "rgb24"), ("gif.gif", "gif", "rgb8"),
    )  # fmt: skip
    for name, codec, form in kinds:
        (folder / name.replace(".", "_")).mkdir()
        path = folder / name.replace(".", "_") / name
        try:
            _write_video(path, codec, form)
        # Not every build has every encoder; those of the first few are always there.
        except (av.FFmpegError, ValueError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()
            continue
        content = coco_content(3)
        for image in content["images"]:
            image |= {"frame_id": 2 * image["id"], "height": 32, "width": 32}
        write_json(path.parent / "labels.json", content)


def _write_video(path: Path, codec: str, form: str) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 32, form
        stream.codec_context.gop_size = 3
        for number in range(6):
            spots = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
            frame = av.VideoFrame.from_ndarray(spots.repeat(8, 0).repeat(8, 1), format="rgb24")
            container.mux(stream.encode(frame.reformat(format=form)))
        container.mux(stream.encode())


def write_images(folder: Path) -> None:
    """Every format in the forms in which it is common, and some in which it is not."""
    for name, image, options in _images():
        path = folder / name.replace(".", "_") / name
        path.parent.mkdir()
        image.save(path, **options)
    (folder / "rle_bmp").mkdir()
    (folder / "rle_bmp" / "rle.bmp").write_bytes(_run_length_bmp())
    for name, content in (("text.ppm", b"P3 2 1 255 1 2 3 4 5 6 "), ("float.ppm", b"Pf 2 1 -1.0\n" + bytes(8))):
        (folder / name.replace(".", "_")).mkdir()
        (folder / name.replace(".", "_") / name).write_bytes(content)


def _images() -> Iterator[tuple[str, PillowImage.Image, dict[str, Any]]]:
    image = PillowImage.fromarray(pixels())
    turned = PillowImage.Exif()
    turned[ORIENTATION] = 8
    yield "plain.png", image, {}
    yield "palette.png", image.quantize(16), {"transparency": 1, "exif": turned}
    yield "alpha.png", image.convert("LA"), {"dpi": (72, 72), "compress_level": 0}
    yield "deep.png", PillowImage.fromarray(np.arange(HEIGHT * WIDTH, dtype=np.uint16).reshape(HEIGHT, WIDTH)), {}
    yield "moving.png", image, {"save_all": True, "append_images": [image.rotate(90)], "default_image": True}
    yield "plain.jpg", image, {"exif": turned}
    yield "progressive.jpg", image, {"progressive": True, "comment": "x", "icc_profile": bytes(200)}
    yield "ink.jpg", image.convert("CMYK"), {}
    yield "grey.jpg", image.convert("L"), {"restart_marker_rows": 1}
    yield "plain.gif", image.quantize(8), {"transparency": 2}
    yield "moving.gif", image.quantize(8), {"save_all": True, "append_images": [image.rotate(90).quantize(8)]}
    yield "plain.tiff", image, {"exif": turned}
    for compression in ("tiff_lzw", "tiff_adobe_deflate", "jpeg", "packbits"):
        yield f"{compression}.tiff", image, {"compression": compression}
    yield "fax.tiff", image.convert("1"), {"compression": "group4"}
    yield "pages.tiff", image, {"save_all": True, "append_images": [image.convert("L")]}
    yield "float.tiff", image.convert("F"), {}
    yield "lossy.webp", image, {"exif": turned}
    yield "lossless.webp", image.convert("RGBA"), {"lossless": True}
    yield "moving.webp", image, {"save_all": True, "append_images": [image.rotate(90)]}
    yield "plain.ppm", image, {}
    yield "bits.ppm", image.convert("1"), {}
    yield "plain.bmp", image, {}
    yield "palette.bmp", image.quantize(16), {}


def _run_length_bmp() -> bytes:
    """Four by two pixels, in runs, which Pillow reads but does not write."""
    lines = b"\x04\x01\x00\x00\x00\x03\x01\x02\x03\x00\x01\x00\x00\x01"
    palette = bytes(range(64))
    start = 54 + len(palette)
    header = struct.pack("<IiiHHIIiiII", 40, 4, 2, 1, 8, 1, len(lines), 0, 0, 16, 0)
    return b"BM" + struct.pack("<IHHI", start + len(lines), 0, 0, start) + header + palette + lines


def write_oak(folder: Path) -> None:
    """As it was released: one without and one with labels of test frames apart, in each form that label files have."""
    for name, apart in (("together", False), ("apart", True)):
        root = folder / name
        for number in range(4):
            inner = f"{number // 2}/day_video_{number}"
            write_picture(root / "Raw" / f"{inner}.jpg", number)
            box = {"x1": 1, "y1": 1.5, "x2": 9, "y2": 8}
            marks: Any = [{"id": n, "category": category, "box2d": box} for n, category in enumerate(CLASSES)]
            forms = (marks, [{"labels": marks}], {"DataList": [{"labels": marks}]}, marks)
            write_json(root / ("Label_test" if apart and number % 2 else "Label") / f"{inner}.json", forms[number])


def write_processed(folder: Path) -> None:
    """The authors' layout: two steps of one frame with one held out, at two costs."""
    root = folder / "processed"
    lists: dict[str, list[str]] = {"train": [], "test": []}
    for number in range(4):
        inner = f"step_{number // 2:05d}/{number}"
        write_picture(root / "set" / "images" / f"{inner}.png", number)
        marks = [{"category": "mug", "bbox": [1, 1, 6, 7], "bbox_mode": number % 2} for _ in range(2)]
        frame = {"file_name": f"{number}.png", "height": HEIGHT, "width": WIDTH, "image_id": number, "video": "walk"}
        write_json(root / "set" / "annotations" / f"{inner}.json", {**frame, "annotations": marks, "labelled": True})
        row = f"step_{number // 2:05d},set/annotations/{inner}.json"
        lists["test" if number % 2 else "train"].append(row)
    (root / "set" / "test.csv").write_text("\n".join(["step_name,json_file", *lists["test"]]))
    for cost in (1, 2):
        rows = [f"{row},{int(cost == 2 or not number)}" for number, row in enumerate(lists["train"])]
        (root / "set" / f"train_anno{cost}.csv").write_text("\n".join(["step_name,json_file,oracle", *rows]))
    write_json(root / "set" / "mapping.json", {name: number for number, name in enumerate(CLASSES)})


def write_voc(folder: Path) -> None:
    """PASCAL VOC: all images by name, one of them without labels; and images by two kinds of lists."""
    for name in ("names", "lists"):
        for number in range(4):
            write_picture(folder / name / "JPEGImages" / f"{number}.png", number)
            if name == "names" and number == 2:
                continue
            things = "".join(
                f"<object><name>{label} </name><difficult>{number % 2}</difficult><bndbox><xmin>2</xmin><ymin>1</ymin>"
                f"<xmax>9.5</xmax><ymax>8</ymax></bndbox><part><name>ear</name></part></object>\n"
                for label in CLASSES
            )
            file = folder / name / "Annotations" / f"{number}.xml"
            file.parent.mkdir(parents=True, exist_ok=True)
            size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
            file.write_text(f"<annotation>\n<filename>{number}.png</filename>\n{size}\n{things}</annotation>\n")
    for name, lines in (("a", "3 -1\n1  1\n"), ("b", "0\n2\n")):
        file = folder / "lists" / "ImageSets" / "Main" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(lines)


def write_egoobjects(folder: Path) -> None:
    """As it was released: three files, of which one picture is named by its address."""
    root = folder / "original"
    content = coco_content(4)
    for image in content["images"]:
        write_picture(root / "images" / image["file_name"], image["id"])
        image["file_name"] = f"images/{image['file_name']}"
    content["images"][3]["url"] = "https://example.org/3.png"
    del content["images"][3]["file_name"]
    content["annotations"][1] = {"id": 9, "image_id": 1, "instance_id": "a", "bbox": [1, 1, 2, 2]}
    write_json(root / "EgoObjectsV1_unified_train.json", content)
    write_json(root / "EgoObjectsV1_unified_eval.json", coco_content(2))
    write_json(root / "EgoObjectsV1_unified_metadata.json", {"cat_det_cats": content["categories"]})
