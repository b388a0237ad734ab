"""A recorded stream hands out each step once, with the labels of chosen frames only."""

from __future__ import annotations

import importlib
import threading
import time

import numpy as np
import pytest

from leocod.benchmarks.base import Benchmark
from leocod.errors import InvalidConfig, InvalidFrame, SourceAway, SourceEnded
from leocod.labelling.base import Labeller
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.stream.recorded import Stream
from leocod.types import Detections, Effort, Labels


class Camera(Benchmark):
    """Answers from some step on with an error, so many times."""

    name, classes, steps, test = "camera", ("a", "b", "c"), 3, ()

    def __init__(self, source, error, *, at=1, times=10**9):
        self.source, self.error, self.at, self.times = source, error, at, times

    def frames_of(self, step):
        if step >= self.at and self.times > 0:
            self.times -= 1
            raise self.error
        return self.source.frames_of(step)


def drawn(benchmark, per_step=1, **options):
    """A stream in which so many frames of a step are labelled."""
    return Stream(benchmark, RandomLabeller(RandomOptions(per_step=per_step), seed=0), **options)


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
    arrival = next(stream.arrivals())
    step = arrival.step
    assert [arrival.truth[frame.id] for frame in step.unlabelled]

    within = reachable(step)

    assert {id(one) for one in within if isinstance(one, Labels)} == {id(one) for one in step.labels.values()}
    assert not any(isinstance(one, Benchmark | Stream) for one in within)
    assert {one.id for one in within if type(one).__name__ == "Frame"} == {frame.id for frame in step.frames}


def test_a_source_that_is_away_ends_an_impatient_stream_with_its_step(small):
    steps = drawn(Camera(small, SourceAway("The camera is unplugged.")), 2).steps()
    next(steps)

    with pytest.raises(SourceAway, match=r"^Step 1: The camera is unplugged\.$"):
        next(steps)


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_a_source_that_stays_away_ends_a_patient_stream_when_patience_does(small, monkeypatch):
    camera, clock = Camera(small, SourceAway("Unplugged."), at=0), Clock()
    monkeypatch.setattr("leocod.stream.recorded.time", clock)

    with pytest.raises(SourceAway, match="Step 0: Unplugged"):
        next(drawn(camera, patience=0.5, pause=0.2).steps())

    assert clock.now == pytest.approx(0.5)
    assert camera.times == 10**9 - 4


def test_a_source_that_is_back_in_time_gives_the_same_steps_and_a_warning(small, stream, told, caplog):
    camera = Camera(small, SourceAway("Unplugged."), at=1, times=3)
    patient = drawn(camera, 2, patience=60, pause=0.01)

    arrivals = list(patient.arrivals())

    assert camera.times == 0
    assert [sorted(arrival.step.labels) for arrival in arrivals] == [labelled for _, _, labelled in told(stream)]
    assert [arrival.warnings for arrival in arrivals] == [(), ("The source was away: Unplugged.",), ()]
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
def test_a_source_is_awaited_and_ends_whoever_reads_it(workers, distant, told):
    stream = drawn(distant, 1, workers=workers, patience=60, pause=0.01)

    assert told(stream) == [(0, [0], [0]), (1, [1], [1])]


@pytest.mark.parametrize("on_bad_frame", ["stop", "skip"])
def test_a_step_of_which_no_file_is_there_is_a_source_that_is_away(files, folder, on_bad_frame):
    for number in (2, 3):
        (folder / f"{number}.png").unlink()
    steps = drawn(files(on_bad_frame=on_bad_frame), 1).steps()
    next(steps)

    with pytest.raises(SourceAway, match=r"Step 1: .*2\.png"):
        next(steps)


def test_a_folder_that_is_back_in_time_gives_the_same_step(files, folder, told):
    whole = told(drawn(files(), 1))
    folder.rename(folder.with_name("away"))
    stream = drawn(files(on_bad_frame="skip"), 1, patience=60, pause=0.01)
    back = threading.Timer(0.1, lambda: folder.with_name("away").rename(folder))
    back.start()

    steps = told(stream)

    back.join()
    assert steps == whole


def test_a_file_that_is_missing_among_others_is_one_bad_frame(files, folder, told):
    (folder / "2.png").unlink()
    stream = drawn(files(on_bad_frame="skip"), 1, patience=60, pause=60)

    arrivals = list(stream.arrivals())

    assert [[frame.id for frame in arrival.step.frames] for arrival in arrivals] == [[0, 1], [3], [4, 5]]
    assert [list(arrival.skipped) for arrival in arrivals] == [[], [2], []]
    with pytest.raises(InvalidFrame, match=r"2\.png"):
        told(drawn(files(), 1, patience=60, pause=60))


def test_files_that_are_there_and_damaged_are_not_waited_for(files, folder):
    (folder / "2.png").write_bytes(b"no picture")
    (folder / "3.png").unlink()
    stream = drawn(files(on_bad_frame="skip"), 1, patience=60, pause=60)

    assert [len(step.frames) for step in stream.steps()] == [2, 0, 2]


def test_a_source_that_ends_early_ends_the_steps_and_says_so(small, caplog):
    stream = drawn(Camera(small, SourceEnded("The film is over."), at=2), 2)

    steps = [step.index for step in stream.steps()]

    assert steps == [0, 1]
    assert caplog.messages == ["The film is over."]


def test_news_from_those_who_read_ahead_that_is_out_of_date_is_not_believed(small, monkeypatch, caplog):
    monkeypatch.setattr(
        "leocod.stream.recorded.prefetch", lambda read, indices, workers: iter(["Unplugged."] * len(indices))
    )
    well = drawn(small, 2, workers=1, patience=0.2, pause=0.1)

    arrivals = list(well.arrivals())

    assert [arrival.step.index for arrival in arrivals] == [0, 1, 2]
    assert [arrival.warnings for arrival in arrivals] == [(), (), ()]
    assert caplog.messages == []


class Surest(Labeller):
    """Asks for the frame in which the learner finds most, and counts its answers."""

    asked = 0

    def choose(self, request):
        found = request.learner.predict(request.frames)
        self.asked += 1
        return [max(zip(request.frames, found, strict=True), key=lambda pair: len(pair[1]))[0].id]

    def state_dict(self):
        return {"asked": self.asked}

    def load_state_dict(self, state):
        self.asked = state["asked"]


class BrightThings:
    """A learner that finds a box in the brightest image."""

    def predict(self, images):
        best = max(range(len(images)), key=lambda number: images[number].sum())
        box = Detections(np.array([[0, 0, 5, 5]], np.float32), np.array([0]), np.array([0.9], np.float32))
        return [box if number == best else Detections.none() for number in range(len(images))]


def test_a_labeller_may_ask_what_the_learner_predicts(small):
    for arrival in Stream(small, Surest()).arrivals(learner=BrightThings()):
        brightest = max(arrival.step.frames, key=lambda frame: int(frame.image().sum()))

        assert list(arrival.step.labels) == [brightest.id]


def test_a_labeller_asks_about_frames_that_cannot_be_read_and_gets_nothing(files, folder):
    (folder / "3.png").write_bytes(b"no picture")

    arrivals = list(Stream(files(on_bad_frame="skip"), Surest()).arrivals(learner=BrightThings()))

    assert [list(arrival.step.labels) for arrival in arrivals] == [[1], [2], [5]]


def test_a_labeller_never_sees_hidden_truth(small, reachable):
    seen = []

    class Spy(Labeller):
        def choose(self, request):
            seen.extend(reachable(request))
            return []

    list(Stream(small, Spy()).arrivals(learner=BrightThings()))

    hidden = {id(labels) for step in range(3) for _, labels in small.frames_of(step)}
    assert hidden
    assert not hidden & {id(one) for one in seen}


def test_the_state_of_a_labeller_travels_with_each_step(small):
    stream = Stream(small, Surest())
    states = [arrival.state for arrival in stream.arrivals(learner=BrightThings())]

    again = Stream(small, Surest())
    again.load_state_dict(states[0])
    resumed = [arrival.state for arrival in again.arrivals(1, learner=BrightThings())]

    assert [state["labeller"] for state in states] == [{"asked": 1}, {"asked": 2}, {"asked": 3}]
    assert resumed == states[1:]


def test_a_labeller_that_chooses_frames_of_another_step_is_told_so(small):
    class Wrong(Labeller):
        def choose(self, request):
            return [99]

    with pytest.raises(InvalidConfig, match=r"The labeller chose frames \[99\] at step 0, which are not in the step"):
        next(Stream(small, Wrong()).steps())


def test_the_state_of_a_labeller_of_before_budgets_carried_over_is_read(small):
    stream = Stream(small, Surest())

    stream.load_state_dict({"asked": 5})

    assert stream.labeller.asked == 5


def test_a_budget_that_carries_over_is_spent_on_frames_that_can_be_labelled_and_goes_on_from_a_state(small):
    def a_stream():
        return Stream(small, RandomLabeller(RandomOptions(per_step=None, total=7), seed=0))

    small._frames[0] = [(frame, Labels.unknown()) for frame, _ in small._frames[0]]
    arrivals = list(a_stream().arrivals())

    again = a_stream()
    again.load_state_dict(arrivals[1].state)
    resumed = [arrival.step for arrival in again.arrivals(2)]

    assert [len(arrival.step.labels) for arrival in arrivals] == [0, 4, 3]
    assert list(resumed[0].labels) == list(arrivals[2].step.labels)


def late(small, delay, **options):
    return Stream(small, RandomLabeller(RandomOptions(per_step=2, delay=delay, **options), seed=0))


def test_a_late_label_comes_with_its_frame_which_nobody_sees_before(small):
    prompt, arrivals = list(late(small, 0).arrivals()), list(late(small, 1).arrivals())

    asked = [list(arrival.step.labels) for arrival in prompt]
    frames = [[frame.id for frame in arrival.step.frames] for arrival in arrivals]
    assert [list(arrival.step.labels) for arrival in arrivals] == [[], *asked[:2]]
    assert frames[0] == [frame.id for frame in prompt[0].step.frames if frame.id not in asked[0]]
    assert frames[1] == asked[0] + [frame.id for frame in prompt[1].step.frames if frame.id not in asked[1]]
    assert not set(asked[2]) & {frame for ids in frames for frame in ids}, "what is under way at the end never comes"
    assert [list(arrival.revealed[arrival.step.index]) for arrival in arrivals] == [[], *asked[:2]]


def test_a_late_label_is_true_and_no_learner_can_reach_it_before_it_comes(small, reachable):
    true = {frame.id: labels for step in range(3) for frame, labels in small.frames_of(step)}
    for arrival in late(small, 1).arrivals():
        step = arrival.step
        for frame, labels in step.labels.items():
            assert labels.boxes.tolist() == true[frame].boxes.tolist()
        assert set(arrival.truth) == {frame.id for frame in step.frames}

        within = [one for one in reachable(step) if isinstance(one, Labels)]
        assert {id(one) for one in within} == {id(one) for one in step.labels.values()}


def test_frames_whose_labels_are_under_way_are_kept_and_counted(small):
    arrivals = list(late(small, 2).arrivals())

    frame = small.frames_of(0)[0][0].image().nbytes
    assert [arrival.bytes // frame for arrival in arrivals] == [2, 4, 4]


def test_late_labels_go_on_from_a_state_and_the_source_is_not_asked_again(small):
    whole = list(late(small, 1).arrivals())
    stream = late(small, 1)
    stream.load_state_dict(whole[0].state)
    asked, frames_of = [], small.frames_of
    small.frames_of = lambda step: asked.append(step) or frames_of(step)

    resumed = list(stream.arrivals(1))

    assert asked == [1, 2]
    for one, two in zip(resumed, whole[1:], strict=True):
        assert [frame.id for frame in one.step.frames] == [frame.id for frame in two.step.frames]
        assert all((a.image() == b.image()).all() for a, b in zip(one.step.frames, two.step.frames, strict=True))
        assert list(one.step.labels) == list(two.step.labels)


def test_a_frame_that_cannot_be_read_is_not_waited_for(files, folder):
    (folder / "2.png").write_bytes(b"no picture")
    stream = Stream(files(on_bad_frame="skip"), RandomLabeller(RandomOptions(per_step=2, delay=1)))

    arrivals = list(stream.arrivals())

    assert [sorted(arrival.step.labels) for arrival in arrivals] == [[], [0, 1], [3]]
    assert [list(arrival.skipped) for arrival in arrivals] == [[], [2], []]


@pytest.mark.parametrize("delay", [0, 1])
def test_a_person_who_draws_one_box_leaves_the_labels_incomplete_where_there_are_more(a_frame, small, delay):
    small._frames = [[a_frame(4 * step, (0, 1, 2)), a_frame(4 * step + 1, (2,))] for step in range(3)]

    arrivals = list(late(small, delay, boxes=1).arrivals())[delay:]

    for arrival in arrivals:
        several, single = (arrival.step.labels[frame] for frame in sorted(arrival.step.labels))
        assert (len(several), several.complete) == (len(single), not single.complete) == (1, False)
        frame = min(arrival.step.labels)
        assert len(arrival.truth[frame]) == 3, "the benchmark's side knows all of them"
        assert several.boxes.tolist()[0] in arrival.truth[frame].boxes.tolist()


def test_any_of_the_objects_may_be_the_one_that_is_labelled(a_frame, small):
    stream = late(small, 0, boxes=1)

    answers = [stream.answer(*a_frame(number, (0, 1, 2))) for number in range(30)]

    assert {int(labels.classes[0]) for labels in answers} == {0, 1, 2}
    assert stream.answer(*a_frame(7, (0, 1, 2))).boxes.tolist() == answers[7].boxes.tolist()


def test_labels_are_told_with_what_they_took_a_person(small):
    efforts = [arrival.revealed for arrival in late(small, 0, seconds_per_frame=2, seconds_per_box=5).arrivals()]

    assert [set(effort.values()) for revealed in efforts for effort in revealed.values()] == [{Effort(1, 7.0)}] * 3
