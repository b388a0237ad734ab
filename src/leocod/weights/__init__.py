"""Where learning starts: what `detector.weights` may name, and how it is loaded into a detector.

| `detector.weights` | what it is |
| --- | --- |
| `file.safetensors` | a file of ours, with its class names: from `leocod pretrain` or `leocod export` |
| `runs/a-run` or `runs/a-run/checkpoints/step_00099.pt` | a run of ours: the slow learner where there is one |
| `model_final_b1acc2.pkl` | Detectron2's Faster R-CNN R50-C4, for `resnet50-c4`: the paper's start, trained on VOC |
| `file.pth` | a state dict of torchvision (a whole detector, or an ImageNet classifier) or of Detectron2 (R50-C4) |
| `FasterRCNN_ResNet50_FPN_Weights.COCO_V1` | weights of torchvision by name, downloaded once into torch's cache |
| `torchvision:resnet50` | the weights that torchvision thinks best for its model of that name |

The ending of a file, then the names in it, decide what it is; a file that is none of these is refused. Nothing in a
file is run: safetensors holds no code, `torch.load` takes tensors only, and Detectron2 pickles are read by an unpickler
that knows arrays, numbers, texts and dicts, and nothing else.

Every tensor is accounted for. A tensor that only the file has, that only the network has, or that has another shape is
an error that names it. An ImageNet classifier fills the backbone, and the rest of the network keeps its first weights.
Of class layers, the rows of the background and of classes with the same name are copied; the other classes keep their
first rows. `names.py` says which names are the same. The loaders ask the detector which layers have rows for classes
(`class_layers`) and where it has the stages of a classifier (`backbone_layout`).
"""

from leocod.weights.saved import read_weights, save_weights
from leocod.weights.source import load_weights, read_classes

__all__ = ["load_weights", "read_classes", "read_weights", "save_weights"]
