"""What pseudo-labellers share."""

from __future__ import annotations

import numpy as np
import pytest

from leocod.errors import InvalidConfig
from leocod.plugins.pseudo_labellers.base import PSEUDO_LABELLERS, PseudoLabeller
from leocod.plugins.pseudo_labellers.slow import Slow


def test_a_name_is_a_file_and_the_paper_s_is_there():
    assert PSEUDO_LABELLERS.find("slow") is Slow
    assert {"slow", "fast"} <= set(PSEUDO_LABELLERS.names())


def test_a_name_that_is_no_class_is_refused_with_one_that_could_be():
    with pytest.raises(InvalidConfig, match="'mine:' is not module:Class, such as my_module:MyPseudoLabeller."):
        PSEUDO_LABELLERS.find("mine:")


def test_a_request_has_the_pixels_of_its_frames_in_their_order(request_of_two):
    for image, frame in zip(request_of_two.images, request_of_two.frames, strict=True):
        np.testing.assert_array_equal(image, frame.image())


def test_one_that_remembers_nothing_need_not_say_so():
    class Blind(PseudoLabeller):
        def detect(self, request):
            return [found for found in request.slow(request.images) if not len(found)]

    blind = Blind()
    blind.load_state_dict(blind.state_dict())

    assert blind.state_dict() == {}
