import pytest
from pydantic import ValidationError

from leocod.paper.claim import Claim


@pytest.mark.parametrize(
    "wrong",
    [
        {"better": [["a", "b"]], "alike": [["a", "b"]]},
        {},
        {"steady": [["a"]]},
        {"better": [["a", "b"]], "at_most": 1.0},
        {"better": [["a", "b"]], "margin": 2.0},
        {"alike": [["a", "b"]], "margin": 0.0},
    ],
)
def test_a_claim_is_of_one_kind(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Claim.model_validate({"text": "t", "metrics": ["fap"], **wrong})


def test_a_claim_is_tested_in_some_metric() -> None:
    with pytest.raises(ValidationError, match="metrics"):
        Claim.model_validate({"text": "t", "metrics": [], "better": [["a", "b"]]})


def test_a_claim_knows_its_rows() -> None:
    claim = Claim.model_validate({"text": "t", "metrics": ["fap"], "gains": [["a", "b", "c", "d"]]})

    assert claim.rows == {"a", "b", "c", "d"}
