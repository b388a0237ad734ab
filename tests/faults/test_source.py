"""Frames that are away, damaged, late, no more, or of another size."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from digests import digests
from PIL import Image as PillowImage
from typer.testing import CliRunner
from whole import whole

from leocod.cli.main import app
from leocod.data.convert import convert
from leocod.errors import Interrupted, InvalidFrame, InvalidRun, LeocodError, SourceAway
from leocod.evaluation.evaluator import Evaluator
from leocod.run.config import ExperimentConfig
from leocod.run.experiment import build
from leocod.run.session import resume_experiment, run_experiment
from leocod.stream.recorded import Stream

RECORDED = "benchmark={name: coco_video, annotations: data/annotations.json}"


def trouble(kind: str, step: int, **more: object) -> Path:
    file = Path("trouble.json")
    file.write_text(json.dumps({"kind": kind, "step": step, **more}))
    return file


def events(run: Path, kind: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == kind]


@pytest.mark.parametrize("step", [0, 1, 3])
def test_a_source_that_is_away_ends_the_run_and_once_it_is_back_it_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], step: int
) -> None:
    run, file = Path("run"), trouble("away", step)

    with pytest.raises(SourceAway, match=f"Step {step}: the camera does not answer. Plug it in."):
        run_experiment(a_config(), run)

    assert whole(run) == []
    file.unlink()
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


def test_with_patience_a_source_that_comes_back_is_waited_for_and_told_of(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    run, file = Path("run"), trouble("away", 2)

    def come_back() -> None:
        while not any("Waiting up to 60 s" in message for message in caplog.messages):
            time.sleep(0.01)
        file.unlink()

    back = threading.Thread(target=come_back)
    back.start()
    run_experiment(a_config("patience=60"), run)
    back.join()

    (warned,) = events(run, "Warned")
    assert warned["step"] == 2
    assert "does not answer" in str(warned["what"])
    assert digests(run)["learner"] == undisturbed["learner"]


@pytest.mark.parametrize("step", [0, 3])
def test_asked_to_stop_while_the_source_hangs_the_run_leaves_at_once_with_all_that_it_learnt(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str], step: int
) -> None:
    run, file = Path("run"), trouble("stall", step, seconds=600)

    def ask() -> None:
        while not (run / "events.jsonl").exists() or len(events(run, "StepLearned")) < step:
            time.sleep(0.01)
        time.sleep(0.5)
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGTERM)

    asked: list[float] = []
    threading.Thread(target=ask, daemon=True).start()
    with pytest.raises(Interrupted, match="SIGTERM"):
        run_experiment(a_config(), run)

    # The source would have stalled for 600 s.
    assert time.monotonic() - asked[0] < 300
    assert (run / "checkpoints" / f"step_{step - 1:05d}.pt").exists() == (step > 0)
    file.unlink()
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


@pytest.mark.parametrize("step", [0, 3])
def test_a_source_that_ends_early_ends_the_run_well(a_config: Callable[..., ExperimentConfig], step: int) -> None:
    run = Path("run")
    trouble("end", step)

    results = run_experiment(a_config(), run)

    assert results is not None
    assert results.steps == step
    assert [one.step for one in results.evaluations] == ([1, 2] if step else [])
    assert f"after {step} of 5 steps" in str(events(run, "Warned")[-1]["what"])
    assert whole(run) == []
    assert (run / "report.html").exists()


def test_frames_of_another_size_are_learnt_and_a_run_with_them_goes_on_the_same(
    a_config: Callable[..., ExperimentConfig],
) -> None:
    larger = a_config("benchmark.resized_from=2")
    run_experiment(larger, Path("undisturbed"))
    file = trouble("away", 3)

    with pytest.raises(SourceAway):
        run_experiment(larger, Path("run"))
    file.unlink()
    resume_experiment(larger, Path("run"))

    assert digests(Path("run")) == digests(Path("undisturbed"))


def test_frames_that_are_not_of_the_size_they_say_end_the_run_with_what_was_expected(
    a_config: Callable[..., ExperimentConfig], undisturbed: dict[str, str]
) -> None:
    run, file = Path("run"), trouble("lie", 3)

    with pytest.raises(InvalidFrame, match="expected 49 x 64 x 3 uint8 pixels, got 48 x 64 x 3"):
        run_experiment(a_config(), run)

    file.unlink()
    resume_experiment(a_config(), run)
    assert digests(run) == undisturbed


@pytest.fixture
def recorded(a_config: Callable[..., ExperimentConfig]) -> Callable[..., ExperimentConfig]:
    """The smallest world as files."""
    convert(build(a_config()).benchmark, Path("data"), to="coco", labels={})
    return lambda *overrides: a_config(RECORDED, *overrides)


@pytest.mark.parametrize("rule", ["stop", "skip"])
@pytest.mark.parametrize("step", [0, 2])
def test_data_that_vanish_end_the_run_and_once_they_are_back_it_goes_on_the_same(
    recorded: Callable[..., ExperimentConfig], at: Callable[..., object], rule: str, step: int
) -> None:
    config, data, away = recorded(f"benchmark.on_bad_frame={rule}"), Path("data"), Path("away")
    run_experiment(config, Path("undisturbed"))

    # Before step 3 frames are missed; before step 1, too, and a test picture would be at the evaluation after it.
    with pytest.raises(SourceAway, match=f"Step {step + 1}: .*000.*png"):
        run_experiment(config, Path("run"), [at(step, lambda: data.rename(away))])
    with pytest.raises(LeocodError, match="annotations.json"):
        resume_experiment(config, Path("run"))
    away.rename(data)
    resume_experiment(config, Path("run"))

    assert digests(Path("run")) == digests(Path("undisturbed"))


def test_test_pictures_that_vanish_end_the_run_at_its_next_evaluation_which_comes_again(
    recorded: Callable[..., ExperimentConfig], at: Callable[..., object]
) -> None:
    run_experiment(recorded(), Path("undisturbed"))
    content = json.loads(Path("data/annotations.json").read_text())
    test = [Path("data/images") / image["file_name"] for image in content["images"] if image["held_out"]]

    def hide() -> None:
        for picture in test:
            picture.rename(picture.with_suffix(".away"))

    with pytest.raises(InvalidFrame, match=test[0].name):
        run_experiment(recorded(), Path("run"), [at(1, hide)])
    for picture in test:
        picture.with_suffix(".away").rename(picture)
    resume_experiment(recorded(), Path("run"))

    assert digests(Path("run")) == digests(Path("undisturbed"))


def test_a_picture_damaged_midway_is_named_and_once_it_is_mended_the_run_goes_on_the_same(
    recorded: Callable[..., ExperimentConfig], at: Callable[..., object]
) -> None:
    run_experiment(recorded(), Path("undisturbed"))
    # Steps have three frames and one held out: the first of step 3.
    picture = Path("data/images/shaky/000012.png")
    pixels = picture.read_bytes()

    with pytest.raises(InvalidFrame, match=picture.name):
        run_experiment(recorded(), Path("run"), [at(0, lambda: picture.write_bytes(pixels[:100]))])
    picture.write_bytes(pixels)
    resume_experiment(recorded(), Path("run"))

    assert digests(Path("run")) == digests(Path("undisturbed"))


@contextmanager
def asked_to_stop_while_decoding(owner: type, method: str) -> Iterator[None]:
    """The first picture that is decoded inside a method is when somebody asks."""
    convert, work = PillowImage.Image.convert, getattr(owner, method)

    def asks(*given: Any) -> Any:
        patched.setattr(PillowImage.Image, "convert", convert)
        signal.raise_signal(signal.SIGTERM)
        return convert(*given)

    def watched(*given: Any) -> Any:
        patched.setattr(owner, method, work)
        patched.setattr(PillowImage.Image, "convert", asks)
        return work(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, method, watched)
        yield


def test_asked_to_stop_while_a_test_picture_is_decoded_nobody_takes_it_for_damage(
    recorded: Callable[..., ExperimentConfig], arguments: list[str]
) -> None:
    run_experiment(recorded(), Path("undisturbed"))

    with asked_to_stop_while_decoding(Evaluator, "evaluate"):
        done = CliRunner().invoke(app, ["run", *arguments, "--set", RECORDED, "--out", "run"])

    assert done.exit_code == 143
    assert done.stderr.splitlines() == ["leocod: Asked to stop by SIGTERM. Resume it with: leocod run --resume run"]
    resume_experiment(recorded(), Path("run"))
    assert digests(Path("run")) == digests(Path("undisturbed"))


def test_asked_to_stop_while_offline_training_decodes_a_picture_no_frame_is_skipped(
    recorded: Callable[..., ExperimentConfig],
) -> None:
    config = recorded("strategy=offline", "efficient_cls=null", "benchmark.on_bad_frame=skip")
    run_experiment(config, Path("undisturbed"))

    with asked_to_stop_while_decoding(Stream, "load"), pytest.raises(Interrupted, match="SIGTERM"):
        run_experiment(config, Path("run"))

    assert events(Path("run"), "StepLearned") == []
    resume_experiment(config, Path("run"))
    assert digests(Path("run")) == digests(Path("undisturbed"))


def test_data_of_other_classes_or_another_length_are_refused_with_both_numbers(
    recorded: Callable[..., ExperimentConfig], at: Callable[..., object]
) -> None:
    def away() -> None:
        raise SourceAway("It was broken off.")

    file = Path("data/annotations.json")
    content = json.loads(file.read_text())
    with pytest.raises(SourceAway):
        run_experiment(recorded("checkpoint.every=1"), Path("run"), [at(1, away)])
    classes = len(content["categories"])
    one_more = [*content["categories"], {"id": 99, "name": "unicorn"}]
    last = max(image["frame_id"] for image in content["images"])
    shorter = [image for image in content["images"] if image["frame_id"] < last - 3]
    ids = {image["id"] for image in shorter}
    fewer = [one for one in content["annotations"] if one["image_id"] in ids]

    file.write_text(json.dumps(content | {"categories": one_more}))
    with pytest.raises(InvalidRun, match=f"had {classes} classes and 5 steps; now it has {classes + 1} classes"):
        resume_experiment(recorded(), Path("run"))
    file.write_text(json.dumps(content | {"images": shorter, "annotations": fewer}))
    with pytest.raises(InvalidRun, match=f"had {classes} classes .*; now it has {classes} classes and 4 steps"):
        resume_experiment(recorded(), Path("run"))
