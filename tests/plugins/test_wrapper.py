"""A plug-in passes on whatever it does not change."""

from __future__ import annotations

import inspect

from leocod.learner import Learner
from leocod.plugins.wrapper import Wrapper
from leocod.strategies.icarl import ICaRL


def test_it_answers_all_that_a_learner_answers():
    wanted = {name for name, _ in inspect.getmembers(Learner) if not name.startswith("_")}

    assert wanted
    assert wanted <= {name for name, _ in inspect.getmembers(Wrapper)}


def test_whatever_it_does_not_change_goes_through(a_detector, a_step):
    bare, inside = ICaRL(a_detector()), ICaRL(a_detector())
    wrapped = Wrapper(inside)
    images = [a_step(5).frames[0].image()]

    assert wrapped.learn(a_step(0)).losses == bare.learn(a_step(0)).losses
    assert wrapped.memory is inside.memory
    assert wrapped.classes == bare.classes
    assert wrapped.single_pass
    assert wrapped.deployed_detector is inside.detector
    assert [frame.id for frame, _ in wrapped.remembered_frames()] == [frame.id for frame, _ in bare.remembered_frames()]
    assert wrapped.predict(images)[0].boxes.tolist() == bare.predict(images)[0].boxes.tolist()
    assert wrapped.predict_fast(images)[0].boxes.tolist() == bare.predict_fast(images)[0].boxes.tolist()
    wrapped.extend_classes(["lamp"])
    assert inside.classes[-1] == "lamp"
    again = Wrapper(ICaRL(a_detector()))
    again.load_state_dict(wrapped.state_dict())
    assert again.classes == wrapped.classes
