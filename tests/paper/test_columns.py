import pytest

from leocod.errors import UnknownName
from leocod.evaluation.metrics.base import PAPER_METRICS
from leocod.paper.columns import find_column


def test_the_headings_say_which_direction_is_better() -> None:
    assert [find_column(metric).heading for metric in PAPER_METRICS] == ["FAP ↑", "CAP ↑", "F ↓"]
    assert [find_column(metric).lower_is_better for metric in PAPER_METRICS] == [False, False, True]


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'forgetting'"):
        find_column("forgeting")
