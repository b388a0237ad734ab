"""A recording is a benchmark, and says what happens to what cannot be used."""

from __future__ import annotations

import threading

import pytest
from pydantic import ValidationError

from leocod.benchmarks.base import Benchmark, Recorded, RecordedOptions
from leocod.errors import InvalidData, InvalidFrame
from leocod.labelling.base import StreamInfo
from leocod.labelling.fixed import FixedLabeller, FixedOptions
from leocod.labelling.random import RandomLabeller, RandomOptions
from leocod.readers.recording import Entry, Problem, Recording, split
from leocod.stream.recorded import Stream
from leocod.types import Labels


class Small(Benchmark):
    """One step of one frame, from nowhere."""

    name, classes, steps, test = "small", ("a",), 1, ()

    def __init__(self, a_frame):
        self._frame = a_frame(0)

    def frames_of(self, step):
        return [self._frame]


class Films(Recorded):
    """Twelve frames by number in steps of three with one held out; some are broken, some nobody has labelled."""

    name = "films"

    def __init__(self, folder, *, broken=(), unlabelled=(), sizeless=False, **options):
        self.folder, self.broken, self.unlabelled, self.sizeless = folder, broken, unlabelled, sizeless
        super().__init__(RecordedOptions.model_validate(options), seed=0)

    def record(self, report):
        entries = []
        for number in range(12):
            labels = None if number in self.unlabelled else Labels([[0, 0, number + 1, 9]], [0])
            picture = self.folder / f"{number}.png"
            if number in self.broken:
                report(Problem(self.folder / "list", f"frame {number}", "bad", frame=number))
            size = None if self.sizeless else (60, 80)
            record = f"list, frame {number}"
            entry = Entry(number, "film", number, picture, size, labels, broken=number in self.broken, record=record)
            entries.append(entry)
        return Recording(("mug",), split(entries, frames_per_step=3, held_out=1), {1: frozenset({2})})


@pytest.fixture
def folder(tmp_path, a_picture):
    for number in range(12):
        a_picture(tmp_path / f"{number}.png", value=number)
    return tmp_path


def handed_out(benchmark, per_step=3):
    """Frames and labelled frames of each step, and what was skipped on the way."""
    stream = Stream(benchmark, RandomLabeller(RandomOptions(per_step=per_step), seed=0))
    steps, skipped = [], {}
    for arrival in stream.arrivals():
        steps.append(([frame.id for frame in arrival.step.frames], sorted(arrival.step.labels)))
        skipped |= arrival.skipped
    return steps, skipped


def test_a_recording_is_a_benchmark(folder):
    films = Films(folder)

    assert [frames for frames, _ in handed_out(films)[0]] == [[0, 1, 2], [4, 5, 6], [8, 9, 10]]
    assert [frame.id for frame, _ in films.test] == [3, 7, 11]
    assert films.published_frames(1) == {2}
    assert films.published_frames(2) is None


def test_frames_are_decoded_when_they_are_used(folder):
    assert {frame.bytes for frame, _ in Films(folder).frames_of(0)} == {0}


def test_a_size_that_no_file_tells_is_the_pictures(folder):
    assert [frame.size for frame, _ in Films(folder, sizeless=True).frames_of(0)] == [(60, 80)] * 3


@pytest.mark.parametrize("damage", [b"", b"no picture", None], ids=["empty", "odd", "missing"])
@pytest.mark.parametrize("sizeless", [False, True])
def test_a_picture_that_cannot_be_read_stops_the_stream(folder, damage, sizeless):
    _damage(folder / "5.png", damage)

    with pytest.raises(InvalidFrame, match=r"5\.png"):
        handed_out(Films(folder, sizeless=sizeless))


@pytest.mark.parametrize("damage", [b"", b"no picture", None], ids=["empty", "odd", "missing"])
@pytest.mark.parametrize("sizeless", [False, True])
def test_a_picture_that_cannot_be_read_can_be_skipped_and_is_counted(folder, damage, sizeless):
    whole, _ = handed_out(Films(folder), per_step=2)
    _damage(folder / "5.png", damage)

    steps, skipped = handed_out(Films(folder, sizeless=sizeless, on_bad_frame="skip"), per_step=2)

    assert steps == [([one for one in frames if one != 5], [one for one in ids if one != 5]) for frames, ids in whole]
    assert list(skipped) == [5]
    assert "5.png" in skipped[5]


def test_a_cut_picture_is_skipped_too(folder):
    content = (folder / "5.png").read_bytes()
    (folder / "5.png").write_bytes(content[: len(content) * 2 // 3])

    _, skipped = handed_out(Films(folder, on_bad_frame="skip"))

    assert list(skipped) == [5]


def test_a_picture_of_another_size_than_its_record_is_skipped_too(folder, a_picture):
    a_picture(folder / "5.png", (80, 60))

    with pytest.raises(
        InvalidFrame, match=r"list, frame 5, .*5\.png: it is 60 x 80 .*says 80 x 60. Correct the record"
    ):
        handed_out(Films(folder))
    assert list(handed_out(Films(folder, on_bad_frame="skip"))[1]) == [5]


def test_a_frame_found_broken_by_the_reader_stops_or_is_skipped(folder):
    with pytest.raises(InvalidData, match="list, frame 5: bad"):
        Films(folder, broken=(5,))

    steps, skipped = handed_out(Films(folder, broken=(5,), on_bad_frame="skip"))

    assert [frames for frames, _ in steps] == [[0, 1, 2], [4, 6], [8, 9, 10]]
    assert {frame: told.endswith("list, frame 5: bad") for frame, told in skipped.items()} == {5: True}


def _cut(file):
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3])


@pytest.mark.parametrize("damage", ["broken", "empty", "cut"])
@pytest.mark.parametrize("lost", [4, 5, 6])
@pytest.mark.parametrize("per_step", [1, 2])
def test_what_is_labelled_beside_damage_is_what_was_before(folder, damage, lost, per_step):
    whole, _ = handed_out(Films(folder), per_step=per_step)
    broken = (lost,) if damage == "broken" else ()
    if damage == "empty":
        (folder / f"{lost}.png").write_bytes(b"")
    elif damage == "cut":
        _cut(folder / f"{lost}.png")

    steps, skipped = handed_out(Films(folder, broken=broken, on_bad_frame="skip"), per_step=per_step)

    assert steps == [
        ([one for one in frames if one != lost], [one for one in ids if one != lost]) for frames, ids in whole
    ]
    assert list(skipped) == [lost]


def test_a_broken_frame_that_nobody_labelled_has_no_turn(folder):
    whole, _ = handed_out(Films(folder, unlabelled=(5,)), per_step=1)

    steps, _ = handed_out(Films(folder, unlabelled=(5,), broken=(5,), on_bad_frame="skip"), per_step=1)

    assert [ids for _, ids in steps] == [ids for _, ids in whole]


def test_a_broken_frame_is_neither_revealed_by_a_published_choice_nor_truth(folder):
    info = StreamInfo("films", ("mug",), 3, lambda cost: frozenset({0, 2}))
    labeller = FixedLabeller(FixedOptions(per_step=1), stream=info)

    arrival = next(Stream(Films(folder, broken=(2,), on_bad_frame="skip"), labeller).arrivals())

    assert (sorted(arrival.step.labels), sorted(arrival.truth)) == ([0], [0, 1])


def test_what_no_run_can_go_on_with_is_an_error_even_if_frames_are_skipped(folder):
    class Listless(Films):
        def record(self, report):
            report(Problem(self.folder / "list", "number 3", "no id", fatal=True))
            return super().record(report)

    with pytest.raises(InvalidData, match="list, number 3: no id"):
        Listless(folder, on_bad_frame="skip")


def test_a_step_whose_frames_are_all_lost_is_empty(folder):
    steps, skipped = handed_out(Films(folder, broken=(4, 5, 6), on_bad_frame="skip"))

    assert steps[1] == ([], [])
    assert sorted(skipped) == [4, 5, 6]


def test_a_recording_without_a_single_good_frame_is_told(folder):
    with pytest.raises(InvalidData, match="films: no frame that can be used .*frame 0: bad"):
        Films(folder, broken=range(12), on_bad_frame="skip")


def test_frames_that_nobody_labelled_are_seen_but_neither_revealed_nor_truth(folder):
    films = Films(folder, unlabelled=(0, 1, 3, 5))
    stream = Stream(films, RandomLabeller(RandomOptions(per_step=3), seed=0))

    seen = [
        ([frame.id for frame in arrival.step.frames], sorted(arrival.step.labels), sorted(arrival.truth))
        for arrival in stream.arrivals()
    ]

    assert seen == [([0, 1, 2], [2], [2]), ([4, 5, 6], [4, 6], [4, 6]), ([8, 9, 10], [8, 9, 10], [8, 9, 10])]
    assert [frame.id for frame, _ in films.test] == [7, 11]


def test_a_bad_test_picture_is_found_before_the_run(folder):
    (folder / "7.png").unlink()

    with pytest.raises(InvalidFrame, match=r"7\.png: no such file"):
        _ = Films(folder).test


def test_a_test_picture_of_another_size_is_found_before_the_run(folder, a_picture):
    a_picture(folder / "7.png", (80, 60))

    with pytest.raises(InvalidFrame, match=r"list, frame 7, .*7\.png: it is 60 x 80 pixels large, .*says 80 x 60"):
        _ = Films(folder).test


def test_a_cut_test_picture_is_found_before_the_run(folder):
    _cut(folder / "7.png")

    with pytest.raises(InvalidFrame, match=r"7\.png is not a readable image"):
        _ = Films(folder).test


def test_bad_test_pictures_can_be_skipped_even_cut_ones(folder):
    _cut(folder / "7.png")
    films = Films(folder, on_bad_frame="skip")

    assert [frame.id for frame, _ in films.test] == [3, 11]
    assert [problem.frame for problem in films.problems] == [7]


def test_test_frames_that_are_lost_are_counted_and_those_that_nobody_labelled_apart(folder):
    _cut(folder / "7.png")
    films = Films(folder, broken=(3,), unlabelled=(11,), on_bad_frame="skip")

    assert (films.lost_test_frames, films.unlabelled_test_frames, len(films.test)) == (2, 1, 0)
    assert films.test_steps() == []


def test_a_benchmark_that_is_whole_has_lost_nothing(folder, a_frame):
    for benchmark in (Films(folder), Small(a_frame)):
        assert (benchmark.lost_test_frames, benchmark.unlabelled_test_frames) == (0, 0)


@pytest.mark.parametrize(
    ("classes", "said"),
    [([], "at least one name"), (["a", "a"], "'a' is named twice"), (["a\nb"], "control character")],
)
def test_the_classes_that_take_part_are_names_each_once(classes, said):
    with pytest.raises(ValidationError, match=said):
        RecordedOptions(classes=classes)


def _damage(file, content):
    file.unlink() if content is None else file.write_bytes(content)


def test_a_broken_test_frame_leaves_no_thread_behind_with_its_error(folder):
    (folder / "3.png").write_bytes(b"no picture")

    with pytest.raises(InvalidFrame, match=r"3\.png") as told:
        _ = Films(folder).test

    # The error still holds all that it came through: a pool of threads that ends when that is swept up may never end.
    assert told.value.__traceback__ is not None
    assert [thread.name for thread in threading.enumerate() if "ThreadPool" in thread.name] == []
