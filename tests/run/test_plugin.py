import pytest

from leocod.errors import InvalidConfig, UnknownName
from leocod.run.config import load_config, load_mapping
from leocod.run.experiment import name_run
from leocod.run.plugin import fold, lay, load_preset

PLUS = load_preset("efficient_cls_plus", "icarl")


def test_a_name_stands_for_its_settings() -> None:
    config = load_mapping({"plugin": "efficient_cls_plus"})
    assert config.efficient_cls is not None
    for key, value in PLUS["efficient_cls"].items():
        assert getattr(config.efficient_cls, key) == value
    assert config.strategy.options.memory_encoding == "jpeg"
    assert load_mapping({"plugin": "none"}).efficient_cls is None
    assert load_mapping({"plugin": "efficient_cls"}) == load_mapping({})


def test_what_a_layer_sets_besides_wins() -> None:
    config = load_mapping({"plugin": "efficient_cls_plus", "strategy": {"memory_per_class": 7}})
    assert config.strategy.options.memory_per_class == 7
    assert config.strategy.options.memory_encoding == "jpeg"


def test_a_later_layer_wins_over_the_name_and_the_name_over_earlier_ones() -> None:
    before = {"strategy": {"name": "gdumb", "memory_per_class": 5}}
    config = load_config(None, [before, {"plugin": "efficient_cls_plus"}, {"strategy": {"memory_jpeg_quality": 80}}])
    assert config.strategy.name == "gdumb"
    assert config.strategy.options.memory_per_class == PLUS["strategy"]["memory_per_class"]
    assert config.strategy.options.memory_jpeg_quality == 80


def test_a_strategy_without_a_memory_gets_none_of_its_options() -> None:
    config = load_mapping({"plugin": "efficient_cls_plus", "strategy": "incremental"})
    assert config.strategy.name == "incremental"


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No plug-in 'efficient_cls_plu'. Did you mean 'efficient_cls_plus'"):
        load_mapping({"plugin": "efficient_cls_plu"})


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"plugin": "none", "efficient_cls": {"keep": 0.9}}, "plugin is none, but efficient_cls is on: remove one"),
        ({"plugin": "none", "efficient_cls": {}}, "plugin is none, but efficient_cls is on: remove one"),
        ({"plugin": "efficient_cls_plus", "efficient_cls": None}, "plugin is efficient_cls_plus, but efficient_cls is"),
    ],
)
def test_a_layer_that_contradicts_itself_is_refused(layer: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        lay({}, layer)


def test_the_settings_are_those_for_the_strategy_that_is_chosen_last() -> None:
    for layers in (
        [{"plugin": "efficient_cls_plus"}, {"strategy": "derpp"}],
        [{"plugin": "efficient_cls_plus", "strategy": "gdumb"}, {"strategy": {"name": "derpp"}}],
    ):
        config = load_config(None, layers)

        assert "derpp+plus-" in name_run(config)
        assert config.strategy.options.memory_encoding == "jpeg"


def test_another_plugin_leaves_nothing_of_the_one_before() -> None:
    plus = {"plugin": "efficient_cls_plus"}

    assert load_config(None, [plus, {"plugin": "efficient_cls"}]) == load_config(None)
    assert load_config(None, [plus, {"plugin": "none"}]) == load_config(None, [{"plugin": "none"}])
    assert load_config(None, [{"plugin": "none"}, plus]) == load_config(None, [plus])


def test_what_was_set_by_itself_stays_with_another_plugin() -> None:
    layers = [{"plugin": "efficient_cls_plus"}, {"strategy": {"memory_encoding": "jpeg"}}, {"plugin": "none"}]

    assert load_config(None, layers).strategy.options.memory_encoding == "jpeg"


def test_null_in_a_later_layer_turns_the_plugin_off() -> None:
    for name in ("efficient_cls", "efficient_cls_plus"):
        assert load_config(None, [{"plugin": name}, {"efficient_cls": None}]).efficient_cls is None


def test_a_stored_config_has_its_name_again() -> None:
    plus = load_mapping({"plugin": "efficient_cls_plus", "seed": 3})
    stored = plus.model_dump(mode="json")
    other = load_mapping({}).model_dump(mode="json")

    assert load_mapping(fold(stored)) == plus
    assert "memory_encoding" not in fold(stored)["strategy"]
    assert load_mapping(lay(fold(stored), {"plugin": "none"})) == load_mapping({"plugin": "none", "seed": 3})
    assert "derpp+plus-" in name_run(load_mapping(lay(fold(stored), {"strategy": "derpp"})))
    assert fold(other) == other


def test_options_in_a_later_layer_turn_the_plugin_on_again() -> None:
    config = load_config(None, [{"plugin": "none"}, {"efficient_cls": {"keep": 0.9}}])

    assert config.efficient_cls is not None
    assert config.efficient_cls.keep == 0.9


@pytest.mark.parametrize("strategy", [None, 3, {"name": 3}])
def test_a_strategy_that_is_none_is_told_and_not_looked_up(strategy: object) -> None:
    with pytest.raises(InvalidConfig, match="strategy"):
        load_mapping({"plugin": "efficient_cls_plus", "strategy": strategy})


def test_none_takes_away_options_of_earlier_layers() -> None:
    assert load_config(None, [{"efficient_cls": {"keep": 0.9}}, {"plugin": "none"}]).efficient_cls is None


def test_a_run_is_named_after_it_and_its_config_reads_back() -> None:
    config = load_mapping({"plugin": "efficient_cls_plus"})
    assert "icarl+plus-" in name_run(config)
    assert "icarl+ecls-" in name_run(load_mapping({}))
    assert load_mapping(config.model_dump(mode="json")) == config
