"""A part of a config is chosen by name, with the options of that name and no others."""

import pytest

from leocod.errors import InvalidConfig, UnknownName
from leocod.labelling.base import StreamInfo
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.run.choices import CHOICES, LabelsChoice, SinkChoice, StrategyChoice, validate


def test_a_bare_name_is_the_choice_with_its_defaults() -> None:
    assert LabelsChoice.model_validate("random") == LabelsChoice.model_validate({"name": "random", "per_step": 4})
    assert SinkChoice.model_validate("tensorboard").name == "tensorboard"


@pytest.mark.parametrize("choice", [*CHOICES.values(), SinkChoice], ids=lambda choice: choice.key)
def test_a_choice_reads_back_as_it_is_written(choice) -> None:
    for name in choice.kind.names():
        required = [key for key, field in choice.kind.find(name).Options.model_fields.items() if field.is_required()]
        one = choice.model_validate({"name": name, **dict.fromkeys(required, "somewhere")})

        assert choice.model_validate(one.model_dump(mode="json")) == one


def test_an_unknown_name_and_an_unknown_option_are_told_by_their_key() -> None:
    with pytest.raises(UnknownName, match="No labeller 'randm'. Did you mean 'random'"):
        LabelsChoice.model_validate("randm")
    with pytest.raises(InvalidConfig, match="labels.per_stp: unknown key. Did you mean 'per_step'"):
        LabelsChoice.model_validate({"per_stp": 3})
    with pytest.raises(InvalidConfig, match="sinks.pack: unknown key"):
        SinkChoice.model_validate({"name": "jsonl", "pack": 3})


def test_a_labeller_is_built_with_its_options_and_the_seed() -> None:
    choice = LabelsChoice.model_validate({"per_step": 2, "nested": True})

    labeller = choice.build(seed=9, stream=StreamInfo("walk", ("mug",), 3, lambda cost: None))

    assert isinstance(labeller, RandomLabeller)
    assert (labeller.seed, labeller.options) == (9, RandomOptions(per_step=2, nested=True))
    assert choice.per_step == 2


def test_a_strategy_is_built_around_its_detector(a_detector) -> None:
    detector = a_detector()

    strategy = StrategyChoice.model_validate({"name": "icarl", "memory_per_class": 2}).build(detector, seed=0)

    assert strategy.detector is detector
    assert strategy.options.memory_per_class == 2


def test_a_mistake_is_told_with_where_it_stands() -> None:
    with pytest.raises(InvalidConfig, match="labels.per_step is -1: it should be at least 0"):
        validate(RandomOptions, {"per_step": -1}, "labels")
