from pathlib import Path
from typing import Any

import pytest
import yaml

from leocod.errors import InvalidConfig, LeocodError, UnknownName
from leocod.evaluation.definitions import Definitions
from leocod.evaluation.metrics.base import list_shipped
from leocod.run.config import ExperimentConfig, describe_changes, load_config, load_quickstart, load_run_config
from leocod.run.layers import parse_override


def load(*texts: str) -> ExperimentConfig:
    return load_config(None, [parse_override(text) for text in texts])


def in_file(folder: Path, text: str) -> ExperimentConfig:
    file = folder / "experiment.yaml"
    file.write_text(text)
    return load_config(file)


def test_without_a_file_it_is_the_quickstart() -> None:
    config = load_config()

    assert (config.benchmark.name, config.detector.name, config.strategy.name) == ("wander", "tiny", "icarl")
    assert config.labels.per_step == 4
    assert config.efficient_cls is not None
    # A first look should show where the detector began.
    assert config.evaluate.start
    assert config.benchmark.options.model_dump()["steps"] == load_quickstart()["benchmark"]["steps"]


def test_an_empty_config_has_the_same_parts_with_their_own_defaults() -> None:
    config = ExperimentConfig()

    assert (config.benchmark.name, config.detector.name, config.strategy.name) == ("wander", "tiny", "icarl")
    assert config.benchmark.options == config.benchmark.find().Options()


def test_the_last_layer_wins(tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text("seed: 3\nlabels: {per_step: 2, seed: 9}\n")

    config = load_config(file, [parse_override("labels.per_step=8")])

    assert (config.seed, config.labels.per_step, config.labels.options.seed) == (3, 8, 9)


def test_the_file_takes_the_place_of_the_quickstart(tmp_path: Path) -> None:
    config = in_file(tmp_path, "seed: 1\n")

    assert config.benchmark.options == config.benchmark.find().Options()


def test_metrics_are_what_is_evaluated_by_without_the_when() -> None:
    evaluate = load("evaluate.every=7", "evaluate.ap=voc", "evaluate.forgetting_bins=4").evaluate

    assert evaluate.every == 7
    assert evaluate.definitions == Definitions(ap="voc", forgetting_bins=4)
    assert ExperimentConfig().evaluate.definitions == Definitions()


def test_metrics_are_all_that_are_shipped_unless_somebody_chooses() -> None:
    assert ExperimentConfig().evaluate.metrics == list_shipped()
    assert load("evaluate.metrics=[cap, own_metric:WorstClass]").evaluate.metrics == ("cap", "own_metric:WorstClass")


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        ("[fab]", "No metric 'fab'. Did you mean 'fap'?"),
        ("[fap, fap]", "Two metrics are called 'fap'"),
        ("[no_such_module:Metric]", "No module 'no_such_module'"),
        ("['os:PathLike']", "is not a metric: it has no `compute`"),
        ("fap", "evaluate.metrics is 'fap': it should be a valid tuple"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_before_the_run(names: str, complaint: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(f"evaluate.metrics={names}")

    assert complaint in str(caught.value)


def test_null_switches_the_plug_in_off_and_a_mapping_on_again() -> None:
    assert load("efficient_cls=null").efficient_cls is None

    again = load("efficient_cls=null", "efficient_cls.keep=0.5").efficient_cls

    assert again is not None
    assert again.keep == 0.5


def test_what_is_written_reads_back_as_the_same(tmp_path: Path) -> None:
    config = load("strategy=offline", "strategy.epochs=2", "diagnosis=true_boxes", "labels.seed=7")

    assert in_file(tmp_path, config.to_yaml()) == config
    assert "epochs: 2" in config.to_yaml()


def test_a_part_from_elsewhere_is_checked_by_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere.py").write_text(
        "from leocod.settings import Settings\n"
        "class Options(Settings):\n    steps: int = 3\n    frames_per_step: int = 4\n"
        "class Bench:\n    Options = Options\n    frames_of = test = None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert load("benchmark=elsewhere:Bench").frames_per_step == 4
    with pytest.raises(InvalidConfig, match="Did you mean 'steps'"):
        load("benchmark=elsewhere:Bench", "benchmark.step=3")
    with pytest.raises(InvalidConfig, match=r"labels.per_step is 5: it should be from 0 to 4"):
        load("benchmark=elsewhere:Bench", "labels.per_step=5")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("labels.per_stp=3", "labels.per_stp: unknown key. Did you mean 'per_step'?"),
        ("labels.per_step=17", "labels.per_step is 17: it should be from 0 to 16"),
        ("labels.per_step=-1", "labels.per_step is -1: it should be at least 0"),
        ("benchmark.steps=0", "benchmark.steps is 0: it should be at least 1"),
        ("benchmark.step=5", "benchmark.step: unknown key. Did you mean 'steps'?"),
        ("strategy.memory_per_clas=5", "strategy.memory_per_clas: unknown key. Did you mean 'memory_per_class'?"),
        ("strategy.memory_per_class=0", "strategy.memory_per_class is 0: it should be at least 1"),
        ("strategy.replay_per_step=0", "strategy.replay_per_step is 0: it should be at least 1"),
        ("strategy={name: ewc, importance: -1}", "strategy.importance is -1: it should be at least 0"),
        ("strategy={name: ewc, importance: .inf}", "strategy.importance is inf: it should be a finite number"),
        ("strategy={name: derpp, alpha: -0.5}", "strategy.alpha is -0.5: it should be at least 0"),
        ("strategy={name: iod, temperature: 0}", "strategy.temperature is 0: it should be more than 0"),
        ("strategy={name: offline, epochs: 0}", "strategy.epochs is 0: it should be at least 1"),
        ("strategy.recipe=jont", "strategy.recipe is 'jont': it should be 'released' or 'joint'"),
        ("source=walk.mp4", "source: unknown key. Did you mean 'benchmark.source'?"),
        ("memory_per_class=5", "memory_per_class: unknown key. Did you mean 'strategy.memory_per_class'?"),
        ("every=5", "every: unknown key. Did you mean 'benchmark.every' or 'evaluate.every' or 'checkpoint.every'?"),
        ("strategi=icarl", "strategi: unknown key. Did you mean 'strategy'?"),
        ("strategy=5", "strategy is 5: it should be a name"),
        ("strategy.name=5", "strategy is {'name': 5}: it should be a mapping whose name is a string"),
        ("efficient_cls=false", "efficient_cls is false: it should be a mapping of options, or null"),
        ("evaluate.every=0", "evaluate.every is 0: it should be at least 1"),
        ("evaluate.ap=pascal", "evaluate.ap is 'pascal': it should be 'coco' or 'voc'"),
        ("evaluate.forgetting_bins=1", "evaluate.forgetting_bins is 1: it should be at least 2"),
        ("evaluate.forgetting_weights=ours", "evaluate.forgetting_weights is 'ours': it should be 'paper' or 'oak'"),
        ("evaluate.presence=seen", "evaluate.presence is 'seen': it should be 'stream' or 'labelled'"),
        ("evaluate.forgeting_bins=4", "evaluate.forgeting_bins: unknown key. Did you mean 'forgetting_bins'?"),
        ("labels.nested=some", "labels.nested is 'some': it should be a valid boolean"),
        ("seed=-1", "seed is -1: it should be at least 0"),
        ("seed=many", "seed is 'many': it should be a valid integer"),
        ("threads=0", "threads is 0: it should be at least 1"),
        (
            "diagnosis=truth",
            "diagnosis is 'truth': it should be 'true_boxes', 'right_labels', 'missed_ignored', 'no_errors', ",
        ),
        ("labels", "'labels' is not an override"),
        ("=3", "'=3' is not an override"),
        ("labels..per_step=3", "'labels..per_step=3' is not an override"),
        ("a." * 5000 + "a=1", "a.' is not an override"),
        ("two\nlines", "'two\\nlines' is not an override"),
        ("labels={1: 2}", "labels.1: unknown key. Known: "),
        ("labels={? [1] : 2}", "a key that is a list or a mapping"),
        ("seed=" + "9" * 5000, "seed: '9999"),
        ("seed=2020-01-01", "seed is datetime.date(2020, 1, 1): it should be a valid integer"),
        ("seed=!!binary aGk=", "seed is b'hi': it should be a valid integer"),
        ('strategy="a\\nb\\u202e"', "'a\\nb\\u202e' cannot be the name of a strategy"),
        ('"two\\nlines"=1', "unknown key"),
        ("labels={a: 1, a: 2}", "the key 'a' is there twice"),
        ("labels=[", "labels: '[' cannot be read as YAML"),
    ],
)
def test_mistakes_are_told_in_one_line_with_key_value_and_cure(text: str, complaint: str) -> None:
    with pytest.raises(LeocodError) as caught:
        load(text)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["5", "true", "2.5"])
def test_what_is_no_part_is_told_also_where_a_layer_below_has_another_name(value: str) -> None:
    with pytest.raises(InvalidConfig, match=f"strategy is {value}: it should be a name, or a mapping"):
        load("strategy=offline", f"strategy={value}")


@pytest.mark.parametrize("text", ["a\nb", "seed=[\n", "a\u2028b=["])
def test_a_mistake_on_several_lines_is_told_in_one(text: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_override(text)

    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_part_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="No detector 'tinny'. Did you mean 'tiny'"):
        load("detector=tinny")


@pytest.mark.parametrize("plug_in", ["efficient_cls=null", "efficient_cls.ema=false"])
def test_two_learners_are_needed_to_disagree(plug_in: str) -> None:
    with pytest.raises(InvalidConfig, match="labels.name is 'disagreement', but there is no slow learner"):
        load(plug_in, "labels.name=disagreement")
    assert load("labels.name=disagreement").labels.name == "disagreement"


def test_another_labeller_keeps_the_budget() -> None:
    labels = load("labels={per_step: null, total: 9, nested: true}", "labels.name=novelty").labels.options

    assert (labels.per_step, labels.total) == (None, 9)


@pytest.mark.parametrize("plug_in", ["efficient_cls=null", "efficient_cls.pseudo_labels=false"])
def test_the_diagnosis_needs_pseudo_labels(plug_in: str) -> None:
    with pytest.raises(InvalidConfig, match="diagnosis is 'true_boxes', but there are no pseudo labels"):
        load(plug_in, "diagnosis=true_boxes")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("seed: 0\nseed: 1\n", "line 2: the key 'seed' is there twice"),
        ("- 1\n- 2\n", "must hold keys with values"),
        ("1: 2\n", "must hold keys with values"),
        ("seed: [0\n", "is not valid YAML: line 2"),
        ("seed: b: c\n", "is not valid YAML: line 1"),
    ],
)
def test_broken_files_are_told_in_one_line(content: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as caught:
        in_file(tmp_path, content)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_unreadable_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00\x80")

    for name, complaint in {
        "none.yaml": "No config file",
        ".": "cannot be read",
        "binary.yaml": "cannot be read",
    }.items():
        with pytest.raises(InvalidConfig, match=complaint):
            load_config(tmp_path / name)


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert in_file(tmp_path, "# nothing\n") == ExperimentConfig()


def test_a_config_cannot_be_changed() -> None:
    config: Any = ExperimentConfig()

    with pytest.raises(ValueError, match="frozen"):
        config.seed = 3


def test_what_nothing_depends_on_may_change_while_a_run_goes_on() -> None:
    other = load(
        *("checkpoint.every=7", "checkpoint.keep=1", "record.detections=3", "sinks=[jsonl]"),
        *("patience=30", "workers=2"),
    )

    assert describe_changes(load(), other) == []


def test_every_key_that_differs_is_named_with_both_values() -> None:
    other = load("seed=1", "efficient_cls=null", "labels.per_step=2", "evaluate.frames=5", "bad_steps=3", "threads=7")

    told = describe_changes(load(), other)

    assert "seed was 0 and is 1" in told
    assert "labels.per_step was 4 and is 2" in told
    assert "evaluate.frames was null and is 5" in told
    assert "threads was 1 and is 7" in told
    assert not any(key.startswith("bad_steps") for key in told)
    assert "efficient_cls was not there and is null" in told
    assert "efficient_cls.keep was 0.99 and is not there" in told
    assert len({line.partition(" was ")[0] for line in told}) == len(told)


def test_another_part_differs_with_all_of_its_options() -> None:
    told = describe_changes(load(), load("strategy=incremental"))

    assert told[0] == 'strategy.name was "icarl" and is "incremental"'
    assert "strategy.memory_per_class was 5 and is not there" in told


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bad_steps=0", "bad_steps is 0: it should be at least 1"),
        ("patience=-1", "patience is -1"),
        ("record.detections=0", "record.detections is 0: it should be at least 1"),
        ("sinks=[{name: jsonl, pack_every: 0}]", "sinks.pack_every is 0: it should be at least 1"),
        ("record.pack_events_every=5", "record.pack_events_every is now pack_every of the sink jsonl"),
        ("labels.choice=given", "labels.choice is now labels.name (`drawn` is now `random`, `given` is now `fixed`)"),
        ("labels.name=budget", "labels.name=budget is now labels.name=random."),
        ("labels=budget", "labels.name=budget is now labels.name=random."),
        ("labels.total=9", "labels: per_step and total: exactly one of per_step, total and per_hour is the budget"),
        ("sinks=[console]", "sinks has no `jsonl`: add it"),
        ("evaluate.frames=0", "evaluate.frames is 0: it should be at least 1"),
        ("efficient_cls.flood=1", "efficient_cls.flood is 1"),
        ("efficient_cls.watch_steps=0", "efficient_cls.watch_steps is 0: it should be at least 1"),
    ],
)
def test_what_keeps_a_long_run_alive_has_limits(text: str, complaint: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(text)

    assert complaint in str(caught.value)


def test_a_stored_config_that_calls_the_random_labeller_budget_is_read(tmp_path: Path) -> None:
    stored = load().model_dump(mode="json")
    stored["labels"]["name"] = "budget"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(stored))

    assert load_run_config(tmp_path / "config.yaml") == load()


def test_a_stored_run_on_a_video_keeps_the_test_frames_that_it_had(tmp_path: Path) -> None:
    stored = load("benchmark={name: video, source: walk.mp4, classes: [mug]}").model_dump(mode="json")
    del stored["benchmark"]["test_every"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(stored))

    assert load_run_config(tmp_path / "config.yaml").benchmark.options.test_every == 0
    assert load("benchmark={name: video, source: walk.mp4, classes: [mug]}").benchmark.options.test_every == 5
