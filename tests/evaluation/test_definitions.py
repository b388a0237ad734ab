"""Each choice of a definition reaches its name."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from leocod.evaluation.definitions import Definitions


def test_the_usual_figures_have_their_usual_names() -> None:
    definitions = Definitions()

    assert (definitions.ap_name, definitions.forgetting_name) == ("AP50", "forgetfulness")
    assert definitions.last_seen == "in the training stream"


def test_a_second_choice_is_in_the_name() -> None:
    definitions = Definitions(ap="voc", forgetting_bins=4, forgetting_weights="oak", presence="labelled")

    assert definitions.ap_name == "VOC AP50"
    assert definitions.forgetting_name == "forgetfulness (4 bins, OAK weights, labelled presence)"
    assert definitions.last_seen == "in a label"


def test_presence_is_of_the_frames_or_of_the_labels() -> None:
    assert Definitions().choose_presence((0, 1), (1,)) == (0, 1)
    assert Definitions(presence="labelled").choose_presence((0, 1), (1,)) == (1,)


def test_a_title_is_filled_in_with_the_names() -> None:
    definitions = Definitions(ap="voc", forgetting_bins=4)

    assert definitions.fill_in("{ap} and {forgetting} of {all}") == "VOC AP50 and forgetfulness (4 bins) of {all}"


def test_a_single_bin_is_refused_since_nothing_could_be_compared() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        Definitions(forgetting_bins=1)
