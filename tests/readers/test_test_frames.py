"""When AP on test frames says little."""

from __future__ import annotations

import numpy as np

from leocod.readers.test_frames import find_weaknesses
from leocod.types import Labels


def labels(*classes):
    return Labels(np.tile(np.array([0, 0, 5, 5], np.float32), (len(classes), 1)), np.array(classes, np.int64))


def test_enough_frames_and_objects_have_no_weakness():
    assert list(find_weaknesses([labels(0, 1)] * 20, ["mug", "book"])) == []


def test_few_frames_rare_classes_and_classes_without_an_object_are_named():
    found = dict.fromkeys(find_weaknesses([labels(0, 0), labels(0, 1), labels(0, 0)], ["mug", "book", "jar", "cup"]))

    assert [kind for kind, _ in found] == ["few test frames", "untested classes", "untested classes"]
    few, missing, rare = (what for _, what in found)
    assert "AP rests on 3 test frames with 6 objects" in few
    assert missing == "no test frame shows jar, cup: there is no AP without one."
    assert rare == "fewer than 5 objects in the test frames: book (1). Their AP says little."


def test_long_lists_are_cut():
    ((_, few), (_, missing)) = find_weaknesses([labels()], [f"class {number}" for number in range(100)])

    assert "class 7 and 92 more" in missing
    assert "1 test frame with 0 objects" in few


def test_without_a_test_frame_there_is_nothing_to_judge():
    assert list(find_weaknesses([], ["mug"])) == []
