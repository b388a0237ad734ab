"""How long one waits: for help, for an import, and for the first step of a run. Every time is that of a new process.

    .venv/bin/python bench/startup.py

The first step is that of the quickstart, `leocod run`, from the call to the line in its events; below it, where that
time goes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Spread, arguments, in_turn, record, table

HEAVY = ("torch", "torchvision", "numpy", "matplotlib")
"""What asking for help should not wait for."""

CALLS = {
    "python, nothing else": ["-c", "pass"],
    "import leocod": ["-c", "import leocod"],
    "leocod --help": ["-m", "leocod", "--help"],
    "leocod run --help": ["-m", "leocod", "run", "--help"],
    "import torch": ["-c", "import torch"],
}
HELP, TORCH = "leocod --help", "import torch"

LISTS = """
import sys
sys.argv = ["leocod", *sys.argv[1:]]
from leocod.__main__ import main
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""
"""Does what `leocod` does, and then tells what was imported."""

PARTS = """
import json, sys, time
began, parts = time.perf_counter(), {}
def done(part):
    global began
    now = time.perf_counter()
    parts[part], began = now - began, now
import torch
done("import torch")
import torchvision
done("import torchvision")
import leocod.run.session
done("import leocod.run.session and all below it")
from leocod.run.config import load_config
config = load_config(None, [{"threads": int(sys.argv[1])}])
done("read the config")
from leocod.run.experiment import build
benchmark = config.benchmark.find()(config.benchmark.options, seed=config.seed)
labels = {frame.id: labels for frame, labels in benchmark.test}
done("draw the test frames")
learner = build(config.model_copy(update={"benchmark": config.benchmark.model_copy(
    update={"options": config.benchmark.options.model_copy(update={"steps": 2})})}))
done("put the parts together")
step = next(learner.stream.steps())
done("draw the first step")
learner.learner.learn(step)
done("learn the first step")
print(json.dumps(parts))
"""
"""What happens up to the first step, part by part."""


def python(*given: str) -> subprocess.CompletedProcess[str]:
    """A new process, until it ends."""
    return subprocess.run([sys.executable, *given], check=True, capture_output=True, text=True)


def imported(*command: str) -> list[str]:
    """What of the heavy modules a command imports."""
    names = set(python("-c", LISTS, *command).stderr.split())
    return [name for name in HEAVY if name in names]


def first_step(threads: int) -> float:
    """Seconds from the call of `leocod run` to its first learnt step."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = time.perf_counter()
        command = [sys.executable, "-m", "leocod", "run", "--threads", str(threads), "--out", str(out)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                if _has_learnt(out / "events.jsonl"):
                    return time.perf_counter() - began
                time.sleep(0.005)
            raise RuntimeError("The run ended before its first step.")
        finally:
            process.kill()
            process.wait()


def _has_learnt(events: Path) -> bool:
    return events.exists() and '"StepLearned"' in events.read_text(encoding="utf-8")


def call(given: list[str]) -> Callable[[], object]:
    """To be timed."""
    return lambda: python(*given)


def main() -> None:
    """Help and imports in turn; then runs."""
    options = arguments(__doc__, rounds=9, warm_up=1, runs=5)
    calls = {name: call(given) for name, given in CALLS.items()}
    taken = in_turn(calls, rounds=options.rounds, warm_up=options.warm_up)
    loaded = {"leocod --help": imported("--help"), "leocod run --help": imported("run", "--help")}
    runs = [first_step(options.threads) for _ in range(options.runs)]
    parts = [json.loads(python("-c", PARTS, str(options.threads)).stdout) for _ in range(options.runs)]

    if runs:
        taken["leocod run, until the first step is learnt"] = Spread(tuple(runs))
        taken |= {f"- {part}": Spread(tuple(one[part] for one in parts)) for part in parts[0]}
    print(table(["", "seconds"], [[name, spread.told()] for name, spread in taken.items()]))
    print()
    for command, heavy in loaded.items():
        print(f"`{command}` imports {', '.join(heavy) or 'none'} of {', '.join(HEAVY)}.")
    ratio = taken[HELP].over(taken[TORCH])
    print(f"\n{HELP} / {TORCH}: {ratio.told()}")
    content = {
        "rounds": options.rounds,
        "seconds": {name: spread.kept() for name, spread in taken.items()},
        "heavy modules imported": loaded,
        f"{HELP} / {TORCH}": ratio.kept(),
    }
    record(options, content)


if __name__ == "__main__":
    main()
