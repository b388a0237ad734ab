"""Fine-tuning on what arrives: the baseline that forgets."""

from leocod.strategies.base import Strategy


class Incremental(Strategy):
    """Trains on the labelled frames of the step and nothing else."""
