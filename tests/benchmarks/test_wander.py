from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest
from pydantic import ValidationError

from leocod.benchmarks.wander import PLACES_KEPT, Wander, WanderOptions
from leocod.boxes import pairwise_iou
from leocod.errors import InvalidConfig
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream
from leocod.types import LabelledFrame
from leocod.world.objects import CLASS_NAMES


def a_walk(seed: int = 1, /, **options: object) -> Wander:
    return Wander(WanderOptions.model_validate({"steps": 40, "frames_per_step": 4, **options}), seed=seed)


def equal(one: list[LabelledFrame], other: list[LabelledFrame]) -> bool:
    return len(one) == len(other) and all(
        first.id == second.id
        and np.array_equal(first.image(), second.image())
        and np.array_equal(here.boxes, there.boxes)
        and np.array_equal(here.classes, there.classes)
        for (first, here), (second, there) in zip(one, other, strict=True)
    )


def test_the_standard_world_has_twenty_classes_and_sixteen_frames_a_step() -> None:
    walk = Wander(WanderOptions(), seed=0)

    frames = walk.frames_of(0)

    assert (walk.name, walk.steps, walk.classes) == ("wander", 500, CLASS_NAMES)
    assert len(frames) == 16
    assert all(frame.image().shape == (96, 128, 3) for frame, _ in frames)


def test_equal_seeds_give_equal_frames_and_boxes() -> None:
    assert equal(list(a_walk().frames_of(7)), list(a_walk().frames_of(7)))
    assert equal(list(a_walk(steps=6).test), list(a_walk(steps=6).test))


def test_another_seed_gives_another_world() -> None:
    assert not equal(list(a_walk(1).frames_of(7)), list(a_walk(2).frames_of(7)))
    assert [a_walk(1).place_of(step) for step in range(40)] != [a_walk(2).place_of(step) for step in range(40)]


def test_a_world_with_a_seed_of_its_own_is_the_same_whatever_the_experiments_seed() -> None:
    assert equal(list(a_walk(1, seed=2).frames_of(7)), list(a_walk(2).frames_of(7)))
    assert equal(list(a_walk(1, seed=2).test)[:3], list(a_walk(2).test)[:3])
    assert a_walk(1, seed=0).place_of(30) == a_walk(0).place_of(30)


def test_any_step_is_reached_directly() -> None:
    straight = a_walk(stay=2)
    in_order = [list(straight.frames_of(step)) for step in range(25)]

    for step in (24, 3, 11):
        assert equal(list(a_walk(stay=2).frames_of(step)), in_order[step])


def test_frame_ids_are_unique_over_training_and_test() -> None:
    walk = a_walk(steps=5)

    training = [frame.id for step in range(5) for frame, _ in walk.frames_of(step)]
    test = [frame.id for frame, _ in walk.test]

    assert sorted(training + test) == list(range(5 * 5))
    assert test == [4, 9, 14, 19, 24]


def test_boxes_are_inside_the_frame_and_at_least_four_pixels_wide() -> None:
    walk = a_walk(stay=1)

    boxes = np.concatenate([labels.boxes for step in range(0, 40, 4) for _, labels in walk.frames_of(step)])

    assert len(boxes) > 80
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2] <= 128).all()
    assert (boxes[:, 3] <= 96).all()
    assert (boxes[:, 2:] - boxes[:, :2] >= 4).all()


def test_boxes_equal_the_visible_pixels() -> None:
    walk = a_walk(stay=1)

    for step in range(0, 40, 3):
        picture = walk.picture(step, 1)
        for box, number in zip(picture.boxes, picture.numbers, strict=True):
            rows, columns = np.nonzero(picture.owners == number)
            assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert picture.visible[int(number)] >= walk.options.min_visible


def test_cut_and_hidden_things_are_labelled() -> None:
    walk = a_walk(stay=1)
    shares = []

    for step in range(20):
        picture = walk.picture(step, 0)
        shares += [picture.visible[int(number)] for number in picture.numbers]

    assert min(shares) < 0.25
    assert max(shares) == 1.0
    assert 0.15 < np.mean(np.asarray(shares) < 0.9) < 0.75


def test_a_frame_shows_a_handful_of_things() -> None:
    walk = a_walk(stay=2)

    counts = [len(labels) for step in range(0, 40, 2) for _, labels in walk.frames_of(step)]

    assert 2.8 < np.mean(counts) < 5.2
    assert max(counts) <= 12


def test_neighbouring_frames_differ_as_two_seconds_apart_and_not_as_in_a_film() -> None:
    def still_there(speed: float) -> float:
        """The share of objects that are where they were one frame before."""
        walk = a_walk(frames_per_step=16, speed=speed)
        labels = [labels for step in range(0, walk.steps, 8) for _, labels in walk.frames_of(step)]
        same = [
            ((pairwise_iou(one.boxes, other.boxes) > 0.5) & (one.classes[:, None] == other.classes)).any(axis=1)
            for one, other in pairwise(labels)
            if len(other)
        ]
        return float(np.concatenate(same).mean())

    assert still_there(speed=WanderOptions().speed) < 0.25
    assert still_there(speed=0.02) > 0.5


def test_some_classes_are_rare_and_come_back_after_long() -> None:
    walk = Wander(WanderOptions(), seed=3)
    present = np.zeros((400, 20), bool)
    for step in range(400):
        place, visit = int(walk._walk.place[step]), int(walk._walk.visit[step])
        present[step, [item.kind for item in walk._items(place, visit) if item.kind >= 0]] = True

    often = np.sort(present.sum(axis=0))
    absences = [int(np.diff(np.flatnonzero(present[:, kind])).max()) for kind in range(20)]

    assert often[0] > 0
    assert often[-1] > 4 * often[2]
    assert max(absences) > 60


def test_only_some_classes_are_shown_and_labelled() -> None:
    names = ("dog", "mug", "chair", "lamp", "van", "book", "plant", "bottle")
    walk = a_walk(only=names, stay=1)

    labels = [labels for step in range(0, 40, 4) for _, labels in walk.frames_of(step)]
    kinds = {item.kind for place in range(10) for item in walk._items(place, 0)}

    assert walk.classes == names
    assert {int(number) for label in labels for number in label.classes} <= set(range(8))
    assert {CLASS_NAMES[kind] for kind in kinds if kind >= 0} <= set(names)


def test_fewer_classes_are_the_first_of_the_list() -> None:
    walk = a_walk(classes=3, places=4)

    assert walk.classes == CLASS_NAMES[:3]
    assert {
        int(number) for step in range(0, 40, 4) for _, label in walk.frames_of(step) for number in label.classes
    } == {
        0,
        1,
        2,
    }


def test_painted_places_are_kept_up_to_a_bound() -> None:
    walk = a_walk(stay=1, places=15, width=32, height=32)

    for step in range(40):
        walk.picture(step, 0)

    assert walk._place.cache_info().currsize <= PLACES_KEPT
    assert walk._items.cache_info().currsize <= PLACES_KEPT


def test_the_truth_cannot_be_reached_from_a_frame() -> None:
    walk = a_walk()
    step = next(Stream(walk, RandomLabeller(RandomOptions(per_step=0), seed=0)).steps())

    reached: list[object] = [frame.__dict__ for frame in step.frames]
    seen: set[int] = set()
    while reached:
        thing = reached.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        assert isinstance(thing, dict | str | int | tuple | np.ndarray | np.dtype)
        reached += gc.get_referents(thing)
        if isinstance(thing, np.ndarray):
            assert thing.base is None or thing.base.nbytes == thing.nbytes
            reached += [] if thing.base is None else [thing.base]


@pytest.mark.parametrize(
    "bad",
    [
        {"steps": 0},
        {"seed": -1},
        {"classes": 1},
        {"classes": 21},
        {"places": 0},
        {"width": 8},
        {"width": 640, "height": 100},
        {"speed": 0},
        {"variation": -0.1},
        {"min_visible": 0},
        {"frequent": ("unicorn",)},
        {"only": ("mug", "unicorn")},
        {"only": ("mug", "mug")},
        {"only": ()},
        {"classes": 3, "only": ("dog",)},
        {"colour": "red"},
    ],
)
def test_bad_options_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WanderOptions.model_validate(bad)


def test_a_negative_seed_and_a_step_beyond_the_walk_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="seed"):
        a_walk(-1)
    with pytest.raises(IndexError):
        a_walk().frames_of(40)
    with pytest.raises(IndexError):
        a_walk().frames_of(-1)


def test_every_option_has_its_help() -> None:
    assert all(field.description for field in WanderOptions.model_fields.values())


@pytest.mark.parametrize(("width", "height"), [(64, 48), (48, 96), (240, 96), (320, 240)])
def test_other_sizes_work(width: int, height: int) -> None:
    frame, _ = a_walk(width=width, height=height).frames_of(0)[0]

    assert frame.image().shape == (height, width, 3)
    assert frame.image().std() > 10


def test_the_instances_of_a_step_belong_to_its_boxes() -> None:
    walk = a_walk(stay=3)
    class_of: dict[int, int] = {}

    for step in range(0, 40, 4):
        for (_, labels), ids in zip(walk.frames_of(step), walk.instances_of(step), strict=True):
            assert len(set(ids.tolist())) == len(ids) == len(labels)
            for kind, instance in zip(labels.classes.tolist(), ids.tolist(), strict=True):
                # A thing does not become a thing of another class.
                assert class_of.setdefault(instance, kind) == kind


def test_things_come_back_as_the_same_instances_unless_they_are_renewed() -> None:
    def visits(renewal: float) -> tuple[set[int], set[int]]:
        walk = a_walk(stay=1, places=2, renewal=renewal)
        places = [walk.place_of(step) for step in range(40)]
        steps = [step for step in range(40) if places[step] == places[0]]
        early, late = (
            {int(i) for step in some for ids in walk.instances_of(step) for i in ids}
            for some in (steps[:8], steps[-8:])
        )
        return early, late

    early, late = visits(renewal=0.0)
    assert len(early & late) > 0.5 * len(late)
    early, late = visits(renewal=1.0)
    assert not early & late


def test_an_edition_sets_what_is_not_set() -> None:
    first = WanderOptions(edition="first", stay=7)

    assert (first.renewal, first.places, first.frequent, first.stay) == (0.0, 10, (), 7)
    assert WanderOptions.model_validate(first.model_dump()) == first
    assert WanderOptions(edition="second") == WanderOptions()


def test_an_unknown_edition_is_an_error() -> None:
    with pytest.raises(ValueError, match="edition"):
        WanderOptions.model_validate({"edition": "third"})


def test_frequent_classes_that_are_not_in_the_world_are_passed_over() -> None:
    assert len(a_walk(3, classes=2, steps=1).frames_of(0)) == 4


def test_frequent_classes_are_seen_more_often() -> None:
    names = ("clock", "vase", "monitor")
    numbers = [CLASS_NAMES.index(name) for name in names]

    def count(**options: object) -> int:
        walk = a_walk(3, **options)
        return sum(
            int(np.isin(labels.classes, numbers).sum()) for step in range(40) for _, labels in walk.frames_of(step)
        )

    assert count(frequent=names) > 1.2 * count(frequent=())


def test_with_few_residents_a_place_shows_few_classes() -> None:
    def classes_a_step(**options: object) -> float:
        walk = a_walk(3, **options)
        steps = [np.concatenate([labels.classes for _, labels in walk.frames_of(step)]) for step in range(40)]
        return float(np.mean([len(np.unique(classes)) for classes in steps]))

    assert classes_a_step(residents=2) < 0.7 * classes_a_step(residents=None)
