"""Use an exported detector without leocod and without torch: onnxruntime, numpy and pillow are enough.

leocod export runs/a-run --format onnx --out detector.onnx
python examples/use_exported.py detector.onnx photo.jpg
"""

import json
import sys

import numpy as np
import onnxruntime
from PIL import Image, ImageOps

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
names = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
image = np.asarray(ImageOps.exif_transpose(Image.open(sys.argv[2])).convert("RGB"))

boxes, scores, classes = session.run(["boxes", "scores", "classes"], {"image": image})

for (left, top, right, bottom), score, number in zip(boxes, scores, classes, strict=True):
    if score > 0.5:
        print(f"{names[number]} {score:.4f} at {left:.1f} {top:.1f} {right:.1f} {bottom:.1f}")
