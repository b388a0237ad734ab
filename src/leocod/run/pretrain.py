"""Makes the tiny detector's starting weights: the counterpart of the paper's start from ImageNet and PASCAL VOC.

It is trained offline in built-in worlds that no run uses (other seeds, other places, other instances). First with all
kinds of things, which gives the backbone its features, as ImageNet does; all else of that network is thrown away. Then
with some of the classes, as VOC does. The second world also has objects of no class, as VOC pictures do, so that it
learns to take them as background.
"""

from __future__ import annotations

import copy
import hashlib
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torchvision.models.detection import FasterRCNN
from torchvision.ops import Conv2dNormActivation

from leocod.benchmarks.wander import EVERYDAY, Wander, WanderOptions
from leocod.detectors.tiny import TinyOptions, build_tiny
from leocod.evaluation.evaluator import Evaluator
from leocod.networks.base import fork_rng
from leocod.networks.two_stage import TwoStage
from leocod.run.allocation import keep_memory
from leocod.settings import Settings
from leocod.text import pluralize
from leocod.types import LabelledFrame
from leocod.weights import save_weights


class PretrainOptions(Settings):
    """Options of pre-training."""

    classes: tuple[str, ...] = EVERYDAY
    """The classes it knows."""
    steps: int = Field(600, ge=1)
    """Length of the world it is trained in, 16 frames a step."""
    places: int = Field(80, ge=1)
    """Rooms and streets of that world. At every visit all objects in them are new, as in every picture of VOC."""
    test_steps: int = Field(200, ge=1)
    """Length of the world it is tested in, one frame a step: another world, whose objects it has not seen."""
    feature_updates: int = Field(2000, ge=0)
    """Updates on all kinds of things, for the features of the backbone. 0: the backbone starts at random."""
    backbone_rate: float = Field(0.1, gt=0, le=1)
    """The rate of a backbone that has features, as a part of the learning rate."""
    updates: int = Field(2000, ge=1)
    """Updates of the optimiser on the classes that it knows."""
    batch_size: int = Field(16, ge=1)
    """Frames in one update."""
    learning_rate: float = Field(2e-3, gt=0)
    """The highest rate; it rises over the first 5 % of the updates and falls to nothing by a cosine."""
    seed: int = Field(1_000_003, ge=0)
    """Seed of the world and of the training; far from the seeds of runs."""
    threads: int = Field(1, ge=1)
    """CPU threads. Another number gives other last digits, and so another file."""


def pretrain(options: PretrainOptions, out: Path, *, tell: Callable[[str], None]) -> float:
    """Train, fold the normalisation into the convolutions, write the file. Returns AP50 in a world unseen (points)."""
    torch.set_num_threads(options.threads)
    keep_memory()
    world = make_world(options)
    with fork_rng(options.seed):
        model = build_tiny(len(options.classes), TinyOptions(weights=None), normalised=True)
    backbone_rate = 1.0
    if options.feature_updates:
        model.backbone.load_state_dict(_learn_features(options, tell))
        backbone_rate = options.backbone_rate
    _train(model, world, options, tell, updates=options.updates, backbone_rate=backbone_rate)
    folded = fold_normalisation(model, len(options.classes))
    detector = TwoStage(folded, options.classes, learning_rate=options.learning_rate)
    unseen = Wander(
        WanderOptions(edition="first", steps=options.test_steps, only=options.classes), seed=options.seed + 1
    )
    evaluator = Evaluator(unseen.test, unseen.classes, every=1, last_step=0)
    ap_by_class, _ = evaluator.evaluate(detector.predict)
    ap50 = 100 * float(np.mean([value for value in ap_by_class.values() if value is not None]))
    about = {
        "made_by": "leocod pretrain",
        "options": options.model_dump_json(),
        "world": fingerprint(world),
        "unseen_ap50": f"{ap50:.2f}",
    }
    save_weights(out, folded, options.classes, about)
    tell(f"{out}: AP50 {ap50:.1f} on {pluralize(len(unseen.test), 'frame')} of a world that it has not seen.")
    return ap50


def make_world(options: PretrainOptions) -> Wander:
    """The world that it is trained in: as large and as varied as a photo collection."""
    return _make_photographs(options, only=options.classes, seed=options.seed)


def fingerprint(world: Wander) -> str:
    """A text that identifies a world and its version: the settings, and a hash of the first frames.

    Settings that are null are left out: an option that is added later and not used makes no other world.
    """
    pixels = hashlib.sha256(b"".join(frame.image().tobytes() for frame, _ in world.frames_of(0))).hexdigest()
    return f"{world.options.model_dump_json(exclude_none=True)} {pixels[:16]}"


def make_feature_world(options: PretrainOptions) -> Wander:
    """The world that the backbone gets its features in: all kinds of things, in other places."""
    return _make_photographs(options, only=None, seed=options.seed + 2)


def _make_photographs(options: PretrainOptions, *, only: tuple[str, ...] | None, seed: int) -> Wander:
    """All kinds of things in every place, as in the first edition; all of them new at every visit."""
    settings = WanderOptions(edition="first", steps=options.steps, places=options.places, renewal=1.0, only=only)
    return Wander(settings, seed=seed)


def _learn_features(options: PretrainOptions, tell: Callable[[str], None]) -> dict[str, Tensor]:
    """The state of a backbone that has learnt all kinds of things."""
    world = make_feature_world(options)
    with fork_rng(options.seed + 2):
        model = build_tiny(len(world.classes), TinyOptions(weights=None), normalised=True)
    _train(model, world, options, tell, updates=options.feature_updates)
    state: dict[str, Tensor] = model.backbone.state_dict()
    return state


def _train(
    model: FasterRCNN,
    world: Wander,
    options: PretrainOptions,
    tell: Callable[[str], None],
    *,
    updates: int,
    backbone_rate: float = 1.0,
) -> None:
    detector = TwoStage(model, world.classes, learning_rate=options.learning_rate, seed=options.seed)
    frames: list[LabelledFrame] = [pair for step in range(world.steps) for pair in world.frames_of(step)]
    others = [value for name, value in model.named_parameters() if not name.startswith("backbone.")]
    groups = [
        {"params": list(model.backbone.parameters()), "part": backbone_rate},
        {"params": others, "part": 1.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=options.learning_rate, weight_decay=1e-4)
    random = np.random.default_rng(options.seed)
    began = time.perf_counter()
    for update in range(updates):
        rate = _schedule(update / updates)
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * rate * group["part"]
        batch = [frames[number] for number in random.integers(len(frames), size=options.batch_size)]
        losses = detector.loss([frame.image() for frame, _ in batch], [labels for _, labels in batch])
        total = torch.stack([value.mean() for value in losses.values()]).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        if (update + 1) % 100 == 0:
            passed = time.perf_counter() - began
            tell(f"update {update + 1} of {updates}: loss {total.item():.3f}, {passed:.0f} s")


def _schedule(progress: float) -> float:
    return min(1.0, progress / 0.05 + 0.01) * 0.5 * (1 + math.cos(math.pi * progress))


def fold_normalisation(model: FasterRCNN, classes: int) -> FasterRCNN:
    """The same network without batch normalisation: each one becomes part of the convolution before it."""
    source = copy.deepcopy(model).eval()
    folded = build_tiny(classes, TinyOptions(weights=None))
    for part in list(source.modules()):
        if isinstance(part, Conv2dNormActivation) and len(part) > 1 and isinstance(part[1], nn.BatchNorm2d):
            part[0] = fuse_conv_bn_eval(part[0], part[1])
            del part[1]
    folded.load_state_dict(source.state_dict())
    return folded
