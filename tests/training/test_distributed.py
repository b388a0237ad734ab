"""Processes that learn as one: alone nothing changes, and two do what one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from leocod.files.checkpoint import read_checkpoint
from leocod.training import distributed
from leocod.types import Detections

SETTINGS = [
    *("--set", "benchmark.steps=4", "--set", "benchmark.width=64", "--set", "benchmark.height=48"),
    *("--set", "detector.short_side=48", "--evaluate-every", "2", "--labels", "3"),
]


def two_processes(arguments, folder):
    """Start a module or a script twice with torchrun, on this machine."""
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *arguments],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_alone_a_process_is_a_team_of_one():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.tensor([1.0, 2.0])
    found = [Detections(np.zeros((0, 4)), np.zeros(0, np.int64), np.zeros(0))]

    with distributed.process_group("cpu"):
        losses = distributed.add_up({"one": 3.0}, [weight])

        assert (distributed.size(), distributed.rank()) == (1, 0)
        assert [distributed.choose_device(name) for name in ("cuda", "cpu")] == ["cuda", "cpu"]
        assert losses == {"one": 3.0}
        assert weight.grad.tolist() == [1, 2]
        assert distributed.predict_sharded(lambda images: found, [None]) is found
        assert (distributed.any_of("asked"), distributed.any_of(None)) == ("asked", None)
        distributed.agree("Anything", lambda: pytest.fail("nobody to agree with"))


SCRIPT = """
import json, sys
import numpy as np, torch
from torch import nn
from leocod.training import distributed
from leocod.errors import Disagreement, InvalidConfig, InvalidRun, LeocodError
from leocod.types import Detections

def find(images):
    return [Detections(np.zeros((0, 4)), np.array([image]), np.zeros(0)) for image in images]

with distributed.process_group("cpu"):
    rank = distributed.rank()
    both, one, none = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    both.grad = torch.tensor([1.0, 10.0 * rank])
    if rank == 1:
        one.grad = torch.tensor([5.0, 6.0])
    late = {"late": 4.0} if rank else {}
    losses = distributed.add_up({"all": 1.0 + rank, **late}, [both, one, none])
    found = distributed.predict_sharded(find, [7, 8, 9])
    distributed.agree("The weather", lambda: "fine")
    try:
        distributed.agree("The weather", lambda: f"fine for {rank}")
        said = None
    except Disagreement as error:
        said = str(error)
    def refuse():
        raise InvalidRun("taken")

    distributed.check_on_rank0(lambda: None)
    try:
        distributed.check_on_rank0(refuse)
        refused = None
    except LeocodError as error:
        refused = str(error)
    try:
        distributed.choose_device("cuda:1")
        placed = "placed"
    except InvalidConfig as error:
        placed = str(error)
    told = [both.grad.tolist(), one.grad.tolist(), none.grad is None, losses,
            [int(one.classes[0]) for one in found], said, distributed.choose_device("cuda"), refused, placed,
            [distributed.any_of("asked" if rank else None), distributed.any_of(None)]]
    with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
        json.dump(told, file)
"""


@pytest.mark.slow
def test_two_add_up_gradients_and_losses_share_the_work_and_notice_when_they_differ(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")

    two_processes(["script.py", str(tmp_path)], tmp_path)

    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert first[:5] == second[:5] == [[2, 10], [5, 6], True, {"all": 3, "late": 4}, [7, 8, 9]]
    assert first[5].startswith("The weather: process 0 differs from 1.")
    assert second[5].startswith("The weather: process 1 differs from 0.")
    assert (first[6], second[6]) == ("cuda:0", "cuda:1")
    assert first[7] == second[7] == "taken"
    assert first[8].startswith("device is 'cuda:1': it should be cuda")
    assert first[9] == second[9] == ["asked", None]


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path):
    command = ["-m", "leocod", "run", *SETTINGS, "--out"]
    subprocess.run([sys.executable, *command, "one"], cwd=tmp_path, check=True, capture_output=True, timeout=300)

    said = two_processes([*command, "two"], tmp_path)

    one, two = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("one", "two"))
    assert said.count("Report:") == 1
    assert two["labelled_frames"] == one["labelled_frames"] == 12
    assert two["scores"]["fap"] == pytest.approx(one["scores"]["fap"], abs=0.5)
    for name in ("labels.json", "memory.json"):
        assert (tmp_path / "two" / name).read_text() == (tmp_path / "one" / name).read_text()
    ours, theirs = (learner_of(tmp_path / name) for name in ("one", "two"))
    assert [entry["frame"] for entry in theirs["strategy"]["memory"]["entries"].values()] == [
        entry["frame"] for entry in ours["strategy"]["memory"]["entries"].values()
    ]
    start = learner_start(tmp_path / "one")
    for name, value in ours["slow"]["weights"].items():
        torch.testing.assert_close(theirs["slow"]["weights"][name], value, rtol=0, atol=5e-5, msg=name)
    moved = max((value - start[name]).abs().max() for name, value in ours["slow"]["weights"].items())
    assert moved > 5e-4


def learner_of(run: Path):
    return read_checkpoint(run / "checkpoints" / "step_00003.pt")["learner"]


def learner_start(run: Path):
    from leocod.run.config import load_config
    from leocod.run.experiment import build

    return build(load_config(run / "config.yaml")).learner.strategy.detector.state_dict()["weights"]


LEAVES = """
import os, sys
import torch
from torch import nn
from leocod.training import distributed
from leocod.errors import Disagreement

with distributed.process_group("cpu"):
    if distributed.rank() == 1:
        os._exit(0)
    weight = nn.Parameter(torch.zeros(2))
    said = []
    for ask in (lambda: distributed.any_of(None), lambda: distributed.add_up({}, [weight])):
        try:
            ask()
        except Disagreement as error:
            said.append(str(error))
    with open(f"{sys.argv[1]}/said", "w") as file:
        file.write("\\n".join(said))
"""


@pytest.mark.slow
def test_another_process_that_has_ended_is_told(tmp_path):
    (tmp_path / "script.py").write_text(LEAVES, encoding="utf-8")

    two_processes(["script.py", str(tmp_path)], tmp_path)

    said = (tmp_path / "said").read_text().splitlines()
    assert [one.partition(" (")[0] for one in said] == ["Another process has ended; see its message."] * 2
