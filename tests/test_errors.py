import pytest

from leocod import errors
from leocod.errors import LeocodError, UnknownName


def test_an_unknown_name_is_told_with_the_nearest_and_with_all() -> None:
    assert str(UnknownName("strategy", "icral", ["incremental", "icarl"])) == (
        "No strategy 'icral'. Did you mean 'icarl'? Known: icarl, incremental."
    )


def test_nothing_is_guessed_where_nothing_is_near() -> None:
    assert str(UnknownName("detector", "zzz", ["tiny"])) == "No detector 'zzz'. Known: tiny."


def test_the_tree_on_top_names_every_error() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LeocodError)]

    assert len(kinds) > 5
    for kind in kinds:
        assert kind.__name__ in (errors.__doc__ or "")


def test_one_except_catches_them_all() -> None:
    with pytest.raises(LeocodError):
        raise UnknownName("strategy", "x", [])


def test_nobody_who_catches_errors_catches_a_wish_to_stop() -> None:
    assert not issubclass(errors.Interrupted, Exception)
