"""Streams hand out each step once, with revealed labels only; offline training gets an even part at each step."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from leocod.benchmarks.base import Benchmark, Recorded, RecordedOptions, Reshuffled, Shuffle, Stream
from leocod.data.recording import Entry, Problem, Recording, split
from leocod.errors import InvalidData, InvalidFrame
from leocod.labelling import BudgetLabeller, FixedLabeller
from leocod.types import Labels


class Small(Benchmark):
    """Three steps of four frames."""

    name, classes, steps = "small", ("a", "b", "c"), 3

    def __init__(self, a_frame):
        self._frames = [[a_frame(step * 5 + k, (k % 3,)) for k in range(4)] for step in range(3)]

    def moment(self, step):
        return self._frames[step]

    test = ()


@pytest.fixture
def stream(a_frame):
    return Stream(Small(a_frame), BudgetLabeller(2, seed=0))


def test_every_step_comes_once_in_order(stream):
    steps = list(stream.steps())

    assert [step.index for step in steps] == [0, 1, 2]
    assert [frame.id for frame in steps[1].frames] == [5, 6, 7, 8]
    assert all(len(step.labels) == 2 for step in steps)


def test_starting_later_gives_the_same_steps(stream):
    whole, later = list(stream.steps()), list(stream.steps(start=2))

    assert list(later[0].labels) == list(whole[2].labels)


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
    whole = [
        [frame.id for frame in step.frames]
        for step in Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps()
    ]
    later = [
        [frame.id for frame in step.frames]
        for step in Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1).steps(start=1)
    ]

    assert later == whole[1:]


def test_only_offline_keeps_frames_and_says_how_much_that_is(stream):
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    kept = {frame.id: (frame, labels) for step in offline.steps() for frame, labels in step.labelled()}
    list(stream.steps())

    assert stream.bytes == 0
    assert offline.bytes == sum(frame.image().nbytes + labels.bytes for frame, labels in kept.values())


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
    stream = Stream(benchmark, BudgetLabeller(per_step, seed=0))
    steps, skipped = [], {}
    for step in stream.steps():
        steps.append(([frame.id for frame in step.frames], sorted(step.labels)))
        skipped |= stream.skipped
    return steps, skipped


def test_a_recording_is_a_benchmark(folder):
    films = Films(folder)

    assert [frames for frames, _ in handed_out(films)[0]] == [[0, 1, 2], [4, 5, 6], [8, 9, 10]]
    assert [frame.id for frame, _ in films.test] == [3, 7, 11]
    assert films.given(1) == {2}
    assert films.given(2) is None


def test_frames_are_decoded_when_they_are_used(folder):
    assert {frame.bytes for frame, _ in Films(folder).moment(0)} == {0}


def test_a_size_that_no_file_tells_is_the_pictures(folder):
    assert [frame.size for frame, _ in Films(folder, sizeless=True).moment(0)] == [(60, 80)] * 3


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
    stream = Stream(Films(folder, broken=(2,), on_bad_frame="skip"), FixedLabeller(frozenset({0, 2}), per_step=1))

    step = next(stream.steps())

    assert (sorted(step.labels), sorted(stream.truth)) == ([0], [0, 1])


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


def test_offline_training_skips_what_cannot_be_read(folder):
    (folder / "5.png").unlink()
    stream = Stream(Films(folder, on_bad_frame="skip"), BudgetLabeller(3, seed=0))
    offline = Reshuffled(stream, Shuffle(epochs=2, batch_size=3), seed=1)

    frames = [frame.id for step in offline.steps() for frame in step.frames]

    assert sorted(frames) == sorted([0, 1, 2, 4, 6, 8, 9, 10] * 2)
    assert list(offline.skipped) == [5]


def test_frames_that_nobody_labelled_are_seen_but_neither_revealed_nor_truth(folder):
    films = Films(folder, unlabelled=(0, 1, 3, 5))
    stream = Stream(films, BudgetLabeller(3, seed=0))

    seen = [([frame.id for frame in step.frames], sorted(step.labels), sorted(stream.truth)) for step in stream.steps()]

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
