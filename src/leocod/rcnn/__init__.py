"""Two-stage detection with torchvision's parts: the machinery that every Faster R-CNN here shares."""
