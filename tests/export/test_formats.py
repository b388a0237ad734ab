import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from PIL import Image as PillowImage
from safetensors import safe_open
from torchvision.ops import batched_nms

from leocod.detectors.tiny import Tiny, TinyOptions
from leocod.errors import InvalidConfig, InvalidRun, UnknownName
from leocod.export.comparison import compare_detections
from leocod.export.formats import ABOUT_FILE, OPSET, ExportInput, Format, check_installed, find_format, read, write
from leocod.export.graph import nms_in_onnx
from leocod.networks.base import ReportingLimits
from leocod.run.config import load_mapping
from leocod.types import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "use_exported.py"
SIZES = ((96, 128), (54, 41), (200, 40), (360, 480))
FORMATS: tuple[Format, ...] = ("onnx", "torchscript", "safetensors")


def resized(image: Image, size: tuple[int, int]) -> Image:
    return np.asarray(PillowImage.fromarray(image).resize((size[1], size[0])))


def exported(detector: Any, example: Image) -> ExportInput:
    return ExportInput(detector, load_mapping({"detector": "tiny"}), resized(example, (133, 171)))


@pytest.fixture(scope="module")
def files(trained: Tiny, frames: list[Image], tmp_path_factory: pytest.TempPathFactory) -> dict[Format, Path]:
    folder = tmp_path_factory.mktemp("export")
    made: dict[Format, Path] = {kind: folder / f"detector.{kind}" for kind in FORMATS}
    for kind, path in made.items():
        write(kind, exported(trained, frames[0]), path)
    return made


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_finds_what_the_detector_finds_in_pictures_of_any_size(
    kind: Format, files: dict[Format, Path], trained: Tiny, frames: list[Image]
) -> None:
    pictures = frames + [resized(frame, size) for frame, size in zip(frames, SIZES, strict=False)]

    detect = read(kind, files[kind], exported(trained, frames[0]))

    compared = compare_detections(
        [trained.predict([one])[0] for one in pictures], [detect([one])[0] for one in pictures], ReportingLimits()
    )
    assert compared.is_close, compared.summary
    assert compared.distinct_scores >= 20


@pytest.mark.parametrize("kind", ["onnx", "torchscript"])
def test_where_nothing_is_found_there_are_no_boxes(
    kind: Format, trained: Tiny, frames: list[Image], tmp_path: Path
) -> None:
    sceptic = trained.clone()
    sceptic.model.roi_heads.score_thresh = 0.9999
    write(kind, exported(sceptic, frames[0]), tmp_path / "file")

    (found,) = read(kind, tmp_path / "file", exported(sceptic, frames[0]))([np.zeros((80, 100, 3), np.uint8)])

    assert found.boxes.shape == (0, 4)
    assert found.classes.shape == found.scores.shape == (0,)


def test_every_file_names_its_classes_and_its_detector(files: dict[Format, Path], trained: Tiny) -> None:
    inside = {ABOUT_FILE: ""}
    session = onnxruntime.InferenceSession(str(files["onnx"]), providers=["CPUExecutionProvider"])
    torch._C.import_ir_module(torch._C.CompilationUnit(), str(files["torchscript"]), None, inside, False)
    with safe_open(files["safetensors"], framework="pt") as file:
        about = [session.get_modelmeta().custom_metadata_map, json.loads(inside[ABOUT_FILE]), file.metadata()]

    for one in about:
        assert tuple(json.loads(one["classes"])) == trained.classes
        assert one["detector"] == "tiny"
        assert json.loads(one["options"])["short_side"] == 96


def test_an_onnx_file_says_what_it_takes_and_gives(files: dict[Format, Path]) -> None:
    session = onnxruntime.InferenceSession(str(files["onnx"]), providers=["CPUExecutionProvider"])

    assert [(one.name, one.type, one.shape) for one in session.get_inputs()] == [
        ("image", "tensor(uint8)", ["height", "width", 3])
    ]
    assert [(one.name, one.type) for one in session.get_outputs()] == [
        *(("boxes", "tensor(float)"), ("scores", "tensor(float)"), ("classes", "tensor(int64)")),
    ]
    assert onnx.load(files["onnx"]).opset_import[0].version == OPSET


def test_the_weights_start_another_detector(files: dict[Format, Path], trained: Tiny, frames: list[Image]) -> None:
    again = Tiny(trained.classes, TinyOptions(weights=str(files["safetensors"])), seed=5)

    (one,), (other,) = trained.predict(frames[:1]), again.predict(frames[:1])

    assert np.array_equal(one.boxes, other.boxes)
    assert np.array_equal(one.scores, other.scores)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [0, 10, 1000, 3000])
def test_onnxruntime_suppresses_as_torchvision_does(count: int, tmp_path: Path) -> None:
    class Suppress(torch.nn.Module):
        def forward(self, corners: torch.Tensor, scores: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
            return nms_in_onnx(corners, scores, classes, 0.5)

    random = torch.Generator().manual_seed(1)

    def some(number: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        corners = torch.rand(number, 4, generator=random) * 1000
        corners[:, 2:] = corners[:, :2] + 200
        return corners, torch.rand(number, generator=random), torch.randint(0, 300, (number,), generator=random)

    names = ["corners", "scores", "classes"]
    torch.onnx.export(
        Suppress(),
        some(30),
        str(tmp_path / "nms.onnx"),
        dynamo=False,
        opset_version=OPSET,
        input_names=names,
        dynamic_axes={name: {0: "n"} for name in names},
    )
    session = onnxruntime.InferenceSession(str(tmp_path / "nms.onnx"), providers=["CPUExecutionProvider"])
    given = some(count)

    (kept,) = session.run(None, {name: one.numpy() for name, one in zip(names, given, strict=True)})

    assert kept.tolist() == batched_nms(*given, 0.5).tolist()


def test_the_example_finds_the_same_without_torch(
    files: dict[Format, Path], trained: Tiny, frames: list[Image], tmp_path: Path
) -> None:
    found = [trained.predict([frame])[0].above(0.5) for frame in frames]
    number = max(range(len(frames)), key=lambda one: len(found[one]))
    PillowImage.fromarray(frames[number]).save(tmp_path / "photo.png")
    run = "import runpy, sys; runpy.run_path(sys.argv[0]); assert not {'torch', 'leocod'} & set(sys.modules)"
    command = f"import sys; sys.argv = sys.argv[1:]; {run}"

    done = subprocess.run(
        [sys.executable, "-c", command, EXAMPLE, files["onnx"], tmp_path / "photo.png"],
        check=True,
        capture_output=True,
        text=True,
    )

    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        trained.classes[one] for one in found[number].classes
    ]
    assert len(found[number]) > 0


def test_a_missing_runtime_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    check_installed("torchscript")
    with pytest.raises(InvalidConfig, match=r"needs onnxruntime.*pip install 'leocod\[export\]'"):
        check_installed("onnx")


def test_an_unknown_format_is_told_with_the_nearest() -> None:
    assert find_format("onnx") == "onnx"
    with pytest.raises(UnknownName, match="No format 'onx'. Did you mean 'onnx'?"):
        find_format("onx")


def test_a_network_that_cannot_be_traced_is_told(trained: Tiny, frames: list[Image], tmp_path: Path) -> None:
    class Strange(torch.nn.Module):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("no such\nthing")

    odd = trained.clone()
    odd.model.backbone = Strange()

    with pytest.raises(InvalidRun, match=r"'tiny' cannot be written as torchscript \(no such\). Try another --format"):
        write("torchscript", exported(odd, frames[0]), tmp_path / "file")


def test_weights_that_nothing_could_start_from_are_refused(frames: list[Image], tmp_path: Path) -> None:
    nothing = exported(SimpleNamespace(classes=("mug",)), frames[0])

    with pytest.raises(InvalidRun, match="has no `model`"):
        write("safetensors", nothing, tmp_path / "file.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {"name": "faster_rcnn", "backbone": "mobilenet_v3-320-fpn", "short_side": 64, "proposals_at_test": 40},
        {"name": "retinanet", "backbone": "mobilenet_v2-fpn", "short_side": 64},
    ],
    ids=lambda chosen: chosen["name"],
)
def test_detectors_with_a_pyramid_become_files_too(chosen: dict[str, Any], frames: list[Image], tmp_path: Path) -> None:
    config = load_mapping({"detector": chosen})
    detector = config.detector.find()(("mug", "chair", "book"), config.detector.options)
    heads = ("cls_logits", "bbox_pred", "cls_score", "bbox_reg")
    for layer in [one for name, one in detector.model.named_modules() if name.endswith(heads)]:
        spread_out(layer, to=1.0, by=lambda: detector.predict(frames[:1]))
    one = ExportInput(detector, config, resized(frames[0], (133, 171)))

    write("onnx", one, tmp_path / "file.onnx")

    detect = read("onnx", tmp_path / "file.onnx", one)
    pictures = [*frames[:3], resized(frames[3], (54, 41))]
    compared = compare_detections(
        [detector.predict([picture])[0] for picture in pictures],
        [detect([picture])[0] for picture in pictures],
        detector.reporting_limits(),
    )
    assert compared.is_close, compared.summary
    assert compared.distinct_scores >= 20


def spread_out(layer: Any, *, to: float, by: Any) -> None:
    """Scale a layer that nobody trained until its outputs differ as much as those of a trained one: no ties, no 1.0."""
    seen: list[torch.Tensor] = []
    torch.nn.init.normal_(layer.weight, std=0.05)
    torch.nn.init.zeros_(layer.bias)
    hook = layer.register_forward_hook(lambda _layer, _inputs, output: seen.append(output.flatten()))
    by()
    hook.remove()
    with torch.no_grad():
        layer.weight *= to / torch.cat(seen).std()
