"""Examples run as they stand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from digests import digests
from typer.testing import CliRunner

from leocod import (
    PSEUDO_LABELLERS,
    BaseSink,
    Detections,
    PseudoLabelRequest,
    StepArrived,
    Wander,
    WanderOptions,
    start_run,
)
from leocod.cli.main import app
from leocod.errors import SourceAway

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("plug_in", [[], ["--plugin", "none"]], ids=["wrapped", "bare"])
def test_ones_own_strategy_runs_by_its_name(tmp_path, plug_in):
    out = tmp_path / "run"
    arguments = [
        *("run", "--strategy", "own_strategy:WorstFirst", "--steps", "3", "--threads", "1", "--out", str(out)),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
        *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
        *("--set", "strategy.candidates=8", "--set", "strategy.replay_per_step=4", *plug_in),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["event"] == "StepLearned"]
    assert any(name.startswith("replay/") for name in steps[-1]["losses"])
    assert json.loads((out / "results.json").read_text())["efficient_cls"] == (not plug_in)


SMALL = (
    *("--steps", "3", "--threads", "1", "--evaluate-every", "2"),
    *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}"),
    *("--set", "detector={weights: null, short_side: 48, regions: 16, proposals: 24}"),
)


def test_ones_own_labeller_chooses_by_what_the_learner_predicts_and_resumes_exactly(tmp_path):
    arguments = ["run", *SMALL, "--set", "labels.name=own_labeller:LeastSure", "--labels", "2"]

    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])

    assert done.exit_code == 0, done.output
    labels = json.loads((tmp_path / "run" / "labels.json").read_text())
    assert labels["name"] == "own_labeller:LeastSure"
    assert [len(ids) for ids in labels["frames"].values()] == [2, 2, 2]


def test_ones_own_pseudo_labeller_writes_the_pseudo_labels_by_its_name(tmp_path):
    arguments = ["run", *SMALL, "--set", "efficient_cls.labeller=own_pseudo_labeller:Mirrored"]

    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])

    assert done.exit_code == 0, done.output
    assert "labeller: own_pseudo_labeller:Mirrored" in (tmp_path / "run" / "config.yaml").read_text()
    assert json.loads((tmp_path / "run" / "results.json").read_text())["pseudo_label_counts"]["frames"] == 3 * 12


def test_ones_own_pseudo_labeller_finds_a_thing_again_in_the_mirror_image(a_frame):
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[10:20, 40:60] = 255
    frame = replace(a_frame(0)[0], content=pixels)

    def see_the_bright_thing(images):
        corners = [np.argwhere(image[..., 0] > 0) for image in images]
        boxes = [np.array([[*one.min(axis=0)[::-1], *(one.max(axis=0)[::-1] + 1)]], np.float32) for one in corners]
        return [Detections(box, np.array([0]), np.array([0.8], np.float32)) for box in boxes]

    request = PseudoLabelRequest([frame], [], slow=see_the_bright_thing, fast=see_the_bright_thing)
    [found] = PSEUDO_LABELLERS.find("own_pseudo_labeller:Mirrored")().detect(request)

    assert found.boxes.tolist() == [[40, 10, 60, 20]]
    assert found.scores.tolist() == [np.float32(0.8)]


def test_ones_own_sink_is_told_every_evaluation(tmp_path):
    arguments = ["run", *SMALL, "--set", "sinks=[jsonl, own_sink:ApCsv]", "--out", str(tmp_path / "run")]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    lines = (tmp_path / "run" / "ap.csv").read_text().splitlines()
    assert lines[0] == "steps,ap,worst class"
    # Before the first step, too.
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "2", "3"]
    assert not (tmp_path / "run" / "tensorboard").exists()


class Stop(BaseSink):
    """Ends the run when a step arrives."""

    def __call__(self, event):
        if isinstance(event, StepArrived) and event.step == 4:
            raise SourceAway("unplugged")


def test_a_composed_run_has_all_that_a_configured_one_has_and_resumes_exactly(tmp_path, monkeypatch):
    import compose_a_run

    whole = compose_a_run.run(tmp_path / "whole")
    with monkeypatch.context() as patched, pytest.raises(SourceAway):
        patched.setattr("leocod.start_run", lambda parts, out: start_run(parts, out, [Stop()]))
        compose_a_run.run(tmp_path / "half")
    resumed = compose_a_run.run(tmp_path / "half")

    names = {"config.yaml", "environment.json", "events.jsonl", "labels.json", "results.json", "report.html"}
    assert names <= {file.name for file in (tmp_path / "whole").iterdir()}
    assert digests(tmp_path / "half") == digests(tmp_path / "whole")
    assert [one.step for one in whole.evaluations] == [one.step for one in resumed.evaluations] == [2, 5]


def test_a_composed_run_cannot_be_resumed_by_a_config_and_says_so(tmp_path):
    import compose_a_run

    compose_a_run.run(tmp_path / "run")

    done = CliRunner().invoke(app, ["run", "--resume", str(tmp_path / "run")])

    assert done.exit_code == 2
    assert "this run was composed in Python" in done.stderr


@pytest.mark.parametrize(
    "policies",
    [
        ["memory_store=own_memory_policy:BalancedWithEmpty"],
        ["memory_replacement=own_memory_policy:MostBoxes", "memory_per_class=1"],
        ["memory_replacement=own_memory_policy:MostBoxes", "memory_bytes=60000", "memory_encoding=jpeg"],
    ],
    ids=lambda policies: policies[0].rpartition(":")[2],
)
def test_ones_own_memory_policies_run_by_their_names(tmp_path, policies):
    settings = [word for policy in policies for word in ("--set", f"strategy.{policy}")]

    done = CliRunner().invoke(
        app, ["run", *SMALL, "--set", "strategy.replay_per_step=4", *settings, "--out", str(tmp_path / "run")]
    )

    assert done.exit_code == 0, done.output
    memory = json.loads((tmp_path / "run" / "memory.json").read_text())
    assert memory["frames"] > 0
    assert memory["bytes"] <= 60_000 or "memory_bytes=60000" not in policies


def test_ones_own_metric_is_in_the_results_and_in_the_report(tmp_path):
    out = tmp_path / "run"
    arguments = ["run", *SMALL, "--set", "evaluate.metrics=[fap, own_metric:WorstClass]", "--out", str(out)]

    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)

    assert done.exit_code == 0, done.output
    results = json.loads((out / "results.json").read_text())
    assert list(results["scores"]) == ["fap", "worst_class"]
    assert results["metrics"]["worst_class"]["title"] == "AP50 of the worst class at the end"
    known = [value for value in results["evaluations"][-1]["ap_by_class"].values() if value is not None]
    assert results["scores"]["worst_class"] == min(known)
    assert "Worst, AP50 of the worst class at the end" in " ".join(done.output.split())
    assert "Worst: AP50 of the worst class at the end, points" in (out / "report.html").read_text()
    again = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["score", str(out), "--metric", "own_metric:WorstClass"])
    assert "worst_class" in again.output


@pytest.mark.parametrize("strategy", ["icarl", "iod"])
def test_ones_own_detector_runs_by_its_name(tmp_path, strategy):
    out = tmp_path / "run"
    arguments = [
        *("run", "--detector", "own_detector:MyDetector", "--strategy", strategy, "--steps", "2", "--threads", "1"),
        *("--set", "benchmark={width: 64, height: 48, places: 2, instances: 5}", "--set", "detector.width=8"),
        *("--out", str(out)),
    ]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    assert "own_detector:MyDetector" in (out / "config.yaml").read_text()
    assert (out / "results.json").is_file()


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_every_example_is_short(example):
    assert len(example.read_text().splitlines()) < 40


@pytest.mark.slow
def test_a_video_is_learnt_from_live_and_the_detector_exported(tmp_path):
    film = tmp_path / "film.mp4"
    with av.open(str(film), "w") as container:
        stream = container.add_stream("mpeg4", rate=20)
        stream.width, stream.height, stream.pix_fmt = 128, 96, "yuv420p"
        for frame, _ in Wander(WanderOptions(steps=2), seed=0).frames_of(0):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame.image(), format="rgb24")))
        container.mux(stream.encode())
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "live_from_video.py"), str(film)],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        while "browser" not in (line := process.stdout.readline()):
            assert line
        frames = tmp_path / "runs" / "live_from_video" / "frames"
        ends = time.monotonic() + 120
        while len(list(frames.glob("*.jpg"))) < 32:
            assert time.monotonic() < ends
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()

    assert process.returncode == 0, told
    assert (tmp_path / "runs" / "live_from_video" / "detector.safetensors").exists()
