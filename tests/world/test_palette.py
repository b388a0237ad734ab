from __future__ import annotations

from leocod.world import palette


def test_every_colour_is_three_bytes() -> None:
    families = [value for name, value in vars(palette).items() if name.isupper() and isinstance(value[0], tuple)]

    assert len(families) >= 7
    assert all(len(colour) == 3 and 0 <= min(colour) <= max(colour) <= 255 for family in families for colour in family)
