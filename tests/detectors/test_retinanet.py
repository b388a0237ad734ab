"""RetinaNet on three backbones: torchvision's names, what is frozen, options; and every strategy learns with it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchvision.models.detection import RetinaNet, retinanet_resnet50_fpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import FrozenBatchNorm2d

from leocod.detectors.base import DETECTORS, Detector
from leocod.detectors.retinanet import RetinaNetDetector, RetinaNetOptions, build_retinanet
from leocod.detectors.tiny import TinyBackbone
from leocod.errors import InvalidConfig, InvalidData
from leocod.export.comparison import compare_detections
from leocod.networks.base import fork_rng
from leocod.networks.one_stage import OneStage
from leocod.plugins.efficient_cls import EfficientCLS
from leocod.plugins.open_classes import OpenClasses
from leocod.run.config import load_config
from leocod.run.layers import parse_override
from leocod.strategies.base import STRATEGIES
from leocod.types import Detections, Labels, Step
from leocod.weights import save_weights

CLASSES = ("mug", "book", "car")
FROZEN = {
    "resnet50-fpn": ("conv1.", "layer1."),
    "resnet18-fpn": ("conv1.", "layer1."),
    "mobilenet_v2-fpn": tuple(f"{number}." for number in range(7)),
}
MILLIONS = {"resnet50-fpn": 32.25, "resnet18-fpn": 19.28, "mobilenet_v2-fpn": 10.42}
ROWS = "head.classification_head.cls_logits.weight"
WITHOUT_IOD = [name for name in STRATEGIES.names() if name != "iod"]


def small(backbone="mobilenet_v2-fpn", seed=0, **options):
    """Quick: small pictures."""
    settings = {"backbone": backbone, "short_side": 64, **options}
    return RetinaNetDetector(CLASSES, RetinaNetOptions.model_validate(settings), seed=seed)


def narrow(seed=0):
    """Quicker still: the tiny detector's backbone under RetinaNet's head, for what does not depend on the backbone."""
    with fork_rng(seed):
        model = RetinaNet(
            TinyBackbone(normalised=False, frozen=False),
            len(CLASSES),
            anchor_generator=AnchorGenerator(((12, 18, 24),), ((0.5, 1.0, 2.0),)),
            min_size=48,
            max_size=192,
        )
    return OneStage(model, CLASSES, learning_rate=1e-3, seed=seed)


def load(*texts):
    return load_config(None, [parse_override(text) for text in ("detector=retinanet", *texts)]).detector.options


def total(losses):
    return torch.stack([value.mean() for value in losses.values()]).sum()


# -- the network


@pytest.mark.parametrize("backbone", FROZEN)
def test_it_learns_what_is_not_frozen_and_nothing_else(backbone, a_frame):
    detector = small(backbone)
    frames = [a_frame(0, (0, 1), size=(64, 85)), a_frame(1, (), size=(85, 64))]
    images, labels = [frame.image() for frame, _ in frames], [labels for _, labels in frames]

    losses = detector.loss(images, labels)
    total(losses).backward()

    assert isinstance(detector, Detector)
    assert all(value.shape == (2,) and value.isfinite().all() for value in losses.values())
    without = {name for name, value in detector.model.named_parameters() if value.grad is None}
    body = "backbone.body."
    assert without == {
        name
        for name, _ in detector.model.named_parameters()
        if name.startswith(body) and name.removeprefix(body).startswith(FROZEN[backbone])
    }
    assert not without & {name for name, _ in detector.named_parameters()}
    assert all(value.grad.isfinite().all() and value.grad.any() for value in detector.parameters())


@pytest.mark.parametrize("backbone", FROZEN)
def test_it_has_the_parameters_that_the_documents_say_and_no_normalisation_learns(backbone):
    model = build_retinanet(6, RetinaNetOptions(backbone=backbone))

    count = sum(one.numel() for one in model.parameters())

    assert count / 1e6 == pytest.approx(MILLIONS[backbone], abs=0.005)
    assert not any(isinstance(layer, torch.nn.BatchNorm2d) for layer in model.modules())
    assert any(isinstance(layer, FrozenBatchNorm2d) for layer in model.modules())


@pytest.mark.parametrize("backbone", FROZEN)
def test_its_levels_are_half_as_wide_each_and_started_by_chance_none_of_them_fades(backbone):
    detector = small(backbone)
    picture = torch.randn(1, 3, 128, 256, generator=torch.Generator().manual_seed(0))

    with torch.no_grad():
        levels = detector.features(picture)

    assert [tuple(level.shape[-2:]) for level in levels.values()] == [(16, 32), (8, 16), (4, 8), (2, 4), (1, 2)]
    assert all(0.01 < level.std() < 100 for level in levels.values())


def test_torchvisions_state_dict_fits_by_name_and_gives_torchvisions_detections(a_frame):
    torch.manual_seed(0)
    theirs = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=128)
    with torch.no_grad():
        # Scores around a half that are far apart: of two nearly equal ones, rounding would decide which is suppressed.
        theirs.head.classification_head.cls_logits.bias.zero_()
        theirs.head.classification_head.cls_logits.weight.mul_(20)
    detector = small("resnet50-fpn", long_side=128)
    image = a_frame(0, (0, 1), size=(64, 96))[0].image()

    detector.model.load_state_dict(theirs.state_dict(), strict=True)
    (found,) = detector.predict([image])
    with torch.no_grad():
        (expected,) = theirs.eval()([torch.tensor(image).permute(2, 0, 1).float() / 255])

    own = dict(detector.model.named_parameters())
    assert [name for name, value in theirs.named_parameters() if ".bn" not in name and "downsample.1" not in name] == [
        *own
    ]
    expected = Detections(*(expected[part].numpy() for part in ("boxes", "labels", "scores")))
    compared = compare_detections([expected], [found], detector.reporting_limits())
    assert compared.detections > 50
    assert not compared.unmatched
    assert compared.box_difference < 1e-2
    assert compared.score_difference < 1e-4


def test_the_numbers_are_torchvisions_unless_they_are_given():
    theirs = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=3)
    plain = build_retinanet(3, RetinaNetOptions())
    given = build_retinanet(3, RetinaNetOptions(candidates=7, detections=5))

    for name in ("topk_candidates", "detections_per_img", "score_thresh", "nms_thresh"):
        assert getattr(plain, name) == getattr(theirs, name)
    assert plain.anchor_generator.sizes == theirs.anchor_generator.sizes
    assert (plain.transform.min_size, plain.transform.max_size) == ((800,), 1333)
    assert (given.topk_candidates, given.detections_per_img) == (7, 5)


def test_it_finds_no_more_than_it_may(a_frame):
    detector = small(detections=4)
    with torch.no_grad():
        detector.model.head.classification_head.cls_logits.bias.zero_()

    (found,) = detector.predict([a_frame(0, (0,))[0].image()])

    assert len(found) == 4


def test_with_nothing_frozen_the_stem_learns_too():
    names = {name for name, _ in small("resnet18-fpn", frozen=0).named_parameters()}

    assert "backbone.body.conv1.weight" in names
    assert not any(name.startswith("backbone.body") for name, _ in small("resnet18-fpn", frozen=5).named_parameters())


def test_a_portrait_picture_is_predicted_in_its_own_pixels(a_frame):
    detector = small()
    with torch.no_grad():
        detector.model.head.classification_head.cls_logits.bias.zero_()

    (found,) = detector.predict([a_frame(0, (0,), size=(150, 100))[0].image()])

    assert (found.boxes >= 0).all()
    assert (found.boxes[:, [0, 2]] <= 100).all()
    assert 100 < found.boxes[:, 3].max() <= 150


def test_equal_seeds_make_equal_detectors_and_leave_torchs_own_randomness_alone():
    before = torch.random.get_rng_state()

    one, two, other = small(seed=5), small(seed=5), small(seed=6)

    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(value, two.model.state_dict()[name]) for name, value in one.model.state_dict().items())
    assert not all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


# -- where it starts


def test_it_starts_from_weights_of_its_own_with_the_rows_of_the_classes_they_name(tmp_path):
    trained = small(seed=1)
    file = tmp_path / "trained.safetensors"
    save_weights(file, trained.model, CLASSES, {})
    options = trained.options.model_copy(update={"weights": str(file)})

    started = RetinaNetDetector(("car", "cup"), options, seed=2)

    own, theirs = started.model.state_dict(), trained.model.state_dict()
    mine, given = own[ROWS].unflatten(0, (9, 2)), theirs[ROWS].unflatten(0, (9, 3))
    assert torch.equal(mine[:, 0], given[:, 2])
    assert not any(torch.equal(mine[:, 1], given[:, number]) for number in range(3))
    assert all(torch.equal(own[name], theirs[name]) for name in own if "cls_logits" not in name)


def test_weights_of_another_backbone_are_refused(tmp_path):
    file = tmp_path / "other.safetensors"
    save_weights(file, small("resnet18-fpn").model, CLASSES, {})

    with pytest.raises(InvalidData, match="does not fit this detector"):
        small("mobilenet_v2-fpn", weights=str(file))


# -- options


def test_the_name_finds_the_class():
    assert DETECTORS.find("retinanet") is RetinaNetDetector
    assert load().backbone == "resnet50-fpn"


def test_input_sides_are_the_backbones_own_or_in_its_proportion():
    def sides(**options):
        return RetinaNetOptions.model_validate(options).input_sides

    assert sides() == (800, 1333)
    assert sides(short_side=96) == (96, 160)
    assert sides(backbone="mobilenet_v2-fpn") == (320, 640)
    assert sides(short_side=96, long_side=500) == (96, 500)


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["detector.backbone=resnet50-c4"], "detector.backbone is 'resnet50-c4': it should be 'resnet50-fpn', "),
        (["detector.learning_rate=0"], "detector.learning_rate is 0: it should be more than 0"),
        (["detector.short_side=10"], "detector.short_side is 10: it should be at least 64"),
        (["detector.long_side=700"], "detector.long_side is 700: it should be at least the short side, 800"),
        (["detector.frozen=6"], "detector.frozen is 6: it should be at most 5 for resnet50-fpn"),
        (["detector.candidates=0"], "detector.candidates is 0: it should be at least 1"),
        (["detector.detections=0"], "detector.detections is 0: it should be at least 1"),
        (["detector.proposals=9"], "detector.proposals: unknown key"),
    ],
)
def test_mistakes_are_told_in_one_line_with_key_value_and_cure(texts, complaint):
    with pytest.raises(InvalidConfig) as caught:
        load(*texts)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


# -- every strategy, bare and inside Efficient-CLS


def sure_of_something(frames, labelled):
    """Pseudo labels with boxes in them, by the frame alone."""
    return [Labels(np.array([[5, 5, 25, 25 + frame.id % 7]]), np.array([frame.id % 3])) for frame in frames]


def learner_of(name, detector, *, wrapped, **options):
    kind = STRATEGIES.find(name)
    options = {key: value for key, value in options.items() if key in kind.Options.model_fields}
    strategy = kind(detector, kind.Options(**options))
    return EfficientCLS(strategy, labeller=sure_of_something) if wrapped else strategy


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "efficient_cls"])
@pytest.mark.parametrize("name", WITHOUT_IOD)
def test_every_strategy_but_iod_learns_with_it_and_continues_from_a_state(name, wrapped, a_step):
    one, two = (learner_of(name, narrow(), wrapped=wrapped) for _ in range(2))
    before = narrow().state_dict()["weights"]

    losses = [one.learn(a_step(index)).losses for index in range(2)]
    two.load_state_dict(one.state_dict())
    again = [learner.learn(a_step(2)).losses for learner in (one, two)]

    names = {loss.split("/")[1] for loss in losses[1]}
    assert {"anchor_class", "anchor_box"} <= names
    assert not any(loss.startswith(("proposal", "region")) for loss in names)
    assert all(np.isfinite(value) for step in losses for value in step.values())
    after = (one.strategy if wrapped else one).detector.state_dict()["weights"]
    assert not torch.equal(after[ROWS], before[ROWS])
    assert again[0] == again[1]


def test_the_whole_network_learns_inside_efficient_cls_and_the_slow_learner_follows(a_step):
    learner = learner_of("icarl", small(), wrapped=True, replay_per_step=2)
    before = learner.slow.state_dict()["weights"]

    losses = [learner.learn(a_step(index, frames=2, labelled=1)).losses for index in range(2)]

    assert losses[1].keys() == {f"{part}/anchor_{loss}" for part in ("current", "replay") for loss in ("class", "box")}
    assert all(np.isfinite(value) for step in losses for value in step.values())
    assert not torch.equal(learner.slow.state_dict()["weights"][ROWS], before[ROWS])


def test_iod_says_that_it_needs_a_region_head():
    with pytest.raises(InvalidConfig, match="'iod' trains a layer of the region head, and this detector has none"):
        learner_of("iod", small(), wrapped=False)


def test_pseudo_labels_teach_classes_and_boxes_though_they_do_not_teach_proposals(a_step):
    learner = learner_of("incremental", narrow(), wrapped=True)
    before = narrow().state_dict()["weights"]

    learned = learner.learn(a_step(labelled=0))

    after = learner.strategy.detector.state_dict()["weights"]
    assert learned.losses["current/anchor_class"] > 0
    assert learned.losses["current/anchor_box"] > 0
    for name in (ROWS, "head.regression_head.bbox_reg.weight"):
        assert not torch.equal(after[name], before[name])


def test_its_own_detections_become_pseudo_labels(a_step):
    detector = narrow()
    with torch.no_grad():
        detector.model.head.classification_head.cls_logits.bias.fill_(3.0)
    strategy = STRATEGIES.find("incremental")(detector)

    learned = EfficientCLS(strategy).learn(a_step(labelled=1))

    assert len(learned.pseudo) == 3
    assert all(len(labels) and labels.source == "pseudo" for labels in learned.pseudo.values())


def test_a_class_may_come_later_and_is_learnt(a_step, a_frame):
    learner = learner_of("icarl", narrow(), wrapped=True)
    for index in range(2):
        learner.learn(a_step(index))

    learner.extend_classes(["lamp"])
    frame, labels = a_frame(9, (0,))
    lamps = Step(2, (frame,), {frame.id: Labels(labels.boxes, np.array([3]))})
    before = learner.strategy.detector.class_logits([frame.image()], [labels.boxes])[0][0, 4].item()
    for _ in range(3):
        learner.learn(lamps)

    assert learner.classes == (*CLASSES, "lamp")
    assert learner.strategy.detector.class_logits([frame.image()], [labels.boxes])[0][0, 4].item() > before


def test_an_open_class_list_may_start_with_no_class_at_all(a_step):
    detector = RetinaNetDetector((), RetinaNetOptions(backbone="mobilenet_v2-fpn", short_side=64))
    learner = OpenClasses(EfficientCLS(learner_of("icarl", detector, wrapped=False, replay_per_step=2)), CLASSES)

    nothing = learner.predict([frame.image() for frame in a_step().frames])
    losses = [learner.learn(a_step(index, frames=2, labelled=index)).losses for index in range(3)]

    assert [len(found) for found in nothing] == [0, 0, 0, 0]
    assert all(value == 0 for value in losses[0].values())
    assert all(value > 0 for value in losses[2].values())
    assert learner.classes == ("mug", "book")


def test_the_loss_falls(a_step):
    learner = learner_of("incremental", narrow(), wrapped=False)
    step = a_step(frames=3, labelled=3)

    # So many, because a RetinaNet first has to unlearn that nothing is anywhere.
    totals = [sum(learner.learn(step).losses.values()) for _ in range(80)]

    assert totals[-1] < 0.5 * totals[0]
