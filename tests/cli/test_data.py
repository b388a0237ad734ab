from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as PillowImage
from typer.testing import CliRunner, Result

from leocod.cli.main import app
from leocod.run.experiment import Seeds

WALK = ("--set", "steps=2", "--set", "frames_per_step=4", "--set", "width=64", "--set", "height=48")


def leocod(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, arguments)


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def some_frames(folder: Path) -> None:
    folder.mkdir()
    for number in range(3):
        PillowImage.fromarray(np.full((8, 8, 3), number, np.uint8)).save(folder / f"{number}.png")


def test_without_a_command_the_help_is_shown() -> None:
    result = leocod("data")

    assert result.exit_code == 0
    assert "check" in result.output
    assert "convert" in result.output
    assert result.stderr == ""


def test_check_leaves_with_0_when_all_is_well_and_with_1_when_a_run_would_stop(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")

    well = leocod("data", "check", "film")
    (tmp_path / "film" / "1.png").write_bytes(b"")
    ill = leocod("data", "check", "film")

    assert (well.exit_code, ill.exit_code) == (0, 1)
    assert "Nothing is wrong." in well.output
    assert "film/1.png, frame 1 of film: the file is empty" in ill.output
    assert "1 problem, 1 of which would stop a run." in ill.output


@pytest.mark.parametrize("to", ["yolo", "voc", "cvat", "label-studio"])
def test_a_benchmark_is_written_for_another_tool_and_checked(to: str) -> None:
    written = leocod("data", "convert", "wander", "out", "--to", to, *WALK)
    checked = leocod("data", "check", "out", "--most", "1")

    assert written.exit_code == 0, written.output
    assert "wander: 2 steps and 2 test frames: out" in written.output
    assert checked.exit_code == 0, checked.output
    assert f"out: {to} layout, 10 frames, 10 of them labelled" in checked.output


def test_a_tool_cannot_be_told_which_frames_are_labelled_at_a_cost(tmp_path: Path) -> None:
    result = leocod("data", "convert", "wander", "out", "--to", "yolo", "--labels", "4", *WALK)

    assert result.exit_code == 2
    assert "--labels goes with --to processed or coco: yolo cannot say it" in result.stderr
    assert not (tmp_path / "out").exists()


def test_labels_of_another_tool_go_with_a_folder(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "classes.txt").write_text("mug\n")
    (tmp_path / "yolo" / "film_1.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    (tmp_path / "yolo" / "film_7.txt").write_text("")

    result = leocod("data", "check", "film", "--labels", "yolo")

    assert result.exit_code == 0, result.output
    assert "film: folder layout, 3 frames, 1 of them labelled, 0 of these without objects, 1 object" in result.output
    assert (
        "1 of 2 labelled images were found in film; 1 was not: film_7.txt. 'film_7.txt' is not among" in result.output
    )
    assert "A run learns from 1 labelled frame and tests on 0 (labels are sparse: of each 5 labelled" in result.output


def a_film(path: Path, first: int) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuv420p"
        for number in range(first, first + 10):
            patches = np.random.default_rng(number).integers(0, 255, (6, 8, 3), np.uint8)
            image = np.asarray(PillowImage.fromarray(patches).resize((64, 48)))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())


def test_frames_of_two_videos_are_chosen_labelled_and_checked_together(tmp_path: Path) -> None:
    a_film(tmp_path / "kitchen.mp4", 0)
    a_film(tmp_path / "hall.mp4", 100)

    chosen = leocod("data", "choose", "kitchen.mp4", "hall.mp4", "--out", "label", "--frames", "8")
    pictures = sorted(file.name for file in Path("label/images").iterdir())
    images = [{"id": number, "file_name": f"9a0b1c2d-{name}"} for number, name in enumerate(pictures)]
    boxes = [{"id": n, "image_id": n, "category_id": 1, "bbox": [1, 1, 9, 9]} for n in range(len(images))]
    categories = [{"id": 1, "name": "mug"}]
    Path("labels.json").write_text(json.dumps({"categories": categories, "images": images, "annotations": boxes}))
    checked = leocod("data", "check", "kitchen.mp4", "hall.mp4", "--labels", "labels.json")

    assert (chosen.exit_code, checked.exit_code) == (0, 0), (chosen.output, checked.output)
    assert "kitchen.mp4: 4 frames of 4 parts." in chosen.output
    assert "What to do next: label/README.md" in chosen.output
    assert len(pictures) == 8
    assert "kitchen.mp4, hall.mp4: video layout, 20 frames, 8 of them labelled" in checked.output
    assert "A run learns from 6 labelled frames and tests on 2 (labels are sparse" in checked.output
    assert "AP rests on 2 test frames with 2 objects" in checked.output


def test_numbers_of_classes_and_names_of_frames_can_be_said(tmp_path: Path) -> None:
    a_film(tmp_path / "kitchen.mp4", 0)
    (tmp_path / "yolo" / "labels" / "train").mkdir(parents=True)
    (tmp_path / "yolo" / "labels" / "train" / "img003.txt").write_text("1 0.5 0.5 0.5 0.5\n")

    unknown = leocod("data", "check", "kitchen.mp4", "--labels", "yolo", "--frame-names", "img{number_from_1}")
    known = leocod(
        *("data", "check", "kitchen.mp4", "--labels", "yolo", "--frame-names", "img{number_from_1}"),
        *("--classes", "mug, book"),
    )

    assert unknown.exit_code == 2
    assert "classes: needed, because yolo has no list of them in data.yaml" in unknown.stderr
    assert known.exit_code == 0, known.output
    assert "10 frames, 1 of them labelled, 0 of these without objects, 1 object, 2 classes" in known.output


def test_what_convert_writes_has_nothing_wrong_with_it_that_stops_a_run() -> None:
    for to in ("processed", "coco"):
        written = leocod("data", "convert", "wander", to, "--to", to, *WALK)
        checked = leocod("data", "check", to, "--most", "1")

        assert written.exit_code == 0, written.output
        assert "2 steps and 2 test frames, labelled at 4 (8), 2 (4), 1 (2) frames a step" in written.output
        assert checked.exit_code == 0
        assert f"{to} layout, 10 frames, 10 of them labelled" in checked.output
        assert "unused class: " in checked.output


def test_the_frames_that_convert_labels_are_those_that_a_run_gets() -> None:
    leocod("data", "convert", "wander", "out", "--to", "coco", "--seed", "7", "--labels", "2", *WALK)

    labels = json.loads(Path("out/labels_2.json").read_text())
    seed = Seeds.of(7).labels
    draw = np.random.default_rng([seed, 2, 1]).permutation(4)[:2]
    assert (labels["per_step"], labels["seed"]) == (2, seed)
    assert labels["frames"]["1"] == sorted(5 + int(number) for number in draw)
    assert not Path("out/labels_1.json").exists()


def test_a_published_choice_is_kept_unless_another_is_to_be_drawn() -> None:
    leocod("data", "convert", "wander", "first", "--to", "processed", "--seed", "1", *WALK)

    kept = leocod("data", "convert", "oak", "kept", "--to", "processed", "--set", "root=first", "--labels", "1")
    anew = leocod(
        *("data", "convert", "oak", "anew", "--to", "processed", "--set", "root=first", "--labels", "1"),
        *("--choice", "drawn", "--seed", "2"),
    )

    assert (kept.exit_code, anew.exit_code) == (0, 0), (kept.output, anew.output)
    first, again, other = (
        [row.rpartition(",")[2] for row in Path(name).read_text().split()]
        for name in ("first/wander/train_anno1.csv", "kept/oak/train_anno1.csv", "anew/oak/train_anno1.csv")
    )
    assert first == again
    assert first != other


def test_pictures_are_copied_or_linked(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")
    source = ("video", "--set", "source=film", "--set", "classes=[mug]")

    copied = leocod("data", "convert", source[0], "copied", "--to", "coco", *source[1:])
    linked = leocod("data", "convert", source[0], "linked", "--to", "coco", "--link", *source[1:])

    assert (copied.exit_code, linked.exit_code) == (0, 0), (copied.output, linked.output)
    assert Path("copied/images/film/0.png").stat().st_nlink == 1
    assert Path("linked/images/film/0.png").stat().st_nlink == 2


@pytest.mark.parametrize("prefix", ["", "benchmark."])
def test_an_option_of_the_benchmark_may_be_named_as_in_a_run(tmp_path: Path, prefix: str) -> None:
    some_frames(tmp_path / "film")
    options = ("--set", f"{prefix}source=film", "--set", f"{prefix}classes=[mug]")

    shown = leocod("show", "video", *options)
    written = leocod("data", "convert", "video", "out", "--to", "coco", *options)

    assert (shown.exit_code, written.exit_code) == (0, 0), (shown.output, written.output)


def test_convert_says_how_many_frames_it_left_out(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")
    (tmp_path / "film" / "0.png").write_bytes(b"no picture")
    options = ("source=film", "classes=[mug]", "on_bad_frame=skip", "frames_per_step=1")

    written = leocod(
        *("data", "convert", "video", "out", "--to", "coco"), *(word for one in options for word in ("--set", one))
    )

    assert written.exit_code == 0, written.output
    assert "Left out, because they cannot be read: 1 frame." in written.output
    assert "Left out, because nobody has labelled them: 1 held-out frame." in written.output


def test_show_tells_when_classes_are_there() -> None:
    result = leocod("show", "wander", *WALK, "--classes", "3")

    assert result.exit_code == 0, result.output
    assert "wander: 2 steps, 8 training and 2 test frames, 20 classes." in result.output
    assert "objects a frame" in result.output
    assert "longest" in result.output
    assert "step 0 to 1" in result.output
    assert "and 17 more classes" in result.output


def test_show_leaves_out_what_cannot_be_read_where_the_benchmark_skips_it(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")
    (tmp_path / "film" / "0.png").write_bytes(b"no picture")
    source = ("video", "--set", "source=film", "--set", "classes=[mug]")

    stopped = leocod("show", *source)
    skipped = leocod("show", *source, "--set", "on_bad_frame=skip")

    assert stopped.exit_code == 2
    assert "0.png is not a readable image" in stopped.stderr
    assert skipped.exit_code == 0, skipped.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("data", "chek"), "chek"),
        (("data", "check"), "Missing argument"),
        (("data", "check", "none"), "No file or folder 'none'"),
        (("data", "check", "empty"), "empty holds no data in a known layout"),
        (("data", "check", "empty", "--layout", "davis"), "'davis' is not one of"),
        (("data", "check", "empty", "--most", "-1"), "--most"),
        (("data", "choose", "none.mp4", "--out", "out"), "none.mp4: no such file"),
        (("data", "choose", "none.mp4", "--out", "taken"), "taken is already there"),
        (
            ("data", "choose", "none.mp4", "--out", "out", "--frames", "2", "--every", "3"),
            "--frames cannot be combined",
        ),
        (("data", "choose", "none.mp4"), "--out"),
        (("data", "convert", "wander", "out"), "--to"),
        (("data", "convert", "wonder", "out", "--to", "coco"), "No benchmark 'wonder'"),
        (("data", "convert", "wander", "taken", "--to", "coco"), "taken is already there"),
        (("data", "convert", "wander", "out", "--to", "coco", "--labels", "4,x"), "--labels is '4,x'"),
        (("data", "convert", "wander", "out", "--to", "coco", "--labels", "17"), "it should be numbers from 1 to 16"),
        (("data", "convert", "wander", "taken/me/out", "--to", "coco", *WALK), "taken/me"),
        (("data", "convert", "oak", "out", "--to", "coco", "--set", "root=none"), "none"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    arguments: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "me").write_text("a file")
    before = sorted(tmp_path.rglob("*"))

    result = leocod(*arguments)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.startswith("leocod: ")
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_neither_a_name_nor_an_error_can_speak_to_the_terminal(tmp_path: Path) -> None:
    some_frames(tmp_path / "film")
    labels = {
        "categories": [{"id": 1, "name": "[red]mug[/red]"}],
        "images": [{"id": n, "file_name": f"{n}.png", "height": 8, "width": 8} for n in range(3)],
        "annotations": [{"id": n, "image_id": n, "category_id": 1, "bbox": [1, 1, 5, 5]} for n in range(3)],
    }
    (tmp_path / "labels.json").write_text(json.dumps(labels))

    shown = leocod("show", "video", "--set", "source=film", "--set", "labels=labels.json", "--set", "frames_per_step=2")
    refused = leocod("data", "check", "\x1b[31m\u202enowhere")

    assert "[red]mug[/red]" in shown.output
    assert shown.exit_code == 0
    assert r"\x1b[31m\u202enowhere" in refused.output
    assert "\x1b" not in refused.output + shown.output
