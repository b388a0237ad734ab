"""What a person should know about a run before it starts: it can be done, but perhaps it is not what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from leocod.run.config import ExperimentConfig
from leocod.run.experiment import Experiment
from leocod.text import pluralize
from leocod.weights.names import find_row

SHOWN = 10
"""Classes of the weights that are named."""


def list_remarks(experiment: Experiment) -> list[str]:
    """One line about each thing that looks like a mistake."""
    return [*_remark_labels(experiment.config), *_remark_start(experiment)]


def _remark_labels(config: ExperimentConfig) -> Iterator[str]:
    if config.labels.per_step == 0:
        learns_itself = config.efficient_cls is not None and config.efficient_cls.pseudo_labels
        effect = (
            "the detector learns from its own pseudo labels only"
            if learns_itself
            else "nothing is learnt, and the detector stays as it started"
        )
        yield f"No frame is labelled (labels.per_step is 0): {effect}."


def _remark_start(experiment: Experiment) -> Iterator[str]:
    config, classes = experiment.config, experiment.benchmark.classes
    # A run that goes on from another begins with what that one has learnt, and not with the weights.
    weights = None if config.earlier_run else getattr(config.detector.options, "weights", None)
    known = config.detector.find().known_classes(config.detector.options) if weights is not None else ()
    # A start without any class, such as a backbone alone, promises none.
    if known and not any(find_row(name, known) is not None for name in classes):
        names = f"{', '.join(known[:SHOWN])}{', ...' if len(known) > SHOWN else ''}"
        yield (
            f"The starting weights (detector.weights is {weights}) know none of the "
            f"{pluralize(len(classes), 'class')} of this benchmark: all are learnt from labels alone. "
            f"The weights know {names}. If these are the same things by other names, rename the classes of the data."
        )
