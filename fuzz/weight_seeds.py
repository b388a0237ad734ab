"""Small valid weight files of every form that is read."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from seeds import CLASSES
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from leocod.weights import save_weights
from leocod.weights.names import COCO_ROWS, VOC
from leocod.weights.torchvision_files import MEAN, STD


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


def _make_odd(state: dict[str, Any], random: Random) -> dict[str, Any]:
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
        state = _make_odd({name: torch.tensor(value) for name, value in arrays.items()}, random)
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
        state = _make_odd(random.choice((two, one, classifier)), random)
        torch.save(state, folder / f"odd_{number:02}" / "weights.pth", _use_new_zipfile_serialization=number % 3 > 0)


def write_safetensors(folder: Path) -> None:
    """Of a network of two stages and of one, whole and with odd tensors in it."""
    for name, stages in (("two", 2), ("one", 1)):
        (folder / name).mkdir()
        about = {"options": json.dumps({"stride_in_1x1": False})}
        save_weights(folder / name / "weights.safetensors", Network(stages), CLASSES, about)
    random = Random(0)
    for number in range(3):
        state = _make_odd(Network(random.choice((1, 2))).state_dict(), random)
        names = random.choice((CLASSES, [], ["a\n"], ["x" * 300], CLASSES[:1], ["mug"] * 2, [1], {"a": 1}))
        (folder / f"odd_{number:02}").mkdir()
        save_file(
            {name: value.contiguous() for name, value in state.items() if _is_plain(value)},
            folder / f"odd_{number:02}" / "weights.safetensors",
            metadata={"classes": json.dumps(names), "options": random.choice(("[", "[" * 20_000, "3", "{}"))},
        )
