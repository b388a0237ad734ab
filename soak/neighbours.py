"""Two processes on one run directory, files that were damaged or lost, and clocks that jump."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from trial import HERE, SMALL, Child, Lab, Trial, leocod, not_whole


def both_begin(lab: Lab) -> Iterator[Trial]:
    """Two runs begin in one directory at the same moment: one runs, one is refused."""
    for _ in lab.times(10):
        run = lab.new("both")
        children = [Child("run", *SMALL, "--out", run) for _ in range(2)]
        ended = [child.end() for child in children]
        codes = sorted(str(one.code) for one in ended)
        wrong = [what for one in ended for what in one.wrong({0, 2})] + not_whole(run)
        wrong += [] if codes == ["0", "2"] else [f"exit codes {codes}"]
        yield Trial(f"exit codes {' and '.join(codes)}", wrong + lab.gone_on(run))


def resumed_while_it_runs(lab: Lab) -> Iterator[Trial]:
    """Going on with a run that has not stopped is refused, and does it no harm."""
    for steps in lab.some([1, 4, 7]):
        run = lab.new("resumed-early")
        child = Child("run", *SMALL, "--out", run)
        child.until_learnt(run, steps)
        # Held, or a slow machine would let it end meanwhile.
        child.send(signal.SIGSTOP)
        second = leocod("run", "--resume", run)
        child.send(signal.SIGCONT)
        first = child.end()
        wrong = second.wrong({2}) + first.wrong({0}) + not_whole(run)
        wrong += [] if "is in use" in second.err else [f"'is in use' is not told: {second.err[-300:]}"]
        yield Trial("the second refused, the first ended", wrong + lab.gone_on(run))


def looked_at_while_it_runs(lab: Lab) -> Iterator[Trial]:
    """Commands that only read a run may do so at any time."""
    pictures = lab.expected("walk", SMALL) and lab.home / "undisturbed-walk" / "samples"
    commands: dict[str, Callable[[Path, Path], tuple[object, ...]]] = {
        "predict": lambda run, out: ("predict", run, pictures, "--out", out),
        "report": lambda run, out: ("report", run, "--out", out.with_suffix(".html")),
        "export": lambda run, out: (
            *("export", run, "--format", "safetensors", "--out", out.with_suffix(".safetensors")),
            *("--images", pictures),
        ),
    }
    for name in lab.some(list(commands)):
        run = lab.new(f"looked-at-{name}")
        child = Child("run", *SMALL, "--out", run)
        ended = []
        for step in (1, 5):
            child.until_learnt(run, step)
            ended.append(leocod(*commands[name](run, lab.home / f"{run.name}-{step}")))
        first = child.end()
        wrong = [what for one in ended for what in one.wrong({0, 2})] + first.wrong({0}) + not_whole(run)
        yield Trial(f"{name}: exit codes {[one.code for one in ended]}", wrong + lab.gone_on(run))


def killed_lock(lab: Lab) -> Iterator[Trial]:
    """A process that is killed leaves no lock behind."""
    for steps in lab.some([1, 5, 9]):
        run = lab.new("killed")
        child = Child("run", *SMALL, "--out", run)
        child.until_learnt(run, steps)
        child.send(signal.SIGKILL)
        child.end()
        yield Trial("killed, and went on at once", not_whole(run) + lab.gone_on(run))


def damaged_checkpoints(lab: Lab) -> Iterator[Trial]:
    """The newest checkpoint is damaged: the one before is used, and it is said. All are: refused."""
    kinds: dict[str, Callable[[bytes], bytes]] = {
        "cut": lambda data: data[: len(data) // 2],
        "a flipped byte": lambda data: (
            data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :]
        ),
        "emptied": lambda data: b"",
        "text": lambda data: b"not a checkpoint",
    }
    for kind in lab.some(list(kinds)):
        run = _broken_off(lab, "damaged", 8)
        saved = sorted((run / "checkpoints").glob("step_*.pt"))
        saved[-1].write_bytes(kinds[kind](saved[-1].read_bytes()))
        copy = Path(shutil.copytree(run, lab.new("all-damaged")))
        ended = leocod("run", "--resume", run)
        said = "The one before is used" in ended.err
        wrong = ended.wrong({0}) + ([] if said else ["'The one before is used' is not told"])
        wrong += lab.gone_on(run)
        for checkpoint in (copy / "checkpoints").glob("step_*.pt"):
            checkpoint.write_bytes(b"not a checkpoint")
        wrong += [f"all damaged: {what}" for what in leocod("run", "--resume", copy).wrong({2})]
        yield Trial(f"{kind}: the one before was used; all {kind}: refused", wrong)


def lost_files(lab: Lab) -> Iterator[Trial]:
    """A file of a run that was broken off is gone: it comes again, or the run says that it cannot go on."""
    comes_again = {"labels.json", "test.json", "environment.json", "detections", "samples", "tensorboard", ".lock"}
    for name in lab.some([*sorted(comes_again), "events.jsonl", "config.yaml", "checkpoints"]):
        run = _broken_off(lab, "lost", 6)
        lost = run / name
        kept = lost.rename(run.with_name(f"{run.name}-kept"))
        if name in comes_again:
            # What was found before the checkpoint is not looked for again.
            but = {"files"} if name in {"detections", "samples"} else set[str]()
            yield Trial(f"{name} lost: went on", lab.gone_on(run, but=but))
        elif name == "checkpoints":
            yield Trial("checkpoints lost: began again", lab.gone_on(run))
        else:
            ended = leocod("run", "--resume", run)
            wrong = ended.wrong({2}) + ([] if name in ended.err else [f"{name} is not named"])
            lost.unlink(missing_ok=True)
            kept.rename(lost)
            yield Trial(f"{name} lost: refused, until it was back", wrong + lab.gone_on(run))


def cut_log(lab: Lab) -> Iterator[Trial]:
    """The log of events ends in half a line, or has lines of steps that will come again."""
    for kind in ("half a line more", "cut before the checkpoint"):
        run = _broken_off(lab, "cut-log", 7)
        log = run / "events.jsonl"
        text = log.read_bytes()
        if kind == "half a line more":
            log.write_bytes(text + b'{"event": "StepLear')
            yield Trial(f"{kind}: cut off, went on", lab.gone_on(run))
        else:
            log.write_bytes(text[: len(text) // 2])
            ended = leocod("run", "--resume", run)
            wrong = ended.wrong({2}) + ([] if log.name in ended.err else [f"{log.name} is not named"])
            log.write_bytes(text)
            yield Trial(f"{kind}: refused, until it was back", wrong + lab.gone_on(run))


def changed_config(lab: Lab) -> Iterator[Trial]:
    """Somebody edits the config of a run that was broken off."""
    run = _broken_off(lab, "config", 4)
    config = run / "config.yaml"
    text = config.read_text()
    for kind, changed, names in (
        ("another rate", text.replace("threshold: 0.7", "threshold: 0.8"), "threshold"),
        ("another seed", text.replace("\nseed: 0", "\nseed: 1"), "seed"),
        ("cut off", text[: len(text) // 2], ""),
        ("binary", "\0\1", "config.yaml"),
    ):
        config.write_text(changed)
        ended = leocod("run", "--resume", run)
        wrong = ended.wrong({2}) + ([] if names in ended.err else [f"{names} is not named: {ended.err[-200:]}"])
        yield Trial(f"{kind}: refused", [f"{kind}: {what}" for what in wrong])
    config.write_text(text)
    yield Trial("put back: went on", lab.gone_on(run))


def jumping_clock(lab: Lab) -> Iterator[Trial]:
    """The wall clock jumps by days, back and forth; the results are the same."""
    for steps in lab.some([12, 5, 8]):
        run = lab.new("clock")
        child = Child("run", *SMALL, "--out", run, program=(str(HERE / "clock.py"),))
        if steps < 12:
            child.until_learnt(run, steps)
            child.send(signal.SIGTERM)
        ended = child.end()
        wrong = ended.wrong({0} if steps == 12 else {143}) + not_whole(run)
        if ended.code:
            again = Child("run", "--resume", run, program=(str(HERE / "clock.py"),)).end()
            wrong += [f"going on: {what}" for what in again.wrong({0})]
        seconds = json.loads((run / "results.json").read_text())["seconds"]
        wrong += [] if 0 < seconds < 600 else [f"took {seconds} s by its own account"]
        seen = "ran to the end" if steps == 12 else "broken off, went on"
        yield Trial(seen, wrong + lab.gone_on(run))


def odd_dates(lab: Lab) -> Iterator[Trial]:
    """Files dated in the future, and the newest as the oldest: what counts is the step in a name."""
    run = _broken_off(lab, "dates", 8)
    for number, file in enumerate(sorted(run.rglob("*"))):
        date = time.time() + (86_400 * 1000 if number % 2 else -86_400 * 1000)
        os.utime(file, (date, date))
    for number, file in enumerate(sorted((run / "checkpoints").glob("step_*.pt"))):
        os.utime(file, (2e9 - number * 1e8, 2e9 - number * 1e8))
    yield Trial("went on", lab.gone_on(run))


def _broken_off(lab: Lab, name: str, steps: int) -> Path:
    """A run that was asked to stop after so many steps, or a few more."""
    run = lab.new(name)
    child = Child("run", *SMALL, "--out", run)
    child.until_learnt(run, steps)
    child.send(signal.SIGTERM)
    if (ended := child.end()).code != 143:
        raise RuntimeError(f"It was not broken off: {ended.err}")
    return run
