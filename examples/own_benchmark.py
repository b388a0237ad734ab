"""A data layout of one's own as a benchmark: beside each frame lies a text file with one object a line.

data/0001.jpg  frames, in the order of their names
data/0001.txt  mug 10 20 110 220: the class, then x1, y1, x2, y2 in pixels

PYTHONPATH=examples leocod run --benchmark own_benchmark:TextFiles --set "benchmark={root: data, classes: [mug]}"
"""

from pathlib import Path

from leocod import Annotation, Entry, FrameProblems, Recorded, Recording, Report, SplitOptions, make_labels
from leocod.files.images import read_size


class TextFilesOptions(SplitOptions):
    """Options of frames with text files: their folder, and the names of the classes."""

    root: Path
    classes: tuple[str, ...]


class TextFiles(Recorded):
    """Frames with text files. The base class divides them into steps, and handles frames that cannot be read."""

    Options, name = TextFilesOptions, "text_files"

    def record(self, report: Report) -> Recording:
        pictures = sorted(self.options.root.glob("*.jpg"))
        return Recording(self.options.classes, tuple(self.read(*pair, report) for pair in enumerate(pictures)))

    def read(self, id: int, picture: Path, report: Report) -> Entry:
        size, numbers = read_size(picture), {name: n for n, name in enumerate(self.options.classes)}
        problems = FrameProblems(report, picture.with_suffix(".txt"), "", id)
        lines = enumerate(map(str.split, problems.file.read_text().splitlines()), start=1)
        objects = [Annotation(f"line {n}", name, list(map(float, box)), "xyxy") for n, (name, *box) in lines]
        labels = make_labels(objects, size, numbers, problems)
        return Entry(id, "frames", id, picture, size, labels, broken=problems.broken)
