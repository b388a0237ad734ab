"""A shuffle that goes only as far as it is asked."""

from __future__ import annotations

from collections import Counter

import numpy as np

from leocod.memory.deck import Deck


def test_every_number_is_drawn_once():
    deck, random = Deck(20), np.random.default_rng(0)

    drawn = [deck.draw(random) for _ in range(20)]

    assert sorted(drawn) == list(range(20))
    assert drawn != sorted(drawn)
    assert not deck
    assert not Deck(0)


def test_every_order_is_as_likely():
    random, orders = np.random.default_rng(0), Counter()

    for _ in range(600):
        deck = Deck(3)
        orders[tuple(deck.draw(random) for _ in range(3))] += 1

    assert len(orders) == 6
    assert 70 < min(orders.values()) <= max(orders.values()) < 130


def test_a_large_deck_keeps_only_what_was_drawn():
    deck, random = Deck(10**9), np.random.default_rng(0)

    for _ in range(5):
        deck.draw(random)

    assert len(deck._moved) <= 5
