"""A very small Faster R-CNN with weights in the package. It learns on one CPU core: quickstart, tests, our tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.ops import Conv2dNormActivation

from leocod.networks.backbones import Anchors
from leocod.networks.base import fork_rng
from leocod.networks.region_head import RegionHead
from leocod.networks.roi_align import RoIAlign
from leocod.networks.two_stage import TwoStage
from leocod.settings import Settings
from leocod.weights import load_weights, read_classes

STARTS = {name: Path(__file__).with_name(f"tiny_{name}.safetensors") for name in ("start", "first_start")}
"""The weights in the package: detectors of 8 classes, trained in built-in worlds that no run uses."""
START = STARTS["start"]
STRIDE = 8
CHANNELS = 64
POOLED = 5


class TinyOptions(Settings):
    """Options of the tiny detector."""

    weights: str | None = "start"
    """Where learning starts: `start`, the weights in the package, made by `leocod pretrain`; `first_start`, those of
    the first edition of the world; or a path. Null: random weights."""
    learning_rate: float = Field(8e-4, gt=0)
    """Learning rate of Adam. The paper's 1e-4 is for a large network and a stream of thousands of steps."""
    short_side: int = Field(96, ge=32)
    """Frames are resized so that their short side is this."""
    regions: int = Field(64, ge=8)
    """Regions of a frame that are trained on."""
    proposals: int = Field(96, ge=8)
    """Proposals of a frame."""
    frozen: bool = True
    """Whether the stem and the first stage do not learn."""

    @property
    def source(self) -> str | None:
        """The file that the weights are read from."""
        shipped = STARTS.get(self.weights or "")
        return str(shipped) if shipped else self.weights


class Tiny(TwoStage):
    """About a million parameters, one feature map of stride 8."""

    Options: ClassVar[type[TinyOptions]] = TinyOptions

    @staticmethod
    def known_classes(options: TinyOptions) -> tuple[str, ...]:
        """The classes of the weights that it starts from."""
        return read_classes(options.source)

    def __init__(self, classes: Sequence[str], options: TinyOptions | None = None, *, seed: int = 0) -> None:
        self.options = options or TinyOptions()
        with fork_rng(seed):
            model = build_tiny(len(classes), self.options)
        super().__init__(model, classes, learning_rate=self.options.learning_rate, seed=seed)
        if self.options.source is not None:
            load_weights(self, self.options.source)


def build_tiny(classes: int, options: TinyOptions, *, normalised: bool = False) -> FasterRCNN:
    """Build the network. `normalised`: with batch normalisation, for pre-training; later folded into convolutions."""
    model = FasterRCNN(
        TinyBackbone(normalised=normalised, frozen=options.frozen and not normalised),
        rpn_anchor_generator=Anchors([(12, 24, 48)]),
        box_head=RegionHead(CHANNELS * POOLED**2, 256),
        box_predictor=FastRCNNPredictor(256, classes + 1),
        min_size=options.short_side,
        max_size=4 * options.short_side,
        rpn_pre_nms_top_n_train=2 * options.proposals,
        rpn_pre_nms_top_n_test=2 * options.proposals,
        rpn_post_nms_top_n_train=options.proposals,
        rpn_post_nms_top_n_test=options.proposals,
        rpn_batch_size_per_image=128,
        box_batch_size_per_image=options.regions,
        size_divisible=2 * STRIDE,
    )
    model.roi_heads.box_roi_pool = RoIAlign([STRIDE], POOLED)
    return model


class TinyBackbone(nn.Module):
    """A narrow residual network; its last stage is added to the one before, as in a feature pyramid."""

    out_channels = CHANNELS

    def __init__(self, *, normalised: bool, frozen: bool) -> None:
        super().__init__()
        norm = nn.BatchNorm2d if normalised else None
        self.stem = Conv2dNormActivation(3, 16, 3, 2, norm_layer=norm)
        self.stage1 = Block(16, 32, norm)
        self.stage2 = Block(32, 64, norm)
        self.stage3 = Block(64, 128, norm)
        self.lateral2 = nn.Conv2d(64, CHANNELS, 1)
        self.lateral3 = nn.Conv2d(128, CHANNELS, 1)
        self.output = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        if frozen:
            for stage in (self.stem, self.stage1):
                stage.requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        middle = self.stage2(self.stage1(self.stem(images)))
        top = self.lateral3(self.stage3(middle))
        merged = self.lateral2(middle) + functional.interpolate(top, size=middle.shape[-2:], mode="nearest")
        features: Tensor = self.output(merged)
        return features


class Block(nn.Module):
    """Two convolutions and a shortcut, at half the size."""

    def __init__(self, inputs: int, outputs: int, norm: type[nn.Module] | None) -> None:
        super().__init__()
        self.first = Conv2dNormActivation(inputs, outputs, 3, 2, norm_layer=norm)
        self.second = Conv2dNormActivation(outputs, outputs, 3, norm_layer=norm, activation_layer=None)
        self.shortcut = Conv2dNormActivation(inputs, outputs, 1, 2, norm_layer=norm, activation_layer=None)

    def forward(self, values: Tensor) -> Tensor:
        return functional.relu(self.second(self.first(values)) + self.shortcut(values))
