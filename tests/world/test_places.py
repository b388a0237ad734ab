from __future__ import annotations

from leocod.world.objects import CLASS_NAMES, STRANGER
from leocod.world.places import SETTINGS, Place, build, furnish, settle

ALL = tuple(range(len(CLASS_NAMES)))


def a_place(*, seed: int = 1, number: int = 0, instances: int = 14) -> Place:
    setting, residents = settle(seed, 10, ALL)[number]
    return build(seed, number, setting, residents, kinds=ALL, instances=instances, view_width=128, pixels_per_unit=0.5)


def test_every_setting_names_known_classes_and_every_class_has_a_home() -> None:
    named = {name for setting in SETTINGS for name in setting.residents}

    assert named == set(CLASS_NAMES)


def test_every_class_lives_somewhere_even_in_a_small_world() -> None:
    for places in (1, 2, 10, 30):
        settled = settle(4, places, ALL)

        assert len(settled) == places
        assert {kind for _, residents in settled for kind in residents} == set(ALL)


def test_no_place_is_without_residents_when_classes_are_few() -> None:
    assert all(set(residents) <= {0, 1} and residents for _, residents in settle(4, 12, (0, 1)))


def test_things_co_occur_by_place() -> None:
    place = a_place()

    usual = sum(CLASS_NAMES[kind] in place.setting.residents for kind in place.inventory)

    assert len(place.inventory) == 14
    assert usual / len(place.inventory) > 0.6


def test_some_things_stay_and_some_are_replaced_between_visits() -> None:
    place = a_place()

    first, second = ({item.key for item in furnish(place, visit, renewal=0.5, clutter=0)} for visit in (3, 9))

    assert 0 < len(first & second) < len(first)


def test_without_renewal_the_same_things_are_found_again() -> None:
    place = a_place()

    first, second = ({item.key for item in furnish(place, visit, renewal=0, clutter=0)} for visit in (3, 9))

    assert first == second


def test_clutter_adds_things_of_no_class() -> None:
    place = a_place()

    assert all(item.kind != STRANGER for item in furnish(place, 0, renewal=0.5, clutter=0))
    assert any(item.kind == STRANGER for item in furnish(place, 0, renewal=0.5, clutter=1))


def test_hidden_classes_give_way_to_strangers() -> None:
    place = a_place()
    hidden = set(place.inventory[:3])

    remaining = place.without(hidden)

    assert not hidden & set(remaining.inventory)
    assert remaining.inventory.count(STRANGER) == sum(kind in hidden for kind in place.inventory)


def test_what_is_nearer_is_drawn_later() -> None:
    depths = [item.depth for item in furnish(a_place(), 0, renewal=0.5, clutter=1)]

    assert depths == sorted(depths)
