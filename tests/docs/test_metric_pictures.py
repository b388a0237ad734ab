from pathlib import Path

import pytest
from metric_pictures import FOLDER, HISTORY, MARKS, draw

from leocod import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "metrics.md"


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_has_a_picture_with_the_value_that_is_computed(name: str) -> None:
    metric = METRICS.find(name)()
    picture = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")

    assert f">{metric.label} = {metric.compute(HISTORY):.1f}<" in picture
    assert f"(../pictures/metrics/{name}.svg)" in PAGE.read_text(encoding="utf-8")


def test_pictures_are_drawn_for_all_metrics_and_no_others() -> None:
    assert sorted(MARKS) == METRICS.names()
    assert draw("bwt").axes[0].get_title(loc="left") == "BWT = -30.0"
