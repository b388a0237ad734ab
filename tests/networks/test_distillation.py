"""Distances between two detectors."""

from __future__ import annotations

import pytest
import torch

PARTS = {"distil_features", "distil_proposals", "distil_classes", "distil_boxes"}


@pytest.fixture
def images(a_frame):
    return [a_frame(number, (0,))[0].image() for number in range(3)]


def test_a_detector_is_no_way_from_itself(a_detector, images):
    detector = a_detector()

    apart = detector.distillation(images, detector.clone(), classes=[0, 1, 2], temperature=2.0)

    assert apart.keys() == PARTS
    for value in apart.values():
        assert value.shape == (3,)
        torch.testing.assert_close(value, torch.zeros(3), atol=1e-6, rtol=0)


def test_two_detectors_are_apart_and_only_the_student_gets_a_gradient(a_detector, images):
    student, teacher = a_detector(seed=1), a_detector(seed=2)

    apart = student.distillation(images, teacher, classes=[0, 1, 2], temperature=2.0)
    sum(value.sum() for value in apart.values()).backward()

    assert all((value > 0).all() for value in apart.values())
    assert all(one.grad is not None for one in student.parameters())
    assert all(one.grad is None for one in teacher.parameters())


def test_classes_that_the_teacher_does_not_know_do_not_count(a_detector, images):
    teacher = a_detector()
    student = teacher.clone()
    with torch.no_grad():
        student.model.roi_heads.box_predictor.cls_score.bias[3] += 5
        student.model.roi_heads.box_predictor.bbox_pred.bias[12:] += 5

    without = student.distillation(images, teacher, classes=[0, 1], temperature=2.0)
    with_it = student.distillation(images, teacher, classes=[0, 1, 2], temperature=2.0)

    for name in ("distil_classes", "distil_boxes"):
        torch.testing.assert_close(without[name], torch.zeros(3), atol=1e-6, rtol=0)
        assert (with_it[name] > 0.01).all()


def test_each_frame_has_its_own_distance(a_detector, a_frame):
    """Frames of which the teacher proposes other numbers of regions, together and alone."""
    images = [a_frame(1, (0, 1, 2))[0].image(), a_frame(2, ())[0].image() * 0, a_frame(3, (0,))[0].image()]
    student, teacher = a_detector(seed=1), a_detector(seed=2)

    together = student.distillation(images, teacher, classes=[0, 1, 2], temperature=2.0)

    for number, image in enumerate(images):
        alone = student.distillation([image], teacher, classes=[0, 1, 2], temperature=2.0)
        for name, value in alone.items():
            torch.testing.assert_close(together[name][number], value[0], rtol=1e-3, atol=1e-5)


def test_the_teachers_head_looks_at_the_teachers_features(a_detector, images):
    """With the same heads, only backbones apart: the class scores differ, because each has its own features."""
    teacher = a_detector()
    student = teacher.clone()
    with torch.no_grad():
        student.model.backbone.output.weight.mul_(-1)

    assert (student.distillation(images, teacher, classes=[0, 1, 2], temperature=1.0)["distil_classes"] > 0).all()


def test_the_class_distance_is_the_divergence_of_softened_scores(a_detector, images):
    """By hand: a head that says the same of every region, so that one region stands for all."""
    student, teacher = a_detector(seed=1), a_detector(seed=1)
    for detector, bias in ((student, [0.0, 2.0, 0.0, 0.0]), (teacher, [0.0, 0.0, 0.0, 1.0])):
        with torch.no_grad():
            detector.model.roi_heads.box_predictor.cls_score.weight.zero_()
            detector.model.roi_heads.box_predictor.cls_score.bias.copy_(torch.tensor(bias))

    apart = student.distillation(images, teacher, classes=[0, 1, 2], temperature=2.0)["distil_classes"]

    p = torch.tensor([0.0, 0.0, 0.0, 0.5]).softmax(0)
    q = torch.tensor([0.0, 1.0, 0.0, 0.0]).softmax(0)
    expected = 4 * (p * (p / q).log()).sum()
    torch.testing.assert_close(apart, expected.expand(3), rtol=1e-4, atol=1e-6)
