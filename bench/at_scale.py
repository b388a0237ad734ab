"""What a step of the paper's detector costs: arithmetic and memory, counted on the network itself, and CPU times.

    .venv/bin/python bench/at_scale.py

Counts operations and kept activations of `resnet50-c4` at the paper's input size on torch's meta device, which computes
shapes and nothing else, and measures the parts that run on a CPU in any case. Writes results/bench/at_scale.json.
"""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from harness import RESULTS
from PIL import Image
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from leocod.detectors.faster_rcnn import FasterRCNNOptions, build_faster_rcnn
from leocod.evaluation.ap import average_precision
from leocod.networks.normalisation import fold
from leocod.run.environment import read_source_state
from leocod.types import Detections, Labels

HEIGHT, WIDTH = 750, 1333
"""The input of a 1280 x 720 frame: its short side would be 800, but its long side may not pass 1333."""
FRAME = (720, 1280, 3)
REGIONS, PROPOSALS = 512, 1000
"""Learnt from in a frame; looked at when predicting."""
CLASSES = {"oak": 103, "egoobjects": 277}
REPEATS = 5


def counted(part: nn.Module, given: Tensor | list[Tensor]) -> tuple[float, int, Any]:
    """Operations of the forward pass (a multiplication and an addition are two), bytes kept for the backward pass, and
    what comes out."""
    kept: dict[int, int] = {}

    def keep(value: Tensor) -> Tensor:
        # Held, so that no other tensor gets its place in memory and is taken for it.
        holding.append(value)
        kept[value.untyped_storage()._cdata] = value.untyped_storage().nbytes()
        return value

    holding: list[Tensor] = []
    with FlopCounterMode(display=False) as counter, torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
        out = part(given)
    weights = {one.untyped_storage()._cdata for one in part.parameters()}
    return counter.get_total_flops(), sum(size for where, size in kept.items() if where not in weights), out


def network(classes: int) -> dict[str, Any]:
    """The paper's detector on one frame."""
    with torch.device("meta"):
        model: Any = build_faster_rcnn(classes, FasterRCNNOptions())
        fold(model)
        image = torch.empty(1, 3, HEIGHT, WIDTH)
        bins = model.roi_heads.box_roi_pool.bins
        pooled = torch.empty(REGIONS, model.backbone.out_channels, bins, bins)
    pooled.requires_grad_(True)
    backbone, backbone_kept, features = counted(model.backbone, image)
    proposing, proposing_kept, _ = counted(model.rpn.head, [features])
    head, head_kept, _ = counted(nn.Sequential(model.roi_heads.box_head), pooled)
    weights = sum(one.numel() for one in model.parameters())
    learnt = sum(one.numel() for one in model.parameters() if one.requires_grad)
    pooled_bytes = pooled.numel() * 4
    region = head / REGIONS
    forward = backbone + proposing + region * REGIONS
    return {
        "weights": weights,
        "weights learnt": learnt,
        "forward, backbone (GFLOP a frame)": backbone / 1e9,
        "forward, proposals (GFLOP a frame)": proposing / 1e9,
        "forward, region head (GFLOP a region)": region / 1e9,
        # The frozen stages have no backward pass, but they are a small part: forward, and twice that backward.
        "learning (TFLOP a frame)": 3 * forward / 1e12,
        "predicting (TFLOP a frame)": (backbone + proposing + region * PROPOSALS) / 1e12,
        "activations kept, backbone and proposals (GB a frame)": (backbone_kept + proposing_kept) / 1e9,
        "activations kept, region head (GB a frame)": (head_kept + pooled_bytes) / 1e9,
        "fast learner, gradient and Adam (GB)": (weights + 3 * learnt) * 4 / 1e9,
        "slow learner (GB)": weights * 4 / 1e9,
        "gradients that processes exchange (GB an update)": learnt * 4 / 1e9,
        "replay memory, 5 frames a class of 1280 x 720 (GB)": 5 * classes * int(np.prod(FRAME)) / 1e9,
    }


def median_seconds(work: Callable[[], object]) -> float:
    """Of several times, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def on_the_cpu() -> dict[str, float]:
    """Parts that a GPU does not take over."""
    random = np.random.default_rng(0)
    smooth = np.asarray(Image.fromarray(random.integers(0, 255, (45, 80, 3), np.uint8)).resize((1280, 720)))
    file = io.BytesIO()
    Image.fromarray(smooth).save(file, "JPEG", quality=90)
    frames, each, classes = 500, 30, 100
    corners = random.uniform(0, 500, (frames, each, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 60], axis=2)
    names = random.integers(0, classes, (frames, each))
    truth = {number: Labels(boxes[number, :6], names[number, :6]) for number in range(frames)}
    found = {
        number: Detections(boxes[number], names[number], random.random(each).astype(np.float32))
        for number in range(frames)
    }
    return {
        "decode a 1280 x 720 JPEG (ms)": 1e3 * median_seconds(lambda: np.asarray(Image.open(file).convert("RGB"))),
        "score 500 test frames, 30 detections each, 100 classes (s)": median_seconds(
            lambda: average_precision(found, truth, classes)
        ),
    }


def main() -> None:
    """Print and write."""
    torch.set_num_threads(1)
    figures = {
        "source": read_source_state(Path(__file__).parents[1] / "src" / "leocod"),
        "input": f"{HEIGHT} x {WIDTH}",
        "regions": REGIONS,
        "proposals": PROPOSALS,
        **{name: network(classes) for name, classes in CLASSES.items()},
        "one CPU core": on_the_cpu(),
    }
    text = json.dumps(figures, indent=1)
    (RESULTS / "at_scale.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
