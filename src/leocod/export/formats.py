"""Three kinds of file, each written from a detector and read back by the runtime that its users have."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from leocod.detectors.base import Detector
from leocod.errors import InvalidConfig, InvalidRun, UnknownName
from leocod.export.graph import Graph, nms_in_onnx, nms_in_torchscript, suppressing
from leocod.run.config import ExperimentConfig
from leocod.types import Detections, Image, Images
from leocod.weights import save_weights

Format = Literal["onnx", "torchscript", "safetensors"]
OPSET = 17
"""Of ONNX: the first with all that is needed is 16 (RoiAlign as torchvision has it)."""
OUTPUTS = ("boxes", "scores", "classes")
ABOUT_FILE = "leocod.json"
"""Inside a TorchScript file: what the other formats have as metadata."""

ON_THE_WAY = (
    "You are using the legacy TorchScript-based ONNX export",
    "The feature will be removed",
    "To copy construct from a tensor",
    # It would be wrong for negative indices; the graph has none.
    "Exporting aten::index operator of advanced indexing",
    # 0 and less mean the same: as many samples as there are cells.
    "ONNX export for RoIAlign with a non-zero sampling_ratio",
    r"`torch\.jit\.\w+` is (deprecated|not supported)",
)
"""Warnings that tracing gives, whatever torchvision model it is."""

Predict = Callable[[Images], list[Detections]]


@dataclass(frozen=True)
class Exported:
    """What goes into a file."""

    detector: Detector
    config: ExperimentConfig
    """Of the run that it is from."""
    example: Image
    """Any picture; a graph is traced with it, and holds for pictures of any size."""

    @property
    def about(self) -> dict[str, str]:
        """What the file says of itself."""
        chosen = self.config.detector
        return {
            "classes": json.dumps(list(self.detector.classes)),
            "detector": chosen.name,
            "options": chosen.options.model_dump_json(),
        }


def write(kind: Format, exported: Exported, path: Path) -> None:
    """Write the file."""
    try:
        with warnings.catch_warnings():
            _expect_warnings()
            _WRITERS[kind](exported, path)
    # What tracing raises when a network has something in it that cannot be followed.
    except RuntimeError as error:
        raise InvalidRun(
            f"The detector '{exported.config.detector.name}' cannot be written as {kind} "
            f"({(str(error).strip() or type(error).__name__).splitlines()[0]}). Try another --format."
        ) from error


def read(kind: Format, path: Path, exported: Exported) -> Predict:
    """Load the file as its users do, to detect with it."""
    with warnings.catch_warnings():
        _expect_warnings()
        return _READERS[kind](path, exported)


def known_format(name: str) -> Format:
    """The format of that name."""
    for kind in _WRITERS:
        if kind == name:
            return kind
    raise UnknownName("format", name, _WRITERS)


def check_installed(kind: Format) -> None:
    """Raise unless what the format needs is there: said before anything is loaded."""
    if kind == "onnx":
        with _the_extra():
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401


def _write_onnx(exported: Exported, path: Path) -> None:
    with suppressing(nms_in_onnx), torch.inference_mode():
        torch.onnx.export(
            Graph(exported.detector),
            (torch.tensor(exported.example),),
            str(path),
            # The newer exporter cannot follow suppression, which leaves any number of boxes.
            dynamo=False,
            opset_version=OPSET,
            input_names=["image"],
            output_names=list(OUTPUTS),
            dynamic_axes={"image": {0: "height", 1: "width"}, **{name: {0: "detections"} for name in OUTPUTS}},
        )
    with _the_extra():
        import onnx
    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, exported.about)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _read_onnx(path: Path, _: Exported) -> Predict:
    with _the_extra():
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def detect(image: Image) -> Detections:
        boxes, scores, classes = session.run(list(OUTPUTS), {"image": image})
        return Detections(boxes, classes, scores)

    return lambda images: [detect(image) for image in images]


def _write_torchscript(exported: Exported, path: Path) -> None:
    with suppressing(nms_in_torchscript()), torch.inference_mode():
        traced = torch.jit.trace(Graph(exported.detector), (torch.tensor(exported.example),), check_trace=False)
    torch.jit.save(traced, str(path), _extra_files={ABOUT_FILE: json.dumps(exported.about)})


def _read_torchscript(path: Path, _: Exported) -> Predict:
    traced = torch.jit.load(str(path), map_location="cpu")

    def detect(image: Image) -> Detections:
        with torch.inference_mode():
            boxes, scores, classes = (one.numpy() for one in traced(torch.tensor(image)))
        return Detections(boxes, classes, scores)

    return lambda images: [detect(image) for image in images]


def _write_safetensors(exported: Exported, path: Path) -> None:
    model = getattr(exported.detector, "model", None)
    if not isinstance(model, torch.nn.Module):
        raise InvalidRun(
            f"The detector '{exported.config.detector.name}' has no `model`, whose weights could be saved."
        )
    save_weights(path, model, exported.detector.classes, exported.about)


def _read_safetensors(path: Path, exported: Exported) -> Predict:
    chosen = exported.config.detector
    if "weights" not in type(chosen.options).model_fields:
        raise InvalidRun(f"The detector '{chosen.name}' has no option `weights`: it could not start from the file.")
    options = chosen.options.model_copy(update={"weights": str(path)})
    fresh: Detector = chosen.find()(exported.detector.classes, options, seed=0)
    return fresh.predict


@contextmanager
def _the_extra() -> Iterator[None]:
    """Around imports of what is installed on request only."""
    try:
        yield
    except ImportError as error:
        raise InvalidConfig(f"--format onnx needs {error.name}. Install it: pip install 'leocod[export]'.") from error


def _expect_warnings() -> None:
    for text in ON_THE_WAY:
        warnings.filterwarnings("ignore", message=text)
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)  # type: ignore[attr-defined]  # not declared


_WRITERS: dict[Format, Callable[[Exported, Path], None]] = {
    "onnx": _write_onnx,
    "torchscript": _write_torchscript,
    "safetensors": _write_safetensors,
}
_READERS: dict[Format, Callable[[Path, Exported], Predict]] = {
    "onnx": _read_onnx,
    "torchscript": _read_torchscript,
    "safetensors": _read_safetensors,
}
