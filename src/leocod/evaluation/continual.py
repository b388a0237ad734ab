"""Table of AP over time -> CAP, FAP and forgetfulness. Pure functions.

A table has one row per evaluation and one column per class; NaN marks a class without a test box, which is left out of
every mean. A class that was never trained on counts as what it scores. A mean over nothing is NaN; results write None.
All values keep the unit of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Weights = Literal["paper", "oak"]

NEVER_SEEN = -1
"""Stands in for the steps since a class was last seen, when it has not been seen yet."""


def mean_of_known(values: Table) -> float:
    """Mean over the values that are not NaN; NaN when there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def cap_over_time(table: Table) -> Table:
    """CAP_ti = mean over classes of AP at evaluation i."""
    return np.array([mean_of_known(row) for row in table])


def cap(table: Table) -> float:
    """CAP = mean over evaluations i of CAP_ti.

    >>> cap(np.array([[0.0, 0.5], [0.5, 1.0]]))
    0.5
    """
    return mean_of_known(cap_over_time(table))


def fap(table: Table) -> float:
    """FAP = CAP_ti of the last evaluation.

    >>> fap(np.array([[0.0, 0.5], [0.5, 1.0]]))
    0.75
    """
    return mean_of_known(table[-1]) if len(table) else float("nan")


def presence_table(seen: Mapping[int, Sequence[int]], *, steps: int, classes: int) -> NDArray[np.bool_]:
    """Steps x classes, from the classes present at each step; a step that is left out had none.

    >>> presence_table({0: [1]}, steps=2, classes=2).tolist()
    [[False, True], [False, False]]
    """
    presence = np.zeros((steps, classes), np.bool_)
    for step, categories in seen.items():
        presence[step, list(categories)] = True
    return presence


def steps_since_seen(evaluated_steps: Sequence[int], presence: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Steps since the class was last present in the training stream, for each evaluation and class: k.

    An evaluation comes after its step, so a class present in that very step has k = 0. `NEVER_SEEN` before the first
    presence. `presence` is steps x classes; rows after the last evaluated step are not looked at.

    >>> steps_since_seen([0, 2], np.array([[True, False], [False, True], [False, False]])).tolist()
    [[0, -1], [2, 1]]
    """
    numbers = np.arange(len(presence))[:, None]
    last_seen = np.maximum.accumulate(np.where(presence, numbers, -1), axis=0)[list(evaluated_steps)]
    away = np.asarray(evaluated_steps, np.int64)[:, None] - last_seen
    return np.where(last_seen < 0, NEVER_SEEN, away).astype(np.int64)


def forgetting(
    table: Table,
    evaluated_steps: Sequence[int],
    presence: NDArray[np.bool_],
    *,
    bins: int | None = None,
    weights: Weights = "paper",
) -> float:
    """F = mean over classes of F_c; classes that have no F_c are left out. See `forgetting_by_class`."""
    return mean_of_known(forgetting_by_class(table, evaluated_steps, presence, bins=bins, weights=weights))


def forgetting_by_class(
    table: Table,
    evaluated_steps: Sequence[int],
    presence: NDArray[np.bool_],
    *,
    bins: int | None = None,
    weights: Weights = "paper",
) -> Table:
    """How much worse each class is detected the longer it has been away; NaN for a class that cannot tell.

    Each evaluation of a class has k = steps since the class was last present in the training stream; evaluations before
    its first presence are left out. They are put into bins by k; aCAP_k = mean AP in the bin of k. Then

        F_c = sum_k w_k (aCAP_kmin - aCAP_k)
        w_k = (k - kmin) / sum_k (k - kmin)     weights="paper"
        w_k = k / sum_k k                       weights="oak", after the OAK benchmark

    bins=None makes one bin of each distinct k. bins=K divides [kmin, kmax] of the class into K of equal width, and k of
    a bin is its centre; empty bins count for nothing. A class with a single bin has no F_c. Negative F_c means that the
    class got better while it was away.
    """
    if bins is not None and bins < 1:
        raise ValueError(f"bins is {bins}: it must be at least 1, or None for one bin per distinct k.")
    away = steps_since_seen(evaluated_steps, presence)
    result = np.full(table.shape[1], np.nan)
    for category in range(table.shape[1]):
        counts = (away[:, category] != NEVER_SEEN) & ~np.isnan(table[:, category])
        k, means = _bin_means(away[counts, category], table[counts, category], bins)
        if len(k) > 1:
            weight = k - k[0] if weights == "paper" else k
            result[category] = float(np.sum(weight * (means[0] - means)) / weight.sum())
    return result


def forgetting_curve(
    table: Table, evaluated_steps: Sequence[int], presence: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], Table]:
    """Every evaluation of every class that had been seen, as a pair (k, AP), smallest k first."""
    away = steps_since_seen(evaluated_steps, presence)
    counts = (away != NEVER_SEEN) & ~np.isnan(table)
    order = np.argsort(away[counts], kind="stable")
    return away[counts][order], table[counts][order]


def _bin_means(k: NDArray[np.int64], values: Table, bins: int | None) -> tuple[Table, Table]:
    """The k that stands for each bin that is not empty, in rising order, and the mean value in it."""
    if bins is None or not len(k):
        centres, members = np.unique(k, return_inverse=True)
    else:
        spread = max(int(k.max() - k.min()), 1)
        # The largest k belongs to the last bin, not to one of its own.
        numbers, members = np.unique(np.minimum((k - k.min()) * bins // spread, bins - 1), return_inverse=True)
        centres = k.min() + (numbers + 0.5) * spread / bins
    sums = np.bincount(members, weights=values, minlength=len(centres))
    return centres.astype(np.float64), sums / np.maximum(np.bincount(members, minlength=len(centres)), 1)
