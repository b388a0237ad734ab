"""Online continual object detection from video in which few frames are labelled.

The public names. Each is imported when it is first used, so that `import leocod` and `leocod --help` do not wait for
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leocod.batch import Batch
    from leocod.benchmarks.base import Benchmark, Stream
    from leocod.benchmarks.wander import Wander, WanderOptions
    from leocod.config import ExperimentConfig
    from leocod.detectors.base import Detector
    from leocod.detectors.tiny import Tiny, TinyOptions
    from leocod.efficient_cls import EfficientCLS, EfficientCLSOptions
    from leocod.errors import LeocodError
    from leocod.evaluation.ap import average_precision
    from leocod.evaluation.continual import cap, fap, forgetting
    from leocod.evaluation.evaluator import Evaluator
    from leocod.events import Evaluated, Event, RunFinished, RunStarted, StepFinished, StepLearned
    from leocod.experiment import run_experiment
    from leocod.labelling import BudgetLabeller
    from leocod.learner import Learner
    from leocod.loop import run
    from leocod.memory import ReplayMemory
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
    from leocod.types import Detections, Frame, Labels, LossWeights, Step

__version__ = "0.1.0"

_HOME = {
    "AGEM": "strategies.agem",
    "AGEMOptions": "strategies.agem",
    "Batch": "batch",
    "Benchmark": "benchmarks.base",
    "BudgetLabeller": "labelling",
    "DERPP": "strategies.derpp",
    "DERPPOptions": "strategies.derpp",
    "Detections": "types",
    "Detector": "detectors.base",
    "EWC": "strategies.ewc",
    "EWCOptions": "strategies.ewc",
    "EfficientCLS": "efficient_cls",
    "EfficientCLSOptions": "efficient_cls",
    "Evaluated": "events",
    "Evaluator": "evaluation.evaluator",
    "Event": "events",
    "ExperimentConfig": "config",
    "Frame": "types",
    "GDumb": "strategies.gdumb",
    "ICaRL": "strategies.icarl",
    "ICaRLWang": "strategies.icarl_wang",
    "IOD": "strategies.iod",
    "IODOptions": "strategies.iod",
    "Incremental": "strategies.incremental",
    "Labels": "types",
    "Learner": "learner",
    "LeocodError": "errors",
    "LossWeights": "types",
    "MemoryOptions": "strategies.base",
    "MemoryStrategy": "strategies.base",
    "Offline": "strategies.offline",
    "OfflineOptions": "strategies.offline",
    "ReplayMemory": "memory",
    "ReplayOptions": "strategies.base",
    "ReplayStrategy": "strategies.base",
    "RunFinished": "events",
    "RunStarted": "events",
    "Settings": "settings",
    "Step": "types",
    "StepFinished": "events",
    "StepLearned": "events",
    "Strategy": "strategies.base",
    "StrategyOptions": "strategies.base",
    "Stream": "benchmarks.base",
    "Tiny": "detectors.tiny",
    "TinyOptions": "detectors.tiny",
    "Wander": "benchmarks.wander",
    "WanderOptions": "benchmarks.wander",
    "average_precision": "evaluation.ap",
    "cap": "evaluation.continual",
    "fap": "evaluation.continual",
    "forgetting": "evaluation.continual",
    "run": "loop",
    "run_experiment": "experiment",
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
    "DERPPOptions",
    "Detections",
    "Detector",
    "EWCOptions",
    "EfficientCLS",
    "EfficientCLSOptions",
    "Evaluated",
    "Evaluator",
    "Event",
    "ExperimentConfig",
    "Frame",
    "GDumb",
    "ICaRL",
    "ICaRLWang",
    "IODOptions",
    "Incremental",
    "Labels",
    "Learner",
    "LeocodError",
    "LossWeights",
    "MemoryOptions",
    "MemoryStrategy",
    "Offline",
    "OfflineOptions",
    "ReplayMemory",
    "ReplayOptions",
    "ReplayStrategy",
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
    "Wander",
    "WanderOptions",
    "__version__",
    "average_precision",
    "cap",
    "fap",
    "forgetting",
    "run",
    "run_experiment",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'leocod' has no attribute '{name}'")
    return getattr(import_module(f"leocod.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
