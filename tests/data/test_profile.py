from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from leocod.benchmarks.base import Benchmark
from leocod.data.profile import Profile, measure_profile
from leocod.errors import InvalidFrame
from leocod.readers.image_checks import BrokenImage
from leocod.types import Frame, Image, LabelledFrame, Labels, Picture

SIZE = (50, 100)
"""Height and width."""

MIDDLE = (40.0, 20.0, 50.0, 30.0)
"""A box of 10 x 10 pixels: a fifth of the short side."""


def grey(value: int) -> Image:
    return np.full((*SIZE, 3), value, np.uint8)


def mugs(*boxes: tuple[float, float, float, float]) -> Labels:
    return Labels(np.asarray(boxes, np.float32).reshape(-1, 4), np.zeros(len(boxes), np.int64))


def showing(*classes: int) -> Labels:
    return Labels(np.asarray([MIDDLE] * len(classes), np.float32).reshape(-1, 4), np.asarray(classes, np.int64))


class Shown(Benchmark):
    """What each frame of each step shows, as labels, as pixels and as instances."""

    name = "shown"
    classes = ("mug", "book", "sofa", "car", "pen")

    def __init__(
        self,
        steps: Sequence[Sequence[Labels]],
        pixels: Sequence[Sequence[Image | Picture]] | None = None,
        instances: Sequence[Sequence[Sequence[int]]] | None = None,
    ) -> None:
        self.steps = len(steps)
        self._labels, self._pixels, self._instances = steps, pixels, instances

    def frames_of(self, step: int) -> Sequence[LabelledFrame]:
        pixels = self._pixels[step] if self._pixels else [grey(0)] * len(self._labels[step])
        return [
            (Frame(100 * step + number, "walk", number, SIZE, content), labels)
            for number, (labels, content) in enumerate(zip(self._labels[step], pixels, strict=True))
        ]

    def instances_of(self, step: int) -> Sequence[NDArray[np.int64]] | None:
        return [np.asarray(ids, np.int64) for ids in self._instances[step]] if self._instances else None

    @property
    def test(self) -> Sequence[LabelledFrame]:
        return [(Frame(9000, "test", 0, SIZE, grey(0)), Labels.none())]


def first_frame(_: int, pairs: Sequence[LabelledFrame]) -> Collection[int]:
    """A labeller that always chooses the first frame."""
    return [pairs[0][0].id]


def profile(shown: Benchmark, known: Sequence[str] = ()) -> Profile:
    return measure_profile(shown, known, first_frame)


def test_density_is_that_of_the_frames_that_somebody_has_labelled() -> None:
    found = profile(Shown([[showing(0, 0, 1), showing(), Labels.unknown()], [showing(2), showing(2)]]))

    assert (found.steps, found.frames, found.test_frames) == (2, 5, 1)
    density = found.density
    assert density.labelled_frames == 4
    assert density.objects_per_frame == 5 / 4
    assert density.classes_per_frame == (2 + 0 + 1 + 1) / 4
    assert density.classes_per_step == (2 + 1) / 2
    assert density.empty_frames == 1 / 4


def test_the_size_of_a_box_is_the_root_of_its_area_by_the_short_side() -> None:
    # 5 x 20, 10 x 10, 20 x 20, 40 x 40 and 20 x 80 pixels of 50: 0.2, 0.2, 0.4, 0.8 and 0.8.
    boxes = ((10, 10, 15, 30), (40, 20, 50, 30), (40, 20, 60, 40), (5, 5, 45, 45), (10, 10, 90, 30))
    found = profile(Shown([[mugs(*boxes)]])).boxes

    assert found.lower_quartile == pytest.approx(0.2)
    assert found.median == pytest.approx(0.4)
    assert found.upper_quartile == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("box", "touches"),
    [
        ((0, 10, 20, 30), True),
        ((10, 0.5, 20, 30), True),
        ((10, 10, 99.5, 30), True),
        ((10, 10, 20, 50), True),
        ((1, 1, 99, 49), False),
    ],
)
def test_a_box_touches_the_border_where_it_is_nearer_than_a_pixel(
    box: tuple[float, float, float, float], touches: bool
) -> None:
    assert profile(Shown([[mugs(box)]])).boxes.at_border == float(touches)


def test_visits_and_gaps_are_those_of_the_classes_that_appear() -> None:
    # The mug comes three times, after gaps of 1 and 3 steps; the book is there once, and the others never.
    steps = [showing(0), showing(1), showing(0), showing(), showing(), showing(), showing(0)]
    found = profile(Shown([[labels] for labels in steps])).revisits

    assert found.classes == 2
    assert found.visits_per_class == (3 + 1) / 2
    assert (found.median_gap, found.longest_gap) == (2, 3)


def test_the_most_frequent_fifth_is_rounded_up() -> None:
    assert profile(Shown([[showing(0, 0, 0, 1, 2, 3)]])).revisits.frequent_fifth == 3 / 6


def test_what_the_start_knows_is_counted_by_boxes_and_by_thirds_of_the_stream() -> None:
    # Sofa and couch are the same.
    shown = Shown([[showing(0, 2)], [showing(0, 0)], [showing(2, 2, 2, 1)]])
    found = profile(shown, known=("couch", "pen", "dog")).start

    assert found.classes == 2
    assert found.known == 4 / 8
    assert (found.known_first_third, found.known_last_third) == (1 / 2, 3 / 4)


def test_neighbours_are_frames_in_a_row_of_one_step() -> None:
    shown = Shown([[showing()] * 3, [showing()] * 2], pixels=[[grey(0), grey(10), grey(30)], [grey(100), grey(106)]])
    found = profile(shown).motion

    assert found.neighbours == pytest.approx((10 + 20 + 6) / 3)
    assert found.random_frames is not None
    assert found.random_frames > 30


def test_novelty_is_not_known_without_instances() -> None:
    assert profile(Shown([[showing(0)]])).novelty is None


def test_labelled_frames_are_those_that_the_labeller_chooses() -> None:
    shown = Shown([[showing(0), showing(0, 0)]], instances=[[[1], [1, 2]]])
    found = profile(shown).novelty

    assert found is not None
    assert (found.instances, found.seen_in_step, found.never_labelled) == (2, 1 / 2, 1 / 2)


def test_a_stream_without_any_object_has_no_shares() -> None:
    found = profile(Shown([[showing()], [Labels.unknown()]], instances=[[[]], [[]]]), known=("mug",))

    assert found.density.objects_per_frame == 0
    assert found.boxes.median is None
    assert found.revisits.frequent_fifth is None
    assert found.start.known is None
    assert found.novelty is not None
    assert found.novelty.seen_in_step is None
    assert found.motion.neighbours is None


def test_a_frame_that_cannot_be_read_stops_or_is_passed_over_as_the_benchmark_says() -> None:
    broken = Shown([[showing(0), Labels.none()]], pixels=[[grey(0), BrokenImage("cut off")]])
    with pytest.raises(InvalidFrame, match="cut off"):
        profile(broken)

    broken.on_bad_frame = "skip"

    assert profile(broken).frames == 1
