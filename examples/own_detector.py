"""A detector of one's own: torchvision's Faster R-CNN on a backbone of two layers.

PYTHONPATH=examples leocod run --detector own_detector:MyDetector --set detector.width=64
"""

from typing import ClassVar

from pydantic import Field
from torch import nn
from torchvision.models.detection import FasterRCNN

from leocod import Anchors, Settings, TwoStage, fork_rng

QUICK = {"min_size": 96, "rpn_post_nms_top_n_train": 96, "rpn_post_nms_top_n_test": 96, "box_batch_size_per_image": 64}


class MyOptions(Settings):
    """Options of my detector."""

    learning_rate: float = Field(1e-3, gt=0)
    """Learning rate of Adam."""
    width: int = Field(32, ge=1)
    """Channels of the features."""


class MyDetector(TwoStage):
    """Only the network is built here: TwoStage learns and detects with it."""

    Options: ClassVar[type[Settings]] = MyOptions

    def __init__(self, classes: tuple[str, ...], options: MyOptions, *, seed: int = 0) -> None:
        with fork_rng(seed):
            backbone = nn.Sequential(nn.Conv2d(3, 16, 4, 4), nn.ReLU(), nn.Conv2d(16, options.width, 2, 2), nn.ReLU())
            backbone.out_channels = options.width
            model = FasterRCNN(backbone, len(classes) + 1, rpn_anchor_generator=Anchors([(12, 24, 48)]), **QUICK)
        super().__init__(model, classes, learning_rate=options.learning_rate, seed=seed)
