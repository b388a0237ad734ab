"""The file formats: each is written from a detector and read back by the runtime that its users have."""

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
from leocod.export.graph import Graph, nms_in_onnx, nms_in_torchscript, use_nms
from leocod.run.config import ExperimentConfig
from leocod.types import Detections, Image, Images
from leocod.weights import save_weights

Format = Literal["onnx", "torchscript", "safetensors"]
OPSET = 17
"""Of ONNX. The first that has all operators is 16 (RoiAlign as in torchvision)."""
OUTPUTS = ("boxes", "scores", "classes")
ABOUT_FILE = "leocod.json"
"""Inside a TorchScript file: what the other formats store as metadata."""

TRACING_WARNINGS = (
    "You are using the legacy TorchScript-based ONNX export",
    "The feature will be removed",
    "To copy construct from a tensor",
    # Wrong for negative indices; the graph has none.
    "Exporting aten::index operator of advanced indexing",
    # 0 and less mean the same: as many samples as there are cells.
    "ONNX export for RoIAlign with a non-zero sampling_ratio",
    r"`torch\.jit\.\w+` is (deprecated|not supported)",
)
"""Warnings that tracing gives for every torchvision model."""

Predict = Callable[[Images], list[Detections]]


@dataclass(frozen=True)
class ExportInput:
    """What a file is made from."""

    detector: Detector
    config: ExperimentConfig
    """The config of the detector's run, or of that what the detector needs."""
    example: Image
    """Any picture. A graph is traced with it, and works for pictures of any size."""

    @property
    def about(self) -> dict[str, str]:
        """The metadata of the file."""
        chosen = self.config.detector
        return {
            "classes": json.dumps(list(self.detector.classes)),
            "detector": chosen.name,
            "options": chosen.options.model_dump_json(),
        }


def write(kind: Format, exported: ExportInput, path: Path) -> None:
    """Write the file."""
    try:
        with warnings.catch_warnings():
            _ignore_tracing_warnings()
            _WRITERS[kind](exported, path)
    # Tracing raises this for code that it cannot follow.
    except RuntimeError as error:
        raise InvalidRun(
            f"The detector '{exported.config.detector.name}' cannot be written as {kind} "
            f"({(str(error).strip() or type(error).__name__).splitlines()[0]}). Try another --format."
        ) from error


def read(kind: Format, path: Path, exported: ExportInput) -> Predict:
    """Load the file as its users do, to detect with it."""
    with warnings.catch_warnings():
        _ignore_tracing_warnings()
        return _READERS[kind](path, exported)


def find_format(name: str) -> Format:
    """The format of that name."""
    for kind in _WRITERS:
        if kind == name:
            return kind
    raise UnknownName("format", name, _WRITERS)


def check_installed(kind: Format) -> None:
    """Raise unless the packages that the format needs are installed; called before anything is loaded."""
    if kind == "onnx":
        with _needs_extra():
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401


def _write_onnx(exported: ExportInput, path: Path) -> None:
    with use_nms(nms_in_onnx), torch.inference_mode():
        torch.onnx.export(
            Graph(exported.detector),
            (torch.tensor(exported.example),),
            str(path),
            # The newer exporter cannot follow suppression, whose number of boxes varies.
            dynamo=False,
            opset_version=OPSET,
            input_names=["image"],
            output_names=list(OUTPUTS),
            dynamic_axes={"image": {0: "height", 1: "width"}, **{name: {0: "detections"} for name in OUTPUTS}},
        )
    with _needs_extra():
        import onnx
    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, exported.about)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _read_onnx(path: Path, _: ExportInput) -> Predict:
    with _needs_extra():
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def detect(image: Image) -> Detections:
        boxes, scores, classes = session.run(list(OUTPUTS), {"image": image})
        return Detections(boxes, classes, scores)

    return lambda images: [detect(image) for image in images]


def _write_torchscript(exported: ExportInput, path: Path) -> None:
    with use_nms(nms_in_torchscript()), torch.inference_mode():
        traced = torch.jit.trace(Graph(exported.detector), (torch.tensor(exported.example),), check_trace=False)
    torch.jit.save(traced, str(path), _extra_files={ABOUT_FILE: json.dumps(exported.about)})


def _read_torchscript(path: Path, _: ExportInput) -> Predict:
    traced = torch.jit.load(str(path), map_location="cpu")

    def detect(image: Image) -> Detections:
        with torch.inference_mode():
            boxes, scores, classes = (output.numpy() for output in traced(torch.tensor(image)))
        return Detections(boxes, classes, scores)

    return lambda images: [detect(image) for image in images]


def _write_safetensors(exported: ExportInput, path: Path) -> None:
    model = getattr(exported.detector, "model", None)
    if not isinstance(model, torch.nn.Module):
        raise InvalidRun(
            f"The detector '{exported.config.detector.name}' has no `model`, so its weights cannot be saved."
        )
    save_weights(path, model, exported.detector.classes, exported.about)


def _read_safetensors(path: Path, exported: ExportInput) -> Predict:
    chosen = exported.config.detector
    if "weights" not in type(chosen.options).model_fields:
        raise InvalidRun(f"The detector '{chosen.name}' has no option `weights`, so it cannot start from the file.")
    options = chosen.options.model_copy(update={"weights": str(path)})
    fresh: Detector = chosen.find()(exported.detector.classes, options, seed=0)
    return fresh.predict


@contextmanager
def _needs_extra() -> Iterator[None]:
    """Explain an import that fails because an extra is not installed."""
    try:
        yield
    except ImportError as error:
        raise InvalidConfig(f"--format onnx needs {error.name}. Install it: pip install 'leocod[export]'.") from error


def _ignore_tracing_warnings() -> None:
    for text in TRACING_WARNINGS:
        warnings.filterwarnings("ignore", message=text)
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)  # type: ignore[attr-defined]  # not declared


_WRITERS: dict[Format, Callable[[ExportInput, Path], None]] = {
    "onnx": _write_onnx,
    "torchscript": _write_torchscript,
    "safetensors": _write_safetensors,
}
_READERS: dict[Format, Callable[[Path, ExportInput], Predict]] = {
    "onnx": _read_onnx,
    "torchscript": _read_torchscript,
    "safetensors": _read_safetensors,
}
