"""Networks built from torchvision's parts: the machinery that detectors share."""
