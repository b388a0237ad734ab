"""Streams hand out each step once, with revealed labels only; offline training gets an even part at each step."""

from __future__ import annotations

import importlib
import threading
import time

import pytest

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidFrame, SourceAway, SourceEnded
from leocod.labelling.budget import BudgetLabeller
from leocod.stream.recorded import Stream
from leocod.stream.reshuffled import Reshuffled, Shuffle
from leocod.types import Frame, Labels


class Small(Benchmark):
    """Three steps of four frames."""

    name, classes, steps, test = "small", ("a", "b", "c"), 3, ()

    def __init__(self, a_frame):
        self._frames = [[a_frame(step * 5 + k, (k % 3,)) for k in range(4)] for step in range(3)]

    def frames_of(self, step):
        return self._frames[step]


class Files(Benchmark):
    """Three steps of two frames, each in a file; frame n has value n."""

    name, classes, steps, test = "files", ("mug",), 3, ()

    def __init__(self, folder, *, on_bad_frame="stop"):
        self.folder, self.on_bad_frame = folder, on_bad_frame

    def frames_of(self, step):
        return [
            (Frame(number, "film", number, (60, 80), self.folder / f"{number}.png"), Labels([[0, 0, 9, 9]], [0]))
            for number in (2 * step, 2 * step + 1)
        ]


class Camera(Small):
    """Answers from some step on with an error, so many times."""

    def __init__(self, a_frame, error, *, at=1, times=10**9):
        super().__init__(a_frame)
        self.error, self.at, self.times = error, at, times

    def frames_of(self, step):
        if step >= self.at and self.times > 0:
            self.times -= 1
            raise self.error
        return super().frames_of(step)


@pytest.fixture
def stream(a_frame):
    return Stream(Small(a_frame), BudgetLabeller(2, seed=0))


@pytest.fixture
def folder(tmp_path, a_picture):
    for number in range(6):
        a_picture(tmp_path / "film" / f"{number}.png", value=number)
    return tmp_path / "film"


def told(stream):
    """Of each step: its number, its frames, the labelled ones."""
    return [(step.index, [frame.id for frame in step.frames], sorted(step.labels)) for step in stream.steps()]


def test_every_step_comes_once_in_order(stream):
    steps = list(stream.steps())

    assert [step.index for step in steps] == [0, 1, 2]
    assert [frame.id for frame in steps[1].frames] == [5, 6, 7, 8]
    assert all(len(step.labels) == 2 for step in steps)


def test_starting_later_gives_the_same_steps(stream):
    whole, later = list(stream.steps()), list(stream.steps(start=2))

    assert list(later[0].labels) == list(whole[2].labels)


def test_starting_after_the_last_step_gives_none(stream):
    assert list(stream.steps(start=3)) == []


def test_a_learner_cannot_reach_hidden_labels_test_frames_or_the_future(stream, reachable):
    step = next(stream.steps())
    hidden = [stream.truth[frame.id] for frame in step.unlabelled]
    assert hidden

    within = reachable(step)

    assert {id(one) for one in within if isinstance(one, Labels)} == {id(one) for one in step.labels.values()}
    assert not any(isinstance(one, Benchmark | Stream) for one in within)
    assert {one.id for one in within if type(one).__name__ == "Frame"} == {frame.id for frame in step.frames}


def test_offline_gets_every_labelled_frame_as_often_as_there_are_epochs(stream):
    labelled = sorted(frame.id for step in stream.steps() for frame, _ in step.labelled())

    steps = list(Reshuffled(stream, Shuffle(epochs=3, batch_size=3), seed=1).steps())

    assert len(steps) == 3
    assert sorted(frame.id for step in steps for frame in step.frames) == sorted(labelled * 3)
    assert [len(step.frames) for step in steps] == [6, 6, 6]


def test_offline_with_few_labels_has_whole_batches_and_steps_without_one(stream):
    steps = list(Reshuffled(stream, Shuffle(epochs=1, batch_size=6), seed=1).steps())

    assert sorted(len(step.frames) for step in steps) == [0, 0, 6]


def test_offline_started_later_goes_on_the_same(stream):
    whole = told(Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1))

    later = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps(start=1)

    assert [[frame.id for frame in step.frames] for step in later] == [frames for _, frames, _ in whole[1:]]


def test_only_offline_keeps_frames_and_says_how_much_that_is(stream):
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    kept = {frame.id: (frame, labels) for step in offline.steps() for frame, labels in step.labelled()}
    list(stream.steps())

    assert stream.bytes == 0
    assert offline.bytes == sum(frame.image().nbytes + labels.bytes for frame, labels in kept.values())


def test_offline_training_skips_what_cannot_be_read(folder):
    (folder / "3.png").unlink()
    stream = Stream(Files(folder, on_bad_frame="skip"), BudgetLabeller(2, seed=0))
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    frames, skipped = [], {}
    for step in offline.steps():
        frames += [frame.id for frame in step.frames]
        skipped |= offline.skipped

    assert sorted(frames) == sorted([0, 1, 2, 4, 5] * 2)
    assert list(skipped) == [3]


def test_a_source_that_is_away_ends_an_impatient_stream_with_its_step(a_frame):
    steps = Stream(Camera(a_frame, SourceAway("The camera is unplugged.")), BudgetLabeller(2, seed=0)).steps()
    next(steps)

    with pytest.raises(SourceAway, match=r"^Step 1: The camera is unplugged\.$"):
        next(steps)


def test_a_source_that_stays_away_ends_a_patient_stream_when_patience_does(a_frame):
    camera = Camera(a_frame, SourceAway("Unplugged."), at=0)
    stream = Stream(camera, BudgetLabeller(2, seed=0), patience=0.1, pause=0.01)
    began = time.monotonic()

    with pytest.raises(SourceAway, match="Step 0: Unplugged"):
        next(stream.steps())

    assert 0.1 <= time.monotonic() - began < 5
    assert camera.times < 10**9 - 2


def test_a_source_that_is_back_in_time_gives_the_same_steps_and_a_warning(a_frame, stream, caplog):
    camera = Camera(a_frame, SourceAway("Unplugged."), at=1, times=3)
    patient = Stream(camera, BudgetLabeller(2, seed=0), patience=60, pause=0.01)

    steps, warnings = [], []
    for step in patient.steps():
        steps.append((step.index, [frame.id for frame in step.frames], sorted(step.labels)))
        warnings.append(list(patient.warnings))

    assert camera.times == 0
    assert steps == told(stream)
    assert warnings == [[], ["The source was away: Unplugged."], []]
    assert "Step 1: Unplugged. Waiting up to 60 s for it." in caplog.text
    assert len(caplog.records) == 1


WORK = """
from pathlib import Path
import numpy as np
from leocod.benchmarks.base import Benchmark
from leocod.errors import SourceAway, SourceEnded
from leocod.types import Frame, Labels

class Distant(Benchmark):
    name, classes, steps, test = "distant", ("mug",), 3, ()

    def __init__(self, folder):
        self.folder = Path(folder)

    def frames_of(self, step):
        if step == 1 and not (self.folder / "plugged").exists():
            (self.folder / "asked").touch()
            raise SourceAway("Unplugged.")
        if step == 2:
            raise SourceEnded("The film is over.")
        return [(Frame(step, "film", step, (6, 8), np.zeros((6, 8, 3), np.uint8)), Labels.none())]
"""


@pytest.fixture
def distant(tmp_path, tmp_path_factory, monkeypatch):
    """A source that processes of their own can ask; somebody plugs it in once it has been missed."""
    place = tmp_path_factory.mktemp("work")
    (place / "work_stream.py").write_text(WORK, encoding="utf-8")
    monkeypatch.syspath_prepend(place)

    def plug_in():
        while not (tmp_path / "asked").exists():
            time.sleep(0.01)
        (tmp_path / "plugged").touch()

    helper = threading.Thread(target=plug_in, daemon=True)
    helper.start()
    yield importlib.import_module("work_stream").Distant(tmp_path)
    (tmp_path / "asked").touch()
    helper.join()


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_source_is_awaited_and_ends_whoever_reads_it(workers, distant):
    stream = Stream(distant, BudgetLabeller(1, seed=0), workers=workers, patience=60, pause=0.01)

    assert told(stream) == [(0, [0], [0]), (1, [1], [1])]


@pytest.mark.parametrize("on_bad_frame", ["stop", "skip"])
def test_a_step_of_which_no_file_is_there_is_a_source_that_is_away(folder, on_bad_frame):
    for number in (2, 3):
        (folder / f"{number}.png").unlink()
    steps = Stream(Files(folder, on_bad_frame=on_bad_frame), BudgetLabeller(1, seed=0)).steps()
    next(steps)

    with pytest.raises(SourceAway, match=r"Step 1: .*2\.png"):
        next(steps)


def test_a_folder_that_is_back_in_time_gives_the_same_step(folder):
    whole = told(Stream(Files(folder), BudgetLabeller(1, seed=0)))
    folder.rename(folder.with_name("away"))
    stream = Stream(Files(folder, on_bad_frame="skip"), BudgetLabeller(1, seed=0), patience=60, pause=0.01)
    back = threading.Timer(0.1, lambda: folder.with_name("away").rename(folder))
    back.start()

    steps = told(stream)

    back.join()
    assert steps == whole
    assert stream.skipped == {}


def test_a_file_that_is_missing_among_others_is_one_bad_frame(folder):
    (folder / "2.png").unlink()
    stream = Stream(Files(folder, on_bad_frame="skip"), BudgetLabeller(1, seed=0), patience=60, pause=60)

    steps = [[frame.id for frame in step.frames] for step in stream.steps()]

    assert steps == [[0, 1], [3], [4, 5]]
    with pytest.raises(InvalidFrame, match=r"2\.png"):
        told(Stream(Files(folder), BudgetLabeller(1, seed=0), patience=60, pause=60))


def test_files_that_are_there_and_damaged_are_not_waited_for(folder):
    (folder / "2.png").write_bytes(b"no picture")
    (folder / "3.png").unlink()
    stream = Stream(Files(folder, on_bad_frame="skip"), BudgetLabeller(1, seed=0), patience=60, pause=60)

    assert [len(step.frames) for step in stream.steps()] == [2, 0, 2]


def test_a_source_that_ends_early_ends_the_steps_and_says_so(a_frame, caplog):
    stream = Stream(Camera(a_frame, SourceEnded("The film is over."), at=2), BudgetLabeller(2, seed=0))

    steps = [step.index for step in stream.steps()]

    assert steps == [0, 1]
    assert caplog.messages == ["The film is over."]


def test_news_from_those_who_read_ahead_that_is_out_of_date_is_not_believed(stream, a_frame, monkeypatch, caplog):
    monkeypatch.setattr(
        "leocod.stream.recorded.prefetch", lambda read, indices, workers: iter(["Unplugged."] * len(indices))
    )
    well = Stream(Small(a_frame), BudgetLabeller(2, seed=0), workers=1, patience=0.2, pause=0.1)

    steps, warnings = [], []
    for step in well.steps():
        steps.append(step.index)
        warnings += well.warnings

    assert steps == [0, 1, 2]
    assert warnings == caplog.messages == []
