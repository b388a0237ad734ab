"""The detector as one graph, from the pixels of an image of any size to boxes in that image.

torchvision's models can be traced as they are, but then they detect slightly different things. A changed copy is traced
here:

- When traced, they compute the size of the network's input from a 32-bit scale; for some image sizes it is one pixel
  off. The copy uses a 64-bit scale, as everywhere else.
- When traced, they suppress overlapping boxes of all classes at once, after moving the classes far apart. When not
  traced, they do this for up to 1000 boxes only: a box that is moved far loses digits, and its overlaps change.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection import FasterRCNN, RetinaNet
from torchvision.models.detection.transform import GeneralizedRCNNTransform
from torchvision.ops import batched_nms, boxes, nms, remove_small_boxes

from leocod.detectors.base import Detector
from leocod.errors import InvalidRun
from leocod.networks.roi_align import RoIAlign
from leocod.networks.torchvision_detector import SMALLEST_BOX

MOVED_APART = 1000
"""Up to this number of boxes, torchvision's `batched_nms` moves the classes apart on a CPU; above, it takes each class
by itself."""
NOT_OF_CLASS = -1.0
"""The score of a box for all classes but its own: less than any."""


class Graph(nn.Module):
    """Takes one image, height x width x 3, uint8, red first. Gives boxes (n x 4: x1, y1, x2, y2 in pixels of the
    image), scores (n) and classes (n, positions in the class list), best score first.
    """

    def __init__(self, detector: Detector) -> None:
        super().__init__()
        self.model = _make_traceable(detector)
        # The background is torchvision's class 0 in a Faster R-CNN; a RetinaNet has none.
        self.first_class = 1 if isinstance(self.model, FasterRCNN) else 0
        self.eval()

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        pixels = image.permute(2, 0, 1).float() / 255.0
        (found,) = self.model([pixels])
        return found["boxes"], found["scores"], found["labels"] - self.first_class


def _make_traceable(detector: Detector) -> nn.Module:
    """A copy of the network, on the CPU, that can be traced."""
    model = getattr(detector, "model", None)
    if not isinstance(model, FasterRCNN | RetinaNet):
        raise InvalidRun(
            f"A {type(detector).__name__} is not built around a torchvision Faster R-CNN or RetinaNet; only these can "
            "be exported as a graph. Export its weights: --format safetensors."
        )
    twin: Any = copy.deepcopy(model).cpu().requires_grad_(False)
    twin.transform = ExactResize(twin.transform, smallest_box=getattr(detector, "smallest_box", SMALLEST_BOX))
    if isinstance(twin, FasterRCNN) and isinstance(pool := twin.roi_heads.box_roi_pool, RoIAlign):
        # Every runtime has this operator.
        twin.roi_heads.box_roi_pool = pool.operator
    ready: nn.Module = twin.eval()
    return ready


class ExactResize(GeneralizedRCNNTransform):  # type: ignore[misc]  # no types there
    """Resizes to the same size as the detector."""

    def __init__(self, like: GeneralizedRCNNTransform, *, smallest_box: float) -> None:
        super().__init__(like.min_size, like.max_size, like.image_mean, like.image_std, like.size_divisible)
        self.short = float(like.min_size[-1])
        self.long = float(like.max_size)
        self.smallest_box = smallest_box

    def resize(self, image: Tensor, target: dict[str, Tensor] | None = None) -> tuple[Tensor, dict[str, Tensor] | None]:
        size = torch._shape_as_tensor(image)[-2:].double()
        # Tensor divided by tensor: a number divided by a tensor is computed as a product, which rounds differently.
        scales = torch.tensor([self.short, self.long], dtype=torch.float64) / torch.stack([size.min(), size.max()])
        height, width = (size * scales.min()).floor().long().unbind()
        # Tensors, which a trace can follow.
        size_to: Any = (height, width)
        resized = functional.interpolate(image[None], size=size_to, mode="bilinear", align_corners=False)
        return resized[0], target

    def postprocess(self, result: list[dict[str, Tensor]], *sizes: Any) -> list[dict[str, Tensor]]:
        """Also drops boxes that clipping has left without area, as our detectors do but torchvision does not."""
        large = [remove_small_boxes(found["boxes"], self.smallest_box) for found in result]
        kept = [
            {name: value[which] for name, value in found.items()} for found, which in zip(result, large, strict=True)
        ]
        resized: list[dict[str, Tensor]] = super().postprocess(kept, *sizes)
        return resized


@contextmanager
def use_nms(function: Callable[[Tensor, Tensor, Tensor, float], Tensor]) -> Iterator[None]:
    """In here torchvision's models suppress overlapping boxes by this function instead of `batched_nms`."""
    usual = boxes.batched_nms
    boxes.batched_nms = function
    try:
        yield
    finally:
        boxes.batched_nms = usual


def nms_in_torchscript() -> Any:
    """`batched_nms` with all of its branches: a trace keeps a scripted function as it is."""
    return torch.jit.script(batched_nms)


def nms_in_onnx(corners: Tensor, scores: Tensor, classes: Tensor, threshold: float) -> Tensor:
    """`batched_nms` with all of its branches in one, by an operator of ONNX."""
    # A zero is added so that there is a largest number when there are no boxes.
    furthest = torch.cat([corners.flatten(), corners.new_zeros(1)]).max()
    last_class: Any = torch.cat([classes, classes.new_zeros(1)]).max()
    moves = (torch._shape_as_tensor(corners)[0] <= MOVED_APART).to(corners)
    moved = corners + (classes.to(corners) * (furthest + 1) * moves)[:, None]
    own_class = torch.arange(last_class + 1, device=classes.device)[:, None] == classes
    kept: Tensor = _NmsByClass.apply(moved, torch.where(own_class, scores, NOT_OF_CLASS), threshold)
    kept = kept.sort().values
    return kept[scores[kept].sort(descending=True).indices]


class _NmsByClass(torch.autograd.Function):
    """The boxes that are kept, each class by itself, in any order. `scores`: classes x boxes."""

    @staticmethod
    def forward(_: Any, corners: Tensor, scores: Tensor, threshold: float) -> Tensor:
        best = scores.max(dim=0)
        by_class = [torch.where(best.indices == number)[0] for number in range(len(scores))]
        return torch.cat([members[nms(corners[members], best.values[members], threshold)] for members in by_class])

    @staticmethod
    def symbolic(graph: Any, corners: Any, scores: Any, threshold: float) -> Any:
        def constant(value: Any) -> Any:
            return graph.op("Constant", value_t=torch.tensor([value]))

        first = constant(0)
        batch = [graph.op("Unsqueeze", value, first) for value in (corners, scores)]
        kept = graph.op(
            "NonMaxSuppression", *batch, constant(sys.maxsize), constant(threshold), constant(NOT_OF_CLASS / 2)
        )
        # Each row is: image, class, box.
        return graph.op("Gather", kept, graph.op("Constant", value_t=torch.tensor(2)), axis_i=1)
