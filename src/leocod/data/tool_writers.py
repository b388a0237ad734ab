"""What `leocod data convert` writes for other tools: YOLO, PASCAL VOC, CVAT and Label Studio, with frames beside it.

Names of pictures are unique without their folders: some tools know a picture by its file name alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import yaml

from leocod.benchmarks.base import Benchmark
from leocod.data.writers import ImageFolder, OutputFrame
from leocod.files.atomic import write_json, write_text

Box = tuple[str, tuple[float, float, float, float]]
"""The name of a class, and corners."""

XML = '<?xml version="1.0" encoding="utf-8"?>\n'


class _ToolWriter:
    def __init__(self, images: ImageFolder, benchmark: Benchmark) -> None:
        self.images = images
        self.name = benchmark.name
        self.classes = benchmark.classes

    def _write(self, path: str, text: str) -> None:
        # The whole folder appears at once: none of its files has to survive a loss of power before.
        write_text(self.images.folder / path, text, durable=False)

    def _list_boxes(self, output: OutputFrame) -> Iterator[Box]:
        # As doubles: what is computed from them is rounded once, by the reader.
        boxes = output.labels.boxes.astype(float).tolist()
        for (x1, y1, x2, y2), number in zip(boxes, output.labels.classes.tolist(), strict=True):
            yield self.classes[number], (x1, y1, x2, y2)


class YoloWriter(_ToolWriter):
    """As Ultralytics wants it: images/train, labels/train, the same for val, and data.yaml.

    Frames that nobody has labelled lie in images/unlabelled: in the others, no label file means "nothing here".
    """

    def __init__(self, images: ImageFolder, benchmark: Benchmark) -> None:
        super().__init__(images, benchmark)
        self.has_tests = False

    def add(self, output: OutputFrame) -> None:
        part = "unlabelled" if not output.labels.known else "val" if output.held_out else "train"
        name = self.images.choose_name(output.frame)
        self.images.write(output.frame, f"images/{part}/{name}")
        self.has_tests |= part == "val"
        if output.labels.known:
            self._write(f"labels/{part}/{name}.txt", "".join(self._list_lines(output)))

    def finish(self) -> None:
        names = dict(enumerate(self.classes))
        # Ultralytics does not start without frames to validate on.
        parts = {"train": "images/train", "val": "images/val" if self.has_tests else "images/train"}
        self._write("data.yaml", yaml.safe_dump({**parts, "names": names}, sort_keys=False, allow_unicode=True))
        self._write("classes.txt", "".join(f"{name}\n" for name in self.classes))

    def _list_lines(self, output: OutputFrame) -> Iterator[str]:
        height, width = output.frame.size
        for name, (x1, y1, x2, y2) in self._list_boxes(output):
            shares = ((x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height)
            yield f"{self.classes.index(name)} {' '.join(f'{share:.10f}' for share in shares)}\n"


class VocWriter(_ToolWriter):
    """JPEGImages, Annotations, and lists of images: to train, to test, and all of them in the order of the stream."""

    def __init__(self, images: ImageFolder, benchmark: Benchmark) -> None:
        super().__init__(images, benchmark)
        self.lists: dict[str, list[str]] = {"train": [], "test": [], "stream": []}

    def add(self, output: OutputFrame) -> None:
        name = self.images.choose_name(output.frame)
        picture = self.images.write(output.frame, f"JPEGImages/{name}").removeprefix("JPEGImages/")
        self.lists["test" if output.held_out else "train"].append(name)
        self.lists["stream"].append(name)
        if output.labels.known:
            self._write(f"Annotations/{name}.xml", "".join(self._list_lines(output, picture)))

    def finish(self) -> None:
        (self.images.folder / "Annotations").mkdir(exist_ok=True)
        for name, stems in self.lists.items():
            self._write(f"ImageSets/Main/{name}.txt", "".join(f"{stem}\n" for stem in stems))

    def _list_lines(self, output: OutputFrame, picture: str) -> Iterator[str]:
        height, width = output.frame.size
        size = f"<width>{width}</width><height>{height}</height><depth>3</depth>"
        yield f"<annotation>\n  <folder>JPEGImages</folder>\n  <filename>{escape(picture)}</filename>\n"
        yield f"  <size>{size}</size>\n  <segmented>0</segmented>\n"
        for name, (x1, y1, x2, y2) in self._list_boxes(output):
            # VOC counts pixels from 1, and the last one is part of the box.
            corners = zip(("xmin", "ymin", "xmax", "ymax"), (x1 + 1, y1 + 1, x2, y2), strict=True)
            box = "".join(f"<{key}>{_format(value)}</{key}>" for key, value in corners)
            flags = "<pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult>"
            yield f"  <object><name>{escape(name)}</name>{flags}<bndbox>{box}</bndbox></object>\n"
        yield "</annotation>\n"


class CvatWriter(_ToolWriter):
    """The XML of "CVAT for images 1.1", the pictures, and labels.json, from which CVAT makes the labels of a task."""

    def __init__(self, images: ImageFolder, benchmark: Benchmark) -> None:
        super().__init__(images, benchmark)
        self.pictures: list[tuple[str, str | None]] = []
        """Names, and what stands after the name of those that are labelled."""

    def add(self, output: OutputFrame) -> None:
        picture = self.images.write(output.frame, f"images/{self.images.choose_name(output.frame)}")
        text = "".join(self._list_lines(output)) if output.labels.known else None
        self.pictures.append((picture.removeprefix("images/"), text))

    def finish(self) -> None:
        labels = "".join(
            f"<label><name>{escape(name)}</name><type>rectangle</type><attributes></attributes></label>"
            for name in self.classes
        )
        task = f"<name>{escape(self.name)}</name><size>{len(self.pictures)}</size><mode>annotation</mode>"
        lines = [f"{XML}<annotations>\n  <version>1.1</version>\n"]
        lines.append(f"  <meta><task>{task}<labels>{labels}</labels></task></meta>\n")
        # CVAT numbers pictures in the order of their names.
        for number, (name, text) in enumerate(sorted(self.pictures, key=lambda picture: picture[0])):
            lines += [] if text is None else [f'  <image id="{number}" name={quoteattr(name)} {text}']
        self._write("annotations.xml", "".join([*lines, "</annotations>\n"]))
        write_json(self.images.folder / "labels.json", [{"name": name, "attributes": []} for name in self.classes])

    def _list_lines(self, output: OutputFrame) -> Iterator[str]:
        height, width = output.frame.size
        yield f'width="{width}" height="{height}">\n'
        for label, corners in self._list_boxes(output):
            numbers = zip(("xtl", "ytl", "xbr", "ybr"), corners, strict=True)
            box = " ".join(f'{key}="{_format(value)}"' for key, value in numbers)
            yield f'    <box label={quoteattr(label)} source="manual" occluded="0" {box} z_order="0"></box>\n'
        yield "  </image>\n"


class LabelStudioWriter(_ToolWriter):
    """Tasks with annotations, the labelling interface, and the pictures, which Label Studio serves as local files."""

    def __init__(self, images: ImageFolder, benchmark: Benchmark) -> None:
        super().__init__(images, benchmark)
        self.tasks: list[dict[str, Any]] = []

    def add(self, output: OutputFrame) -> None:
        picture = self.images.write(output.frame, f"images/{self.images.choose_name(output.frame)}")
        results = [*self._list_results(output)]
        annotations = [{"result": results, "was_cancelled": False}] if output.labels.known else []
        self.tasks.append({"data": {"image": f"/data/local-files/?d={picture}"}, "annotations": annotations})

    def finish(self) -> None:
        write_json(self.images.folder / "tasks.json", self.tasks, indent=1, durable=False)
        labels = "".join(f"    <Label value={quoteattr(name)}/>\n" for name in self.classes)
        interface = '  <RectangleLabels name="label" toName="image">\n'
        self._write(
            "label_config.xml",
            f'<View>\n  <Image name="image" value="$image"/>\n{interface}{labels}  </RectangleLabels>\n</View>\n',
        )

    def _list_results(self, output: OutputFrame) -> Iterator[dict[str, Any]]:
        height, width = output.frame.size
        for number, (name, (x1, y1, x2, y2)) in enumerate(self._list_boxes(output), start=1):
            value = {
                "x": 100 * x1 / width,
                "y": 100 * y1 / height,
                "width": 100 * (x2 - x1) / width,
                "height": 100 * (y2 - y1) / height,
                "rotation": 0,
                "rectanglelabels": [name],
            }
            yield {
                "id": f"box{number}",
                "type": "rectanglelabels",
                "from_name": "label",
                "to_name": "image",
                "original_width": width,
                "original_height": height,
                "image_rotation": 0,
                "value": value,
            }


def _format(value: float) -> str:
    """Write a number to a billionth of a pixel, never with an exponent, which some tools do not read."""
    return f"{value:.9f}".rstrip("0").rstrip(".")
