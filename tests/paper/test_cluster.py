import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from leocod.errors import InvalidConfig
from leocod.paper import cluster
from leocod.paper.cells import Cell
from leocod.paper.cluster import Task, run_on_ray
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended, Progress, log_path
from leocod.run.config import ExperimentConfig, load_mapping
from leocod.run.environment import read_command_line
from leocod.run.layers import overlay

pytestmark = pytest.mark.slow

DIES = """
import os, signal
from leocod.strategies.base import Strategy

class Dies(Strategy):
    def learn(self, step):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def ray_environment() -> Iterator[None]:
    """A Ray that knows of no other, and leaves nothing in anybody's home; strategies of the tests are found."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'leocod[ray]'")
    before = dict(os.environ)
    # Sockets lie in there, and their paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    (folder / "dies.py").write_text(DIES)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ |= {
        "RAY_TMPDIR": str(folder),
        "RAY_AUTH_TOKEN": secrets.token_hex(),
        "PYTHONPATH": os.pathsep.join(
            [str(folder), str(Path(__file__).parents[2] / "examples"), *filter(None, [before.get("PYTHONPATH")])]
        ),
        **cluster.ENVIRONMENT,
    }
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))
    os.environ.clear()
    os.environ.update(before)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def ray(ray_environment: None) -> Iterator[Any]:
    """A cluster of this machine alone, to which this process is connected."""
    import ray

    before = signal.getsignal(signal.SIGTERM)
    ray.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("ray")
def test_cells_with_relative_paths_are_run_where_the_command_was_started(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [Cell(cell.config, Path("cells") / cell.name) for cell in plan.cells[:2]]

    found = ended(run_on_ray(cells, address="auto", threads=1, logs=Path("logs")))

    assert {one.cell.name: one.failure for one in found} == dict.fromkeys((cell.name for cell in cells), None)
    assert {cell.state for cell in cells} == {"finished"}
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == sorted(f"{cell.name}.log" for cell in cells)


@pytest.mark.usefixtures("ray")
def test_a_cell_that_fails_and_one_that_is_always_lost_do_not_stop_the_others(
    plan: Plan, base: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ATTEMPTS", 2)
    weightless = Cell(load_mapping(overlay(base, {"detector": {"weights": "no.pt"}})), plan.home / "weightless")
    dies = Cell(load_mapping(overlay(base, {"strategy": {"name": "dies:Dies"}})), plan.home / "dies")
    good = Cell(load_mapping(overlay(base, {"strategy": {"name": "own_strategy:WorstFirst"}})), plan.home / "good")

    found = {one.cell.name: one.failure for one in ended(on_ray(plan, [weightless, dies, good]))}

    assert found["weightless"] is not None
    assert "No weights file no.pt" in found["weightless"]
    assert str(log_path(weightless, plan.logs)) in found["weightless"]
    assert found["dies"] is not None
    assert "lost 2 times" in found["dies"]
    assert found["good"] is None


@pytest.mark.usefixtures("ray")
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found by their names in /proc")
def test_a_cell_whose_process_is_killed_resumes_from_its_checkpoint(plan: Plan) -> None:
    cell = Cell(longer(plan.cells[0], steps=40), plan.home / "killed")
    progress = on_ray(plan, [cell])
    until(lambda: any(cell.directory.checkpoints.glob("*.pt")), progress)

    os.kill(process_of(cell), signal.SIGKILL)
    [last] = ended(progress)

    assert last.failure is None
    assert cell.state == "finished"
    [resumed] = json.loads(cell.directory.environment.read_text())["resumed"]
    assert resumed["from_step"] > 0
    assert resumed["command"] == read_command_line()


@pytest.mark.usefixtures("ray")
def test_closed_early_the_running_cell_saves_itself_and_the_waiting_one_is_not_begun(plan: Plan) -> None:
    long, next_one = (Cell(longer(cell, steps=300), cell.path) for cell in plan.cells[:2])
    progress = run_on_ray([long, next_one], address="auto", threads=2, logs=plan.logs)
    until(lambda: any(long.directory.checkpoints.glob("*.pt")), progress)

    progress.close()

    assert long.state == "begun"
    assert "Asked to stop by SIGINT" in log_path(long, plan.logs).read_text()
    # Nobody holds it any more.
    long.directory.wait_until_free()
    assert next_one.state == "new"


@pytest.mark.usefixtures("ray")
def test_a_cell_that_ends_but_not_here_has_failed(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(Cell):
        results = None

    monkeypatch.setattr(cluster, "FOLDER_DELAY", 0)
    cell = plan.cells[0]

    [one] = ended(on_ray(plan, [Elsewhere(cell.config, cell.path)]))

    assert cell.state == "finished"
    assert one.failure is not None
    assert "--out must be in a folder that all machines of the cluster share" in one.failure


@pytest.mark.usefixtures("ray")
def test_a_cell_waits_for_a_machine_with_a_gpu_and_says_so(plan: Plan, caplog: pytest.LogCaptureFixture) -> None:
    cell = Cell(plan.cells[0].config.model_copy(update={"device": "cuda:1"}), plan.home / "gpu")
    progress = on_ray(plan, [cell])

    first = next(progress)
    progress.close()

    assert first is None
    assert "No machine of the Ray cluster has 1 CPU and 1 GPU" in caplog.text


def test_a_machine_that_does_not_see_the_folder_does_not_begin(plan: Plan) -> None:
    cell = plan.cells[0]
    config = cell.config.model_dump(mode="json")
    task = Task(config, cell.path, log_path(cell, plan.logs), 1, plan.logs / "marker", plan.out, (), ())

    failure = task.run()

    assert failure is not None
    assert "--out must be in a folder that all machines of the cluster share" in failure
    assert not plan.out.exists()


@pytest.mark.usefixtures("ray_environment")
def test_a_cluster_of_its_own_is_silent_and_ends_with_the_command(plan: Plan, tmp_path: Path) -> None:
    cell = plan.cells[0]
    (tmp_path / "config.yaml").write_text(cell.config.to_yaml())
    script = tmp_path / "starts_one.py"
    script.write_text(
        "import signal\n"
        "from pathlib import Path\n"
        "from leocod.run.config import load_config\n"
        "from leocod.paper.cells import Cell\n"
        "from leocod.paper.cluster import run_on_ray\n"
        f"cell = Cell(load_config(Path({str(tmp_path / 'config.yaml')!r})), Path({str(cell.path)!r}))\n"
        f"progress = run_on_ray([cell], address='auto', threads=1, logs=Path({str(plan.logs)!r}))\n"
        "assert [one.failure for one in progress if one is not None] == [None]\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    )

    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)

    if "overloaded" in done.stderr:
        pytest.skip("Too much else runs here: Ray did not start within the 30 s that it gives itself.")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert cell.state == "finished"


@pytest.mark.usefixtures("ray_environment")
def test_an_address_that_does_not_answer_is_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 3)
    # Whatever the other tests are connected to.
    monkeypatch.setattr("ray.is_initialized", lambda: False)

    with pytest.raises(InvalidConfig, match="No Ray cluster can be reached at '127.0.0.1:1' \\(no answer in 3 s\\)"):
        next(run_on_ray(plan.cells[:1], address="127.0.0.1:1", threads=1, logs=plan.logs))


def test_without_ray_the_message_says_what_to_install(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(InvalidConfig, match=r"pip install 'leocod\[ray\]'"):
        next(run_on_ray(plan.cells[:1], address="auto", threads=1, logs=plan.logs))


def on_ray(plan: Plan, cells: list[Cell]) -> Progress:
    return run_on_ray(cells, address="auto", threads=1, logs=plan.logs)


def ended(progress: Progress) -> list[Ended]:
    return [one for one in progress if one is not None]


def longer(cell: Cell, *, steps: int) -> ExperimentConfig:
    return load_mapping(overlay(cell.config.model_dump(mode="json"), {"benchmark": {"steps": steps}}))


def process_of(cell: Cell) -> int:
    """Ray names a process after its task."""
    names = {path.parent.name: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")}
    [found] = [int(pid) for pid, name in names.items() if name.startswith(f"ray::{cell.name}".encode())]
    return found


def until(done: Callable[[], bool], progress: Progress) -> None:
    deadline = time.monotonic() + 600
    while not done():
        assert time.monotonic() < deadline
        assert next(progress) is None
