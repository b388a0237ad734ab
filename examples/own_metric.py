"""A metric of one's own: the AP of the class that is worst in the end.

PYTHONPATH=examples leocod run --set "evaluate.metrics=[fap, cap, own_metric:WorstClass]"
PYTHONPATH=examples leocod score runs/my_run --metric own_metric:WorstClass
"""

import numpy as np

from leocod import History, Metric


class WorstClass(Metric):
    """AP of the worst class at the last evaluation; classes without a test box are left out."""

    name = "worst_class"
    label = "Worst"
    title = "{ap} of the worst class at the end"
    direction = "higher"

    def compute(self, history: History) -> float | None:
        """In points, as the table is; None where no class has a test box."""
        if not len(history.table) or np.isnan(history.table[-1]).all():
            return None
        return float(np.nanmin(history.table[-1]))
