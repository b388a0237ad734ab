"""Somebody asks a run to stop: SIGTERM and Ctrl-C at any moment, once and twice."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

from trial import SMALL, Child, Lab, Trial, not_whole, steps_told

STARTING = (1.0, 5.0)
"""Seconds after which a signal meets a process that starts; before, it meets Python, which answers by a traceback."""
RUNNING = (0.0, 3.0)
"""The same of one that runs, from its first event on."""


def asked(lab: Lab, number: signal.Signals) -> Iterator[Trial]:
    """Asked once, while it starts and while it runs."""
    for time_number in lab.times(20):
        starting = time_number % 4 == 0
        run = lab.new(f"asked-{number.name}")
        child = Child("run", *SMALL, "--out", run)
        if not starting:
            child.until((run / "events.jsonl").exists)
        time.sleep(lab.draw.uniform(*(STARTING if starting else RUNNING)))
        child.send(number)
        ended = child.end()
        where = "had ended" if ended.code == 0 else f"stopped after {steps_told(run)} steps"
        if ended.code and not run.exists():
            where = "stopped before there was anything"
        wrong = ended.wrong({0, 128 + number}) + not_whole(run)
        yield Trial(where, wrong + lab.gone_on(run))


def asked_to_terminate(lab: Lab) -> Iterator[Trial]:
    """SIGTERM, 20 times."""
    return asked(lab, signal.SIGTERM)


def asked_by_ctrl_c(lab: Lab) -> Iterator[Trial]:
    """SIGINT, 20 times."""
    return asked(lab, signal.SIGINT)


def asked_twice(lab: Lab) -> Iterator[Trial]:
    """Asked again before it has stopped: it ends at once, wherever it is."""
    for number in (signal.SIGTERM, signal.SIGINT):
        for gap in lab.some([0.0, 0.002, 0.01, 0.05]):
            run = lab.new(f"twice-{number.name}")
            child = Child("run", *SMALL, "--out", run)
            child.until((run / "events.jsonl").exists)
            time.sleep(lab.draw.uniform(*RUNNING))
            child.send(number)
            time.sleep(gap)
            child.send(number)
            ended = child.end()
            wrong = ended.wrong({0, 128 + number}) + not_whole(run)
            yield Trial(f"{number.name} twice: exit code {ended.code}", wrong + lab.gone_on(run))


def asked_at_the_report(lab: Lab) -> Iterator[Trial]:
    """Asked when all is learnt and the last files are written."""
    for number in (signal.SIGTERM, signal.SIGINT):
        for name in lab.some(["checkpoints/step_00011.pt", "results.json", "memory.json"]):
            run = lab.new(f"report-{number.name}")
            child = Child("run", *SMALL, "--out", run)
            child.until((run / name).exists)
            time.sleep(lab.draw.uniform(0, 0.2))
            child.send(number)
            ended = child.end()
            wrong = ended.wrong({0, 128 + number}) + not_whole(run)
            yield Trial(f"{number.name} after {name}: exit code {ended.code}", wrong + lab.gone_on(run))


def ctrl_c_with_workers(lab: Lab) -> Iterator[Trial]:
    """Ctrl-C in a terminal reaches the processes that read ahead, too."""
    for _ in lab.times(6):
        run = lab.new("workers")
        arguments = (*SMALL, "--set", "workers=2")
        child = Child("run", *arguments, "--out", run)
        child.until((run / "events.jsonl").exists)
        time.sleep(2 * lab.draw.uniform(*RUNNING))
        child.send(signal.SIGINT, group=True)
        ended = child.end()
        wrong = ended.wrong({0, 130}) + not_whole(run)
        yield Trial(f"exit code {ended.code}", wrong + lab.gone_on(run, arguments))
