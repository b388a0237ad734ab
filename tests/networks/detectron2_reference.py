"""Detectron2's Faster R-CNN R50-C4 once more, in plain functions, from arrays that have Detectron2's names.

Written from what Detectron2 does, not from our modules: pictures are BGR from 0 to 255, the background is the last
class, and there are no box rows for it. One picture at a time.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn import functional
from torchvision.ops import box_iou, roi_align

PIXEL_MEAN = (103.53, 116.28, 123.675)
BLOCKS = {"res2": 3, "res3": 4, "res4": 6, "res5": 3}
STRIDE = 16
REGION_WEIGHTS = (10.0, 10.0, 5.0, 5.0)


def random_detectron2_arrays(classes: int, seed: int) -> dict[str, np.ndarray]:
    """A checkpoint's arrays, by chance, but such that features stay near 1 and heads have something to say."""
    random = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}

    def convolution(name: str, outputs: int, inputs: int, size: int, gain: float) -> None:
        spread = gain / math.sqrt(inputs * size**2)
        arrays[f"{name}.weight"] = spread * random.standard_normal((outputs, inputs, size, size), dtype=np.float32)

    def normed(name: str, outputs: int, inputs: int, size: int, gain: float = 1.4) -> None:
        convolution(name, outputs, inputs, size, gain)
        arrays[f"{name}.norm.weight"] = random.uniform(0.8, 1.2, outputs).astype(np.float32)
        arrays[f"{name}.norm.bias"] = random.normal(0, 0.1, outputs).astype(np.float32)
        arrays[f"{name}.norm.running_mean"] = random.normal(0, 0.1, outputs).astype(np.float32)
        arrays[f"{name}.norm.running_var"] = random.uniform(0.8, 1.2, outputs).astype(np.float32)

    normed("backbone.stem.conv1", 64, 3, 7, gain=1.4 / 60)
    inputs = 64
    for stage, (name, blocks) in enumerate(BLOCKS.items()):
        middle, outputs = 64 * 2**stage, 256 * 2**stage
        for block in range(blocks):
            prefix = f"{'roi_heads' if name == 'res5' else 'backbone'}.{name}.{block}"
            if block == 0:
                normed(f"{prefix}.shortcut", outputs, inputs, 1, gain=1.0)
            normed(f"{prefix}.conv1", middle, inputs, 1)
            normed(f"{prefix}.conv2", middle, middle, 3)
            normed(f"{prefix}.conv3", outputs, middle, 1, gain=0.5)
            inputs = outputs
    for name, outputs, inputs, size, gain in (
        ("conv", 1024, 1024, 3, 1.4),
        ("objectness_logits", 15, 1024, 1, 1.0),
        ("anchor_deltas", 60, 1024, 1, 0.3),
    ):
        convolution(f"proposal_generator.rpn_head.{name}", outputs, inputs, size, gain)
        arrays[f"proposal_generator.rpn_head.{name}.bias"] = random.normal(0, 0.1, outputs).astype(np.float32)
    for name, outputs, gain in (("cls_score", classes + 1, 3.0), ("bbox_pred", 4 * classes, 3.0)):
        convolution(f"roi_heads.box_predictor.{name}", outputs, 2048, 1, gain)
        arrays[f"roi_heads.box_predictor.{name}.weight"] = arrays[f"roi_heads.box_predictor.{name}.weight"][..., 0, 0]
        arrays[f"roi_heads.box_predictor.{name}.bias"] = random.normal(0, 0.1, outputs).astype(np.float32)
    return arrays


def features(arrays, picture):
    """Picture height x width x 3, BGR -> 1 x 1024 x height / 16 x width / 16."""
    pixels = torch.tensor(picture, dtype=torch.float32) - torch.tensor(PIXEL_MEAN)
    values = _normed(arrays, "backbone.stem.conv1", pixels.permute(2, 0, 1)[None], stride=2, padding=3).relu()
    values = functional.max_pool2d(values, kernel_size=3, stride=2, padding=1)
    for name in ("res2", "res3", "res4"):
        values = _stage(arrays, f"backbone.{name}", values, stride=1 if name == "res2" else 2)
    return values


def anchors(height, width):
    """Of a feature map: cell by cell, size by size, ratio by ratio."""
    found = []
    for row in range(height):
        for column in range(width):
            x, y = column * STRIDE, row * STRIDE
            for size in (32, 64, 128, 256, 512):
                for ratio in (0.5, 1.0, 2.0):
                    w = math.sqrt(size * size / ratio)
                    h = ratio * w
                    found.append([x - w / 2, y - h / 2, x + w / 2, y + h / 2])
    return torch.tensor(found)


def scored_anchors(arrays, seen):
    """Objectness logits of the anchors, and their deltas, anchors x 4."""
    head = "proposal_generator.rpn_head"
    hidden = functional.conv2d(seen, *_weight_and_bias(arrays, f"{head}.conv"), padding=1).relu()
    logits = functional.conv2d(hidden, *_weight_and_bias(arrays, f"{head}.objectness_logits"))
    deltas = functional.conv2d(hidden, *_weight_and_bias(arrays, f"{head}.anchor_deltas"))
    _, _, height, width = logits.shape
    return logits[0].permute(1, 2, 0).flatten(), deltas[0].view(15, 4, height, width).permute(2, 3, 0, 1).reshape(-1, 4)


def proposals(arrays, seen, size, *, before, after):
    """Regions worth a look in a picture of (height, width): `before` and `after` suppression at most so many."""
    logits, deltas = scored_anchors(arrays, seen)
    order = logits.argsort(descending=True)[:before]
    boxes = _clipped(moved(anchors(*seen.shape[-2:])[order], deltas[order], (1.0, 1.0, 1.0, 1.0)), size)
    whole = ((boxes[:, 2:] - boxes[:, :2]) > 0).all(dim=1)
    return boxes[whole][suppressed(boxes[whole], 0.7)[:after]]


def region_outputs(arrays, seen, regions):
    """Class logits of regions, background last, and their deltas, regions x classes * 4."""
    pooled = roi_align(seen, [regions], (14, 14), spatial_scale=1 / STRIDE, sampling_ratio=0, aligned=True)
    pooled = _stage(arrays, "roi_heads.res5", pooled, stride=2).mean(dim=(2, 3))
    predictor = "roi_heads.box_predictor"
    return (
        functional.linear(pooled, *_weight_and_bias(arrays, f"{predictor}.cls_score")),
        functional.linear(pooled, *_weight_and_bias(arrays, f"{predictor}.bbox_pred")),
    )


def detections(arrays, picture, *, before=6000, after=1000):
    """Boxes, classes and scores of what is in a picture, best first."""
    size = picture.shape[:2]
    seen = features(arrays, picture)
    regions = proposals(arrays, seen, size, before=before, after=after)
    logits, deltas = region_outputs(arrays, seen, regions)
    chances = logits.softmax(dim=1)[:, :-1]
    found = []
    for name in range(chances.shape[1]):
        good = chances[:, name] > 0.05
        boxes = _clipped(moved(regions[good], deltas[good, 4 * name : 4 * name + 4], REGION_WEIGHTS), size)
        order = chances[good, name].argsort(descending=True)
        kept = order[suppressed(boxes[order], 0.5)]
        found += [(chances[good, name][one].item(), name, boxes[one].tolist()) for one in kept]
    # Boxes that lie outside the picture have no area left once they are clipped; they go last.
    found = [one for one in sorted(found, reverse=True)[:100] if one[2][0] < one[2][2] and one[2][1] < one[2][3]]
    scores, classes, boxes = zip(*found, strict=True) if found else ((), (), ())
    return np.array(boxes).reshape(-1, 4), np.array(classes), np.array(scores)


def proposal_losses(arrays, seen, boxes):
    """Objectness and box loss over all anchors that count, divided by their number."""
    logits, deltas = scored_anchors(arrays, seen)
    places = anchors(*seen.shape[-2:])
    overlap = box_iou(boxes, places)
    quality, matched = overlap.max(dim=0)
    positive = (quality >= 0.7) | (overlap == overlap.max(dim=1, keepdim=True).values).any(dim=0)
    counts = positive | (quality < 0.3)
    wrong = functional.binary_cross_entropy_with_logits(logits[counts], positive[counts].float(), reduction="sum")
    goal = offsets(places[positive], boxes[matched[positive]], (1.0, 1.0, 1.0, 1.0))
    return wrong / counts.sum(), (deltas[positive] - goal).abs().sum() / counts.sum()


def region_losses(arrays, seen, regions, boxes, classes):
    """Class and box loss over all regions, the true boxes among them, divided by their number."""
    regions = torch.cat([regions, boxes])
    logits, deltas = region_outputs(arrays, seen, regions)
    quality, matched = box_iou(boxes, regions).max(dim=0)
    positive = quality >= 0.5
    background = logits.shape[1] - 1
    wanted = torch.where(positive, classes[matched], background)
    own = deltas.view(len(regions), -1, 4)[positive, wanted[positive]]
    goal = offsets(regions[positive], boxes[matched[positive]], REGION_WEIGHTS)
    return functional.cross_entropy(logits, wanted), (own - goal).abs().sum() / len(regions)


def moved(boxes, deltas, weights):
    """Boxes after deltas (dx, dy, dw, dh)."""
    size, centre = boxes[:, 2:] - boxes[:, :2], (boxes[:, :2] + boxes[:, 2:]) / 2
    deltas = deltas / torch.tensor(weights)
    centre = centre + deltas[:, :2] * size
    size = size * deltas[:, 2:].clamp(max=math.log(1000 / 16)).exp()
    return torch.cat([centre - size / 2, centre + size / 2], dim=1)


def offsets(boxes, goals, weights):
    """The deltas that move boxes onto goals."""
    size, goal_size = boxes[:, 2:] - boxes[:, :2], goals[:, 2:] - goals[:, :2]
    shift = (goals[:, :2] + goals[:, 2:] - boxes[:, :2] - boxes[:, 2:]) / 2 / size
    return torch.cat([shift, (goal_size / size).log()], dim=1) * torch.tensor(weights)


def suppressed(boxes, threshold):
    """Positions of boxes, best first, that no better one overlaps by more than the threshold."""
    overlap = box_iou(boxes, boxes)
    kept: list[int] = []
    for number in range(len(boxes)):
        if not (overlap[number, kept] > threshold).any():
            kept.append(number)
    return torch.tensor(kept, dtype=torch.int64)


def _stage(arrays, name, values, *, stride):
    for block in range(BLOCKS[name.rsplit(".", maxsplit=1)[-1]]):
        prefix, step = f"{name}.{block}", stride if block == 0 else 1
        shortcut = _normed(arrays, f"{prefix}.shortcut", values, stride=step) if block == 0 else values
        out = _normed(arrays, f"{prefix}.conv1", values, stride=step).relu()
        out = _normed(arrays, f"{prefix}.conv2", out, padding=1).relu()
        values = (_normed(arrays, f"{prefix}.conv3", out) + shortcut).relu()
    return values


def _normed(arrays, name, values, *, stride=1, padding=0):
    out = functional.conv2d(values, torch.tensor(arrays[f"{name}.weight"]), stride=stride, padding=padding)
    weight, bias, mean, var = (
        torch.tensor(arrays[f"{name}.norm.{part}"])[:, None, None]
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    return (out - mean) / (var + 1e-5).sqrt() * weight + bias


def _weight_and_bias(arrays, name):
    return torch.tensor(arrays[f"{name}.weight"]), torch.tensor(arrays[f"{name}.bias"])


def _clipped(boxes, size):
    height, width = size
    most = torch.tensor([width, height, width, height], dtype=boxes.dtype)
    return torch.minimum(boxes.clamp(min=0), most)
