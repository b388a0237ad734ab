"""Fine-tuning keeps nothing."""

from leocod.strategies.incremental import Incremental


def test_it_has_no_memory_and_trains_on_the_labelled_frames_only(a_detector, a_step):
    strategy = Incremental(a_detector())

    (batch,) = strategy.batches(a_step(frames=4, labelled=2))

    assert [frame.id for frame, _ in batch.pairs] == [0, 1]
    assert strategy.memory is None
