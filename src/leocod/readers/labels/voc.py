"""Labels as PASCAL VOC has them: a folder with an XML file for each image."""

from __future__ import annotations

from pathlib import Path

from leocod.errors import InvalidData
from leocod.files.paths import Root
from leocod.readers.labels.base import LabelledImage, LabelledObject, LabelSet, find_xml_root, list_files
from leocod.readers.recording import Report
from leocod.readers.voc_files import ANNOTATIONS
from leocod.readers.voc_objects import parse_object, parse_size, parse_voc
from leocod.text import strip_file_name

NAME = "Pascal VOC"


def recognise(path: Path) -> bool:
    """A folder with XML files in it, or in `Annotations` in it, that describe one picture each."""
    # A damaged one among them is no reason to take it for another format.
    files = (file for place in _list_places(path) for file in place.glob("*.xml"))
    return any(find_xml_root(file) in ("annotation", "") for file in files)


def read(path: Path, report: Report) -> LabelSet:
    """Read an image of the name of each XML file. Class names come in the order of the alphabet."""
    folder, *_ = _list_places(path)
    root = Root(folder)
    images = [_read_image(file, root) for file in list_files(folder, ".xml")]
    names = {thing.category for image in images for thing in image.objects or () if thing.category}
    return LabelSet(path, {name: name for name in sorted(names)}, "as <name>", images, is_listed=False)


def _list_places(path: Path) -> list[Path]:
    return [place for place in (path / ANNOTATIONS, path) if place.is_dir()]


def _read_image(file: Path, root: Root) -> LabelledImage:
    name = file.relative_to(root.path)
    image = LabelledImage(file, "", name.as_posix())
    if refusal := root.explain_refusal(name.as_posix()):
        image.notes.add("", refusal, "path")
        return image
    try:
        annotation = parse_voc(file)
        things = [parse_object(element) for element in annotation.list_children("object")]
        image.size = parse_size(annotation, image.notes)
    except (InvalidData, ValueError) as error:
        image.notes.add("", strip_file_name(file, error), "file")
        return image
    image.objects = [
        LabelledObject(thing.name_record(number), *thing, "xyxy") for number, thing in enumerate(things, start=1)
    ]
    return image
