"""A shuffle that goes only as far as it is asked."""

from __future__ import annotations

import numpy as np


class Deck:
    """The numbers below a size in random order, drawn one by one."""

    def __init__(self, size: int) -> None:
        self.left = size
        self._moved: dict[int, int] = {}

    def __bool__(self) -> bool:
        return self.left > 0

    def draw(self, random: np.random.Generator) -> int:
        self.left -= 1
        place = int(random.integers(self.left + 1))
        number = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(self.left, self.left)
        return number
