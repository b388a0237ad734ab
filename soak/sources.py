"""Frames that are away, damaged, late, no more, or of another size."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from trial import LEARNING, WALK, Child, Lab, Trial, events_of, leocod, not_whole, steps_told

WAITING = "Waiting up to"
"""What a run says that has patience."""

LEAVING = 30.0
"""Seconds that a run may take to save and leave, on a machine that is busy with others like it; the camera hangs for
many more. Torch alone gives a process that reads five to end by itself."""

ANNOTATIONS = Path("data") / "annotations.json"
"""From the folder of a run: every run has data of its own, at the same place."""
RECORDED = ("--benchmark", "coco_video", "--set", f"benchmark.annotations={ANNOTATIONS}", *LEARNING)


def recorded(lab: Lab, name: str) -> Path:
    """Where a run of a benchmark of files is to be, in a folder with its data."""
    with lab.lock:
        if not (lab.home / "data").exists():
            options = [part.removeprefix("benchmark.") for part in WALK]
            ended = leocod("data", "convert", "wander", lab.home / "data", "--to", "coco", "--labels", "2", *options)
            if ended.code:
                raise RuntimeError(ended.err)
        lab.expected("recorded", RECORDED)
    run = lab.new(name) / "run"
    shutil.copytree(lab.home / "data", run.parent / "data")
    return run


def begin(run: Path, *arguments: object) -> Child:
    """Start a run from the folder that it and its data are in."""
    return Child("run", *arguments, "--out", run, folder=run.parent)


def vanishing(lab: Lab) -> Iterator[Trial]:
    """A data folder that is renamed while the run goes on, with both answers to bad frames, and comes back."""
    for rule in ("stop", "skip"):
        for steps in lab.some([1, 4, 8]):
            run = recorded(lab, f"vanishing-{rule}")
            data = run.parent / "data"
            arguments = (*RECORDED, "--set", f"benchmark.on_bad_frame={rule}")
            child = begin(run, *arguments)
            child.until_learnt(run, steps)
            away = data.rename(data.with_name(f"{data.name}-away"))
            ended = child.end()
            wrong = ended.wrong({2}) + not_whole(run)
            early = leocod("run", "--resume", run, folder=run.parent)
            wrong += [f"going on too early: {what}" for what in early.wrong({2})]
            away.rename(data)
            seen = f"{rule}, away after {steps} steps: stopped after {steps_told(run)}"
            yield Trial(seen, wrong + lab.gone_on(run, arguments, world="recorded"))


def returning(lab: Lab) -> Iterator[Trial]:
    """A data folder that is away for a while, and a run with patience."""
    for rule in ("stop", "skip"):
        run = recorded(lab, f"returning-{rule}")
        data = run.parent / "data"
        arguments = (*RECORDED, "--set", f"benchmark.on_bad_frame={rule}")
        child = begin(run, *arguments, "--set", "patience=100")
        child.until_learnt(run, 2)
        away = data.rename(data.with_name(f"{data.name}-away"))
        waited = child.until_told(WAITING)
        time.sleep(2)
        away.rename(data)
        ended = child.end()
        wrong = ended.wrong({0}) + not_whole(run) + ([] if waited else ["did not wait"])
        warned = len(events_of(run, "Warned"))
        wrong += [] if warned == 1 else [f"{warned} warnings and not one"]
        told = {"events", "metrics"}
        wrong += lab.gone_on(run, arguments, world="recorded", but=told)
        yield Trial(f"{rule}, with patience: waited, {warned} warning told, ended", wrong)


def out_of_patience(lab: Lab) -> Iterator[Trial]:
    """A data folder that does not come back in time."""
    run = recorded(lab, "impatient")
    data = run.parent / "data"
    child = begin(run, *RECORDED, "--set", "patience=2")
    child.until_learnt(run, 2)
    away = data.rename(data.with_name(f"{data.name}-away"))
    ended = child.end()
    away.rename(data)
    wrong = ended.wrong({2}) + not_whole(run)
    yield Trial("waited 2 s, stopped", wrong + lab.gone_on(run, RECORDED, world="recorded"))


def missing_test_pictures(lab: Lab) -> Iterator[Trial]:
    """Test pictures that are gone when they are to be looked at."""
    for rule in ("stop", "skip"):
        run = recorded(lab, f"test-{rule}")
        data = run.parent / "data"
        arguments = (*RECORDED, "--set", f"benchmark.on_bad_frame={rule}")
        pictures = _pictures(data, held_out=True)
        child = begin(run, *arguments)
        child.until_learnt(run, 2)
        hidden = {picture: picture.rename(picture.with_suffix(".away")) for picture in pictures}
        ended = child.end()
        for picture, where in hidden.items():
            where.rename(picture)
        wrong = ended.wrong({2}) + not_whole(run)
        seen = f"{rule}, {len(pictures)} test pictures gone: stopped after {steps_told(run)} steps"
        yield Trial(seen, wrong + lab.gone_on(run, arguments, world="recorded"))


def damaged_pictures(lab: Lab) -> Iterator[Trial]:
    """A picture that is damaged while the run goes on."""
    for kind in lab.some(["cut", "emptied", "text", "removed"]):
        run = recorded(lab, f"picture-{kind}")
        data = run.parent / "data"
        picture = _pictures(data, held_out=False)[26]
        before = picture.read_bytes()
        child = begin(run, *RECORDED)
        child.until_learnt(run, 2)
        after = {"cut": before[: len(before) // 2], "emptied": b"", "text": b"no picture"}.get(kind)
        picture.unlink() if after is None else picture.write_bytes(after)
        ended = child.end()
        picture.write_bytes(before)
        wrong = ended.wrong({2}) + not_whole(run)
        wrong += [] if picture.name in ended.err else [f"{picture.name} is not named"]
        seen = f"{kind}: stopped after {steps_told(run)} steps"
        yield Trial(seen, wrong + lab.gone_on(run, RECORDED, world="recorded"))


def shaky(run: Path, *more: object) -> tuple[Path, tuple[object, ...]]:
    """A camera with trouble for one run: the file that says which, and how to run it."""
    trouble = run.with_name(f"{run.name}-trouble.json")
    chosen = ("--benchmark", "shaky:Shaky", "--set", f"benchmark.trouble={trouble}")
    return trouble, (*chosen, *WALK, *LEARNING, *more)


def cameras_away(lab: Lab) -> Iterator[Trial]:
    """A camera that does not answer: at the first step, later, with and without patience, with a process that reads."""
    for step, patience, workers in ((0, 0, 0), (5, 0, 0), (5, 0, 1), (0, 100, 0), (5, 100, 0), (5, 100, 1)):
        run = lab.new("camera-away")
        trouble, arguments = shaky(run)
        arguments = (*arguments, "--set", f"workers={workers}", "--set", f"patience={patience}")
        trouble.write_text(json.dumps({"kind": "away", "step": step}))
        child = begin(run, *arguments)
        seen = f"away at step {step}, {workers} workers: "
        if patience:
            waited = child.until_told(WAITING)
            trouble.unlink()
            ended = child.end()
            wrong = ended.wrong({0}) + not_whole(run) + ([] if waited else ["did not wait"])
            seen += "waited, went on"
        else:
            ended = child.end()
            wrong = ended.wrong({2}) + not_whole(run)
            trouble.unlink()
            seen += f"stopped after {steps_told(run)} steps"
        but = {"events", "metrics"} if patience else set[str]()
        yield Trial(seen, wrong + lab.gone_on(run, arguments, world="shaky", but=but))


def stalled(lab: Lab) -> Iterator[Trial]:
    """A camera that hangs; asked to stop, the run leaves at once and has saved what it learnt."""
    for step, workers, number in (
        (0, 0, signal.SIGTERM),
        (4, 0, signal.SIGTERM),
        (4, 0, signal.SIGINT),
        (7, 1, signal.SIGTERM),
        (7, 1, signal.SIGINT),
    ):
        run = lab.new("stalled")
        trouble, arguments = shaky(run)
        arguments = (*arguments, "--set", f"workers={workers}")
        trouble.write_text(json.dumps({"kind": "stall", "step": step, "seconds": 1000}))
        child = begin(run, *arguments)
        child.until((run / "events.jsonl").exists)
        child.until_learnt(run, step)
        time.sleep(1.5)
        asked = time.monotonic()
        child.send(number, group=number == signal.SIGINT)
        ended = child.end(60)
        seconds = time.monotonic() - asked
        wrong = ended.wrong({128 + number}) + not_whole(run)
        wrong += [] if seconds < LEAVING else [f"took {seconds:.0f} s to leave"]
        saved = sorted(path.stem for path in (run / "checkpoints").glob("step_*.pt"))
        wrong += [] if not step or f"step_{step - 1:05d}" in saved else [f"step {step - 1} is not saved: {saved}"]
        trouble.unlink()
        seen = f"at step {step}, {workers} workers, {number.name}: left in {seconds:.1f} s"
        yield Trial(seen, wrong + lab.gone_on(run, arguments, world="shaky"))


def ended_early(lab: Lab) -> Iterator[Trial]:
    """A camera that is switched off before the end: the run ends well, with what it has."""
    for step, workers in ((0, 0), (1, 0), (5, 0), (5, 1)):
        run = lab.new("ended")
        trouble, arguments = shaky(run)
        trouble.write_text(json.dumps({"kind": "end", "step": step}))
        ended = leocod("run", *arguments, "--set", f"workers={workers}", "--out", run)
        wrong = ended.wrong({0}) + not_whole(run)
        if ended.code == 0:
            results = json.loads((run / "results.json").read_text())
            wrong += [] if results["steps"] == step else [f"{results['steps']} steps in the results"]
            evaluated = [one["step"] for one in results["evaluations"]]
            wrong += [] if not step or evaluated[-1:] == [step - 1] else [f"evaluated after {evaluated}"]
        yield Trial(f"after {step} steps, {workers} workers: ended well", wrong)


def resized(lab: Lab) -> Iterator[Trial]:
    """A camera that changes the size of its frames; and one that says another size than it sends."""
    for steps in lab.some([2, 6, 8]):
        run = lab.new("resized")
        _, arguments = shaky(run, "--set", "benchmark.resized_from=6")
        child = begin(run, *arguments)
        child.until_learnt(run, steps)
        child.send(signal.SIGTERM)
        ended = child.end()
        wrong = ended.wrong({143}) + not_whole(run)
        seen = f"larger from step 6, broken off after {steps_told(run)}: went on"
        yield Trial(seen, wrong + lab.gone_on(run, arguments, world="resized"))
    run = lab.new("lying")
    trouble, arguments = shaky(run)
    trouble.write_text(json.dumps({"kind": "lie", "step": 4}))
    ended = leocod("run", *arguments, "--out", run)
    trouble.unlink()
    wrong = ended.wrong({2}) + not_whole(run)
    seen = f"another size than told: stopped after {steps_told(run)} steps"
    yield Trial(seen, wrong + lab.gone_on(run, arguments, world="shaky"))


def _pictures(data: Path, *, held_out: bool) -> list[Path]:
    content = json.loads((data / ANNOTATIONS.name).read_text(encoding="utf-8"))
    return [data / "images" / image["file_name"] for image in content["images"] if image["held_out"] == held_out]
