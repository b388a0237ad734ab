"""Online continual object detection from video in which few frames are labelled.

The public names. Each is imported when it is first used, so that `import leocod` and `leocod --help` do not wait for
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leocod.benchmarks.base import Benchmark
    from leocod.benchmarks.coco_video import CocoVideo, CocoVideoOptions
    from leocod.benchmarks.egoobjects import EgoObjects, EgoObjectsOptions
    from leocod.benchmarks.oak import Oak, OakOptions
    from leocod.benchmarks.video import Video, VideoOptions
    from leocod.benchmarks.wander import Wander, WanderOptions
    from leocod.detectors.base import Detector
    from leocod.detectors.faster_rcnn import FasterRCNNDetector, FasterRCNNOptions
    from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions
    from leocod.detectors.tiny import Tiny, TinyOptions
    from leocod.errors import LeocodError
    from leocod.evaluation.ap import average_precision
    from leocod.evaluation.continual import cap, fap, forgetting
    from leocod.evaluation.evaluator import Evaluator
    from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepFinished, StepLearned
    from leocod.labelling.budget import BudgetLabeller
    from leocod.labelling.fixed import FixedLabeller
    from leocod.learner import Learned, Learner
    from leocod.loop import run_stream
    from leocod.memory.replay import ReplayMemory
    from leocod.plugins.efficient_cls import EfficientCLS, EfficientCLSOptions
    from leocod.plugins.open_classes import OpenClasses
    from leocod.run.config import ExperimentConfig
    from leocod.run.session import resume_experiment, run_experiment
    from leocod.settings import Settings
    from leocod.strategies.agem import AGEM, AGEMOptions
    from leocod.strategies.base import (
        MemoryOptions,
        MemoryStrategy,
        ReplayOptions,
        ReplayStrategy,
        Strategy,
        StrategyOptions,
    )
    from leocod.strategies.derpp import DERPP, DERPPOptions
    from leocod.strategies.ewc import EWC, EWCOptions
    from leocod.strategies.gdumb import GDumb
    from leocod.strategies.icarl import ICaRL
    from leocod.strategies.icarl_wang import ICaRLWang
    from leocod.strategies.incremental import Incremental
    from leocod.strategies.iod import IOD, IODOptions
    from leocod.strategies.offline import Offline, OfflineOptions
    from leocod.stream.recorded import Stream
    from leocod.training.batch import Batch
    from leocod.types import Detections, Frame, Labels, LossWeights, Step

__version__ = "0.1.0"

_HOME = {
    "AGEM": "strategies.agem",
    "AGEMOptions": "strategies.agem",
    "Batch": "training.batch",
    "Benchmark": "benchmarks.base",
    "BudgetLabeller": "labelling.budget",
    "CocoVideo": "benchmarks.coco_video",
    "CocoVideoOptions": "benchmarks.coco_video",
    "DERPP": "strategies.derpp",
    "DERPPOptions": "strategies.derpp",
    "Detections": "types",
    "Detector": "detectors.base",
    "EWC": "strategies.ewc",
    "EWCOptions": "strategies.ewc",
    "EfficientCLS": "plugins.efficient_cls",
    "EfficientCLSOptions": "plugins.efficient_cls",
    "EgoObjects": "benchmarks.egoobjects",
    "EgoObjectsOptions": "benchmarks.egoobjects",
    "Evaluated": "events",
    "Evaluator": "evaluation.evaluator",
    "Event": "events",
    "ExperimentConfig": "run.config",
    "FasterRCNNDetector": "detectors.faster_rcnn",
    "FasterRCNNOptions": "detectors.faster_rcnn",
    "FixedLabeller": "labelling.fixed",
    "Frame": "types",
    "GDumb": "strategies.gdumb",
    "ICaRL": "strategies.icarl",
    "ICaRLWang": "strategies.icarl_wang",
    "IOD": "strategies.iod",
    "IODOptions": "strategies.iod",
    "Incremental": "strategies.incremental",
    "Labels": "types",
    "Learned": "learner",
    "Learner": "learner",
    "LeocodError": "errors",
    "LossWeights": "types",
    "MemoryOptions": "strategies.base",
    "MemoryStrategy": "strategies.base",
    "Oak": "benchmarks.oak",
    "OakOptions": "benchmarks.oak",
    "Offline": "strategies.offline",
    "OfflineOptions": "strategies.offline",
    "OpenClasses": "plugins.open_classes",
    "ReplayMemory": "memory.replay",
    "ReplayOptions": "strategies.base",
    "ReplayStrategy": "strategies.base",
    "RetinaNetDetector": "detectors.retinanet",
    "RetinaNetOptions": "detectors.retinanet",
    "RunFinished": "events",
    "RunStarted": "events",
    "Settings": "settings",
    "Step": "types",
    "StepFinished": "events",
    "StepLearned": "events",
    "Strategy": "strategies.base",
    "StrategyOptions": "strategies.base",
    "Stream": "stream.recorded",
    "Tiny": "detectors.tiny",
    "TinyOptions": "detectors.tiny",
    "Video": "benchmarks.video",
    "VideoOptions": "benchmarks.video",
    "Wander": "benchmarks.wander",
    "WanderOptions": "benchmarks.wander",
    "average_precision": "evaluation.ap",
    "cap": "evaluation.continual",
    "fap": "evaluation.continual",
    "forgetting": "evaluation.continual",
    "run_stream": "loop",
    "resume_experiment": "run.session",
    "run_experiment": "run.session",
}
"""Public name -> the module that defines it."""

__all__ = [
    "AGEM",
    "DERPP",
    "EWC",
    "IOD",
    "AGEMOptions",
    "Batch",
    "Benchmark",
    "BudgetLabeller",
    "CocoVideo",
    "CocoVideoOptions",
    "DERPPOptions",
    "Detections",
    "Detector",
    "EWCOptions",
    "EfficientCLS",
    "EfficientCLSOptions",
    "EgoObjects",
    "EgoObjectsOptions",
    "Evaluated",
    "Evaluator",
    "Event",
    "ExperimentConfig",
    "FasterRCNNDetector",
    "FasterRCNNOptions",
    "FixedLabeller",
    "Frame",
    "GDumb",
    "ICaRL",
    "ICaRLWang",
    "IODOptions",
    "Incremental",
    "Labels",
    "Learned",
    "Learner",
    "LeocodError",
    "LossWeights",
    "MemoryOptions",
    "MemoryStrategy",
    "Oak",
    "OakOptions",
    "Offline",
    "OfflineOptions",
    "OpenClasses",
    "ReplayMemory",
    "ReplayOptions",
    "ReplayStrategy",
    "RetinaNetDetector",
    "RetinaNetOptions",
    "RunFinished",
    "RunStarted",
    "Settings",
    "Step",
    "StepFinished",
    "StepLearned",
    "Strategy",
    "StrategyOptions",
    "Stream",
    "Tiny",
    "TinyOptions",
    "Video",
    "VideoOptions",
    "Wander",
    "WanderOptions",
    "__version__",
    "average_precision",
    "cap",
    "fap",
    "forgetting",
    "resume_experiment",
    "run_experiment",
    "run_stream",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'leocod' has no attribute '{name}'")
    return getattr(import_module(f"leocod.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
