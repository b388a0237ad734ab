"""Small valid files of every form that is read, as whatever is damaged starts from something whole."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import av
import numpy as np
import torch
import yaml
from PIL import Image as PillowImage
from safetensors.torch import save_file
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from leocod.files.images import ORIENTATION
from leocod.run.config import load_config
from leocod.weights import save_weights
from leocod.weights.names import COCO_ROWS, VOC
from leocod.weights.torchvision_files import MEAN, STD

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


class Network(nn.Module):
    """A network with the names of a real one and next to nothing in it."""

    def __init__(self, stages: int = 2) -> None:
        super().__init__()
        body = nn.Module()
        body.conv1, body.bn1 = nn.Conv2d(3, 2, 1, bias=False), FrozenBatchNorm2d(2)
        self.backbone = nn.Module()
        self.backbone.body = body
        self.transform = nn.Module()
        self.transform.image_mean, self.transform.image_std = list(MEAN), [1 / 255] * 3
        rows = len(CLASSES) + 1
        if stages == 2:
            self.rpn, self.rpn.head, self.rpn.anchor_generator = nn.Module(), nn.Module(), nn.Module()
            self.rpn.head.cls_logits = nn.Conv2d(2, 1, 1)
            self.rpn.anchor_generator.cell_anchors = [torch.zeros(2, 4)]
            predictor = nn.Module()
            predictor.cls_score, predictor.bbox_pred = nn.Linear(2, rows), nn.Linear(2, 4 * rows)
            self.roi_heads = nn.Module()
            self.roi_heads.box_predictor = predictor
        else:
            self.transform.image_std = list(STD)
            self.head, classifies, places = nn.Module(), nn.Module(), nn.Module()
            classifies.cls_logits, places.bbox_reg = nn.Conv2d(2, 2 * len(CLASSES), 1), nn.Conv2d(2, 8, 1)
            self.head.classification_head, self.head.regression_head = classifies, places
            classifies.num_anchors = 2


def _oddly(state: dict[str, Any], random: Random) -> dict[str, Any]:
    """The same tensors, but for one or two of them: of another shape, of other numbers, larger than their memory."""
    odd = dict(state)
    for name in random.sample(list(odd), random.choice((1, 1, 2))):
        rows = odd[name].shape[:1] or (1,)
        makers: tuple[Callable[[], Any], ...] = (
            lambda: torch.tensor(1.0),
            lambda: torch.zeros(0),
            lambda rows=rows: torch.zeros(*rows, 0),
            lambda rows=rows: torch.zeros(*rows, 3),
            lambda rows=rows: torch.zeros(*rows, 3, 2),
            lambda rows=rows: torch.zeros(*rows, 1, 1, 1, 1),
            lambda rows=rows: torch.full(rows, torch.nan),
            lambda rows=rows: torch.ones(rows, dtype=random.choice(KINDS)),
            lambda rows=rows: torch.zeros(1).expand(*rows, 2**40),
            lambda: torch.zeros(1).expand(2**61),
            lambda: torch.eye(3).to_sparse(),
            lambda: torch.zeros(2, device="meta"),
            lambda: [1, 2],
            lambda: "text",
            lambda: {"a": torch.zeros(1)},
        )
        odd[name] = random.choice(makers)()
    if random.random() < 0.3:
        digits = "7" * random.choice((1, 5000))
        long = random.choice((f"backbone.body.{digits}.0.weight", f"head.x_head.conv.{digits}.bias", "\n", ""))
        odd[long] = torch.zeros(1)
    return odd


KINDS = (
    torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64,
    torch.float8_e4m3fn, torch.uint16,
)  # fmt: skip


def _is_plain(value: Any) -> bool:
    plain = isinstance(value, torch.Tensor) and value.layout == torch.strided and value.device.type == "cpu"
    return plain and value.nbytes < 10_000


def write_detectron2(folder: Path) -> None:
    """In every form that a pickle may have, whole and with odd arrays in it."""
    rows = len(VOC)
    shapes = {
        "backbone.stem.conv1.weight": (2, 3, 1, 1),
        **{f"backbone.stem.conv1.norm.{one}": (2,) for one in ("weight", "bias", "running_mean", "running_var")},
        "proposal_generator.rpn_head.objectness_logits.weight": (1, 2, 1, 1),
        "proposal_generator.rpn_head.objectness_logits.bias": (1,),
        "proposal_generator.anchor_generator.cell_anchors.0": (2, 4),
        "roi_heads.box_predictor.cls_score.weight": (rows + 1, 2),
        "roi_heads.box_predictor.cls_score.bias": (rows + 1,),
        "roi_heads.box_predictor.bbox_pred.weight": (4 * rows, 2),
        "roi_heads.box_predictor.bbox_pred.bias": (4 * rows,),
    }
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for protocol in (0, 2, 4, 5):
        (folder / str(protocol)).mkdir()
        content = {"model": arrays, "__author__": "somebody", "matching_heuristics": True}
        (folder / str(protocol) / "model.pkl").write_bytes(pickle.dumps(content, protocol))
    random = Random(0)
    for number in range(4):
        state = _oddly({name: torch.tensor(value) for name, value in arrays.items()}, random)
        plain = {name: value.to(torch.float32).numpy() for name, value in state.items() if _is_plain(value)}
        (folder / f"odd_{number:02}").mkdir()
        (folder / f"odd_{number:02}" / "model.pkl").write_bytes(pickle.dumps({"model": plain}))


def write_torchvision(folder: Path) -> None:
    """A two-stage and a one-stage detector of COCO's classes, and a classifier; in today's form and in the old one."""
    rows = len(COCO_ROWS)
    two, one = Network(2).state_dict(), Network(1).state_dict()
    two |= {f"roi_heads.box_predictor.cls_score.{name}": torch.zeros(rows, 2)[:, slice(None) if name == "weight" else 0]
            for name in ("weight", "bias")}  # fmt: skip
    two |= {"roi_heads.box_predictor.bbox_pred.weight": torch.zeros(4 * rows, 2)}
    two |= {"roi_heads.box_predictor.bbox_pred.bias": torch.zeros(4 * rows)}
    one |= {"head.classification_head.cls_logits.weight": torch.zeros(2 * rows, 2, 1, 1)}
    one |= {"head.classification_head.cls_logits.bias": torch.zeros(2 * rows)}
    body = {name.removeprefix("backbone.body."): value for name, value in one.items() if name.startswith("backbone")}
    classifier = {**body, "bn1.num_batches_tracked": torch.tensor(3), "fc.weight": torch.zeros(4, 2)}
    for name, state in (("two", two), ("one", {"model": one, "epoch": 3}), ("classifier", classifier)):
        for form, new in (("new", True), ("old", False)):
            (folder / f"{name}_{form}").mkdir()
            path = folder / f"{name}_{form}" / "weights.pth"
            torch.save(state, path, _use_new_zipfile_serialization=new)
    random = Random(0)
    for number in range(8):
        (folder / f"odd_{number:02}").mkdir()
        state = _oddly(random.choice((two, one, classifier)), random)
        torch.save(state, folder / f"odd_{number:02}" / "weights.pth", _use_new_zipfile_serialization=number % 3 > 0)


def write_safetensors(folder: Path) -> None:
    """Of a network of two stages and of one, whole and with odd tensors in it."""
    for name, stages in (("two", 2), ("one", 1)):
        (folder / name).mkdir()
        about = {"options": json.dumps({"stride_in_1x1": False})}
        save_weights(folder / name / "weights.safetensors", Network(stages), CLASSES, about)
    random = Random(0)
    for number in range(3):
        state = _oddly(Network(random.choice((1, 2))).state_dict(), random)
        names = random.choice((CLASSES, [], ["a\n"], ["x" * 300], CLASSES[:1], ["mug"] * 2, [1], {"a": 1}))
        (folder / f"odd_{number:02}").mkdir()
        save_file(
            {name: value.contiguous() for name, value in state.items() if _is_plain(value)},
            folder / f"odd_{number:02}" / "weights.safetensors",
            metadata={"classes": json.dumps(names), "options": random.choice(("[", "[" * 20_000, "3", "{}"))},
        )
