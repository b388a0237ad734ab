"""What a remembered frame takes: raw pixels, a JPEG, or features of the stages that do not learn, in 8 bits each.

    .venv/bin/python bench/kept_bytes.py
    .venv/bin/python bench/kept_bytes.py --config results/real_video/stream.yaml --out FILE.json

RODEO (Hayes et al.) keeps such features in the place of pixels. They can be kept where stages are frozen, and a frame
that is kept so can be shown in one view only: it cannot be cropped, turned or mirrored any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import torch
from harness import arguments, record, table
from torch import Tensor, nn

from leocod.detectors.base import Detector
from leocod.memory.encoding import JPEG, Encoding, Raw, count_bytes, encode_frame
from leocod.networks.torchvision_detector import TorchvisionDetector
from leocod.run.config import load_config
from leocod.run.experiment import build_detector
from leocod.types import Frame

ENCODINGS: dict[str, Encoding] = {"raw": Raw(), "jpeg 90": JPEG(90), "jpeg 75": JPEG(75)}
FEATURES = "8-bit features"


def count_features(detector: Detector, frame: Frame) -> int:
    """Numbers that pass from the frozen stages to the layers that learn: all that these need of a frame.

    With nothing frozen these are the pixels as the network takes them; with all frozen, what leaves the backbone.
    """
    assert isinstance(detector, TorchvisionDetector)
    kept: dict[int, Tensor] = {}

    def note(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if any(weights.requires_grad for weights in layer.parameters()):
            # The same map may go to several layers. It is kept here, so that no other one gets its place in memory.
            kept.update({id(given): given for given in inputs if not given.requires_grad})

    backbone = detector.model.backbone
    handles = [layer.register_forward_pre_hook(note) for layer in backbone.modules() if isinstance(layer, nn.Conv2d)]
    try:
        batch, _, _ = detector.prepare([frame.image()])
        features = backbone(batch.tensors)
    finally:
        for handle in handles:
            handle.remove()
    maps = kept.values() or (features.values() if isinstance(features, dict) else [features])
    return sum(values.numel() for values in maps)


def main() -> None:
    """A row for each way to keep a frame."""
    options = arguments(__doc__, config="standard.yaml", frames=64)
    torch.set_num_threads(options.threads)
    config = load_config(Path(options.config))
    benchmark = config.benchmark.build(config.seed)
    detector = build_detector(config, benchmark.classes)
    frames: Sequence[Frame] = [frame.load() for frame, _ in benchmark.test[: options.frames]]
    sizes = {
        name: mean(count_bytes(encode_frame(frame, encoding)) for frame in frames)
        for name, encoding in ENCODINGS.items()
    }
    sizes[FEATURES] = mean(count_features(detector, frame) for frame in frames)
    rows = [[name, round(size), f"{sizes['raw'] / size:.1f}"] for name, size in sizes.items()]
    print(table(["kept as", "bytes a frame", "times smaller"], rows))
    content = {"config": options.config, "frames": len(frames), "bytes a frame": sizes}
    print(f"\n8-bit features over JPEG 90, ratio of bytes: {sizes[FEATURES] / sizes['jpeg 90']:.2f}")
    record(options, content)


if __name__ == "__main__":
    main()
