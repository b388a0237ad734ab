"""What a run has learnt from can be told from what is new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leocod.errors import InvalidRun
from leocod.events import RunStarted, StepLearned
from leocod.files.run_directory import RunDirectory
from leocod.run.record.given_labels import GivenLabels, read_given_labels
from leocod.stream.added_labels import KnownLabels
from leocod.stream.fingerprints import fingerprint_frame, fingerprint_labels

STARTED = RunStarted("a run", ("mug", "book", "car"), 9, 0)


@pytest.fixture
def directory(tmp_path):
    return RunDirectory(tmp_path)


def learned(*pairs, labelled):
    frames, truth = tuple(frame for frame, _ in pairs), {frame.id: labels for frame, labels in pairs}
    return StepLearned(0, {}, tuple(labelled), (), (), None, 0, {}, frames=frames, truth=truth)


def test_it_notes_frames_that_were_labelled_for_the_run_and_those_that_tested(directory, a_frame):
    one, other, held_out = (
        (replace(frame, video="v", index=frame.id), labels) for frame, labels in map(a_frame, range(3))
    )

    with GivenLabels(directory.given, [held_out[0]]) as sink:
        sink(STARTED)
        sink(learned(one, other, labelled=[one[0].id]))

    held = read_given_labels(directory)
    assert held.given == {fingerprint_frame(one[0]): fingerprint_labels(one[1], STARTED.classes)}
    assert held.tested == {fingerprint_frame(held_out[0])}


def test_a_step_that_was_refused_gave_nothing(directory, a_frame):
    pair = a_frame(1)

    with GivenLabels(directory.given, []) as sink:
        sink(STARTED)
        sink(replace(learned(pair, labelled=[pair[0].id]), refused="the loss is not finite"))

    assert read_given_labels(directory).given == {}


def test_an_offline_run_notes_what_it_had_too(directory, a_frame):
    pair = a_frame(1)

    with GivenLabels(directory.given, []) as sink:
        sink(replace(STARTED, single_pass=False))
        for _ in range(2):
            sink(learned(pair, labelled=[pair[0].id]))

    assert len(read_given_labels(directory).given) == 1


def test_what_runs_before_had_stays_and_a_changed_label_counts_as_it_is_now(directory, a_frame):
    frame, labels = a_frame(1)
    before = KnownLabels({fingerprint_frame(frame): 5, 7: 8}, frozenset({9}))

    with GivenLabels(directory.given, [], before) as sink:
        sink(STARTED)
        sink(learned((frame, labels), labelled=[frame.id]))

    held = read_given_labels(directory)
    assert held.given == {fingerprint_frame(frame): fingerprint_labels(labels, STARTED.classes), 7: 8}
    assert held.tested == {9}


def test_it_goes_on_from_its_state(directory, a_frame):
    pair = a_frame(1)
    first = GivenLabels(directory.given, [])
    first(STARTED)
    first(learned(pair, labelled=[pair[0].id]))

    with GivenLabels(directory.given, []) as again:
        again.load_state_dict(first.state_dict())

    assert len(read_given_labels(directory).given) == 1


@pytest.mark.parametrize("content", [b"", b"[]", b'{"frames": [1], "labels": [], "tested": []}', b'{"frames": [1e99]}'])
def test_a_damaged_file_is_told(directory, content):
    directory.given.write_bytes(content)

    with pytest.raises(InvalidRun, match=r"given\.json is damaged"):
        read_given_labels(directory)


def test_a_run_of_an_earlier_version_cannot_tell(directory):
    with pytest.raises(InvalidRun, match="does not say which labels it had"):
        read_given_labels(directory)
