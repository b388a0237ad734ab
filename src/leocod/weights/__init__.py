"""Where learning starts: what `detector.weights` may name, and how it fills a network.

| `detector.weights` | what it is |
| --- | --- |
| `file.safetensors` | a file of ours, with its class names: from `leocod pretrain` or `leocod export` |
| `runs/a-run` or `runs/a-run/checkpoints/step_00099.pt` | a run of ours: the slow learner where there is one |
| `model_final_b1acc2.pkl` | Detectron2's Faster R-CNN R50-C4, for `resnet50-c4`: the paper's start, trained on VOC |
| `file.pth` | a state dict of torchvision (a whole detector, or an ImageNet classifier) or of Detectron2 (R50-C4) |
| `FasterRCNN_ResNet50_FPN_Weights.COCO_V1` | weights of torchvision by name, fetched once into torch's cache |
| `torchvision:resnet50` | the weights that torchvision thinks best for its model of that name |

What a file is follows from its ending, then from the names in it; a file that is none of these is refused. Nothing in a
file is run: safetensors holds no code, `torch.load` is told to take tensors only, and a Detectron2 pickle is read by an
unpickler that knows arrays, numbers, texts and dicts, and nothing else.

Every tensor is accounted for. One that the file has and the network has not, one that the network has and the file has
not, or one of another shape is an error that names it. An ImageNet classifier fills the backbone, and the rest of the
network stays as it was made. Of the last layer, the rows of classes of the same name come along, with the background's;
the other classes keep the rows they were made with. Which names are the same is said in `names.py`.
"""

from leocod.weights.saved import read_weights, save_weights
from leocod.weights.source import known_classes, start

__all__ = ["known_classes", "read_weights", "save_weights", "start"]
