"""Balanced experience replay: the paper's "iCaRL (our impl.)". Despite the name, no herding and no nearest mean."""

from leocod.strategies.base_replay import ReplayStrategy


class ICaRL(ReplayStrategy):
    """Trains on the step and on remembered frames, with the standard losses on both.

    Wu et al., Label-Efficient Online Continual Object Detection in Streaming Video, ICCV 2023.
    """
