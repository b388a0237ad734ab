"""One's own video or folder, with labels for some frames and none for the others."""

from __future__ import annotations

import av
import numpy as np
import pytest
from PIL import Image

from leocod.errors import InvalidConfig, InvalidData
from leocod.readers.video import read_video

CATEGORIES = [{"id": 1, "name": "mug"}, {"id": 2, "name": "book"}]


@pytest.fixture
def folder(tmp_path, a_picture):
    """Twelve frames, f1 to f12; the tenth is portrait."""
    for number in range(1, 13):
        a_picture(tmp_path / "film" / f"f{number}.png", (80, 60) if number == 10 else (60, 80), number)
    (tmp_path / "film" / "notes.txt").write_text("not a frame")
    return tmp_path / "film"


@pytest.fixture
def film(tmp_path):
    with av.open(str(tmp_path / "film.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 80, 60, "yuv420p"
        for number in range(12):
            image = np.full((60, 80, 3), number * 20, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return tmp_path / "film.mp4"


@pytest.fixture
def a_label_file(tmp_path, a_json):
    def write(images, annotations=()):
        return a_json(
            tmp_path / "labels.json", {"categories": CATEGORIES, "images": images, "annotations": list(annotations)}
        )

    return write


def test_frames_of_a_folder_come_by_number_and_labels_by_name(folder, a_label_file, boxes):
    images = [{"id": 1, "file_name": "f10.png"}, {"id": 2, "file_name": "anywhere/f2.png", "height": 60, "width": 80}]
    labels = a_label_file(images, [{"id": 1, "image_id": 1, "category_id": 2, "bbox": [10, 60, 20, 20]}])

    found = read_video(folder, labels)

    assert found.classes == ("mug", "book")
    assert [entry.picture.stem for entry in found.entries] == [f"f{number}" for number in range(1, 13)]
    assert [entry.index for entry in found.entries] == list(range(12))
    assert boxes(found) == [None, [], *[None] * 7, [("book", 10, 60, 30, 80)], None, None]
    assert found.entries[9].size == (80, 60)


@pytest.mark.parametrize("naming", ["frame_id", "frame_number", "file_name"])
def test_frames_of_a_file_are_labelled_by_number_from_0(film, a_label_file, boxes, naming):
    named = {"file_name": "film_000003"} if naming == "file_name" else {naming: 3, "file_name": "film.mp4"}
    labels = a_label_file([{"id": 7, **named}], [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4]}])

    found = read_video(film, labels)

    assert boxes(found) == [None, None, None, [("mug", 1, 2, 4, 6)], *[None] * 8]
    assert {entry.size for entry in found.entries} == {(60, 80)}
    assert {entry.picture for entry in found.entries} == {film}


@pytest.mark.parametrize("source", ["folder", "film"])
def test_every_so_many_th_frame(request, source, a_label_file, boxes, met):
    named = [{"file_name": f"f{number + 1}.png", "frame_id": number} for number in (0, 4, 5, 8)]
    labels = a_label_file([{"id": number, **one} for number, one in enumerate(named)])

    found = read_video(request.getfixturevalue(source), labels, every=4, report=met.append)

    assert [(entry.id, entry.index) for entry in found.entries] == [(0, 0), (1, 4), (2, 8)]
    assert boxes(found) == [[], [], []]
    assert [(one.breaks, "every=4 passes over 1 labelled frame, such as frame 5" in one.what) for one in met] == [
        (False, True)
    ]


@pytest.mark.parametrize("source", ["folder", "film"])
def test_labelled_frames_are_all_taken_where_labels_are_sparse(request, source, a_label_file, boxes, met):
    named = [{"file_name": f"f{number + 1}.png", "frame_id": number} for number in (0, 4, 5)]
    labels = a_label_file([{"id": number, **one} for number, one in enumerate(named)])
    source = request.getfixturevalue(source)

    kept = read_video(source, labels, every=4, report=met.append)
    passed_over = read_video(source, labels, every=4, keep_labelled=False, report=lambda problem: None)

    assert [entry.index for entry in kept.entries] == [0, 4, 5, 8]
    assert boxes(kept) == [[], [], [], None]
    assert met == []
    assert [entry.index for entry in passed_over.entries] == [0, 4, 8]


def test_without_labels_the_classes_must_be_named(folder):
    found = read_video(folder, classes=["cup"])

    assert found.classes == ("cup",)
    assert all(entry.labels is None for entry in found.entries)
    with pytest.raises(InvalidConfig, match="classes: needed"):
        read_video(folder)


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ({"file_name": "f99.png"}, "image 1: 'f99.png' is not among the 12 frames"),
        ({"file_name": None}, "image 1: '' is not among"),
        ({"file_name": "f3.png", "height": 61, "width": 80}, "it is 80 x 60 pixels large, but its record says 80 x 61"),
        ({"file_name": "f3.png", "height": "60", "width": 80}, "should be pixels"),
    ],
)
def test_labels_that_fit_no_frame_are_told(folder, a_label_file, met, image, said):
    labels = a_label_file([{"id": 1, **image}])

    with pytest.raises(InvalidData, match=rf"labels\.json, .*{said}"):
        read_video(folder, labels)
    assert len(read_video(folder, labels, report=met.append).entries) == 12
    assert len(met) == 1


@pytest.mark.parametrize("name", ["film_000003.jpg", "film_3", "other_000003", "3", "film_000003_1", None])
def test_a_name_that_does_not_say_the_frame_of_a_film_is_an_error_in_every_run(film, a_label_file, met, name):
    labels = a_label_file([{"id": 1, "file_name": name}])

    with pytest.raises(InvalidData, match=r"image 1: .* does not say which frame of film\.mp4 .*Rename it"):
        read_video(film, labels)
    read_video(film, labels, report=met.append)

    assert [one.fatal for one in met] == [True]


def test_a_number_beyond_the_film_is_told(film, a_label_file):
    with pytest.raises(InvalidData, match="image 1: it labels frame 12, which is not among the 12"):
        read_video(film, a_label_file([{"id": 1, "frame_id": 12}]))


def test_a_frame_that_is_labelled_twice_is_told(folder, a_label_file, met):
    images = [{"id": 1, "file_name": "f3.png"}, {"id": 2, "file_name": "f3.png"}]

    with pytest.raises(InvalidData, match="image 2: it labels frame 2, as image 1 does"):
        read_video(folder, a_label_file(images))
    assert [
        entry.id for entry in read_video(folder, a_label_file(images), report=met.append).entries if entry.broken
    ] == [2]


def test_a_photo_is_as_large_as_it_is_shown(folder, a_label_file):
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (80, 60)).save(folder / "f3.png", exif=turned)
    shown, stored = ({"id": 1, "file_name": "f3.png", "height": high, "width": 140 - high} for high in (80, 60))

    found = read_video(folder, a_label_file([shown]))

    assert found.entries[2].size == (80, 60)
    with pytest.raises(
        InvalidData, match=r"f3\.png: it is 60 x 80 pixels large once it is turned .*EXIF orientation 6"
    ):
        read_video(folder, a_label_file([stored]))


def test_a_link_to_elsewhere_costs_its_frame_with_labels_and_without(folder, tmp_path, a_picture, a_label_file, met):
    outside = a_picture(tmp_path / "elsewhere" / "a.png")
    for name in ("f3.png", "f4.png"):
        (folder / name).unlink()
        (folder / name).symlink_to(outside)
    labels = a_label_file([{"id": 1, "file_name": "f3.png"}])

    found = read_video(folder, labels, report=met.append)

    assert [(entry.id, entry.labels is None) for entry in found.entries if entry.broken] == [(2, False), (3, True)]
    assert [one.kind for one in met] == ["path", "path"]


def test_a_damaged_picture_that_is_labelled_costs_its_frame(folder, a_label_file, met):
    (folder / "f3.png").write_bytes(b"")
    labels = a_label_file([{"id": 1, "file_name": "f3.png"}])

    with pytest.raises(InvalidData, match=r"image 1: .*f3\.png: the file is empty"):
        read_video(folder, labels)
    assert [entry.id for entry in read_video(folder, labels, report=met.append).entries if entry.broken] == [2]


def test_a_source_without_frames_is_told(tmp_path):
    with pytest.raises(InvalidData, match="none: no such file or folder"):
        read_video(tmp_path / "none", classes=["a"])
    with pytest.raises(InvalidData, match="holds no images"):
        read_video(tmp_path, classes=["a"])
    (tmp_path / "film.mp4").write_bytes(b"no film")
    with pytest.raises(InvalidData, match=r"film\.mp4 is not a readable video"):
        read_video(tmp_path / "film.mp4", classes=["a"])


TRACKS = """<annotations>
  <meta><task><labels><label><name>mug</name></label><label><name>book</name></label></labels>
    <original_size><width>80</width><height>60</height></original_size></task></meta>
  <track id="4" label="book">
    <box frame="3" outside="0" keyframe="1" xtl="1" ytl="2" xbr="3" ybr="4"/>
    <box frame="4" outside="1" keyframe="1" xtl="1" ytl="2" xbr="3" ybr="4"/>
  </track>
</annotations>"""


@pytest.mark.parametrize("source", ["film", "folder"])
def test_tracks_of_cvat_label_frames_by_number(request, source, tmp_path, boxes):
    (tmp_path / "tracks.xml").write_text(TRACKS)
    source = request.getfixturevalue(source)
    if source.is_dir():
        for file in source.glob("*.png"):
            file.rename(source / f"frame_{int(file.stem[1:]) - 1:06}.png")

    found = read_video(source, tmp_path / "tracks.xml")

    assert found.classes == ("mug", "book")
    assert boxes(found) == [None, None, None, [("book", 1, 2, 3, 4)], [], *[None] * 7]
    assert found.entries[3].instances == ((source.stem, "4"),)


def a_task(image, *labels):
    value = {"x": 25, "y": 50, "width": 12.5, "height": 10}
    sides = {"original_width": 80, "original_height": 60}
    results = [{"type": "rectanglelabels", **sides, "value": {**value, "rectanglelabels": [label]}} for label in labels]
    return {"data": {"image": image}, "annotations": [{"result": results}]}


def test_tasks_of_label_studio_label_frames_by_the_end_of_their_names(folder, tmp_path, a_json, boxes):
    tasks = [a_task("/data/upload/1/2f0a1b3c-f2.png", "mug"), a_task("/data/upload/1/99aa-f12.png")]

    found = read_video(folder, a_json(tmp_path / "tasks.json", tasks))

    assert boxes(found) == [None, [("mug", 20, 30, 30, 36)], *[None] * 9, []]


def test_classes_that_nobody_has_labelled_yet_can_be_named_where_files_have_no_list(folder, tmp_path, a_json, boxes):
    labels = a_json(tmp_path / "tasks.json", [a_task("f1.png", "mug", "jar")])

    found = read_video(folder, labels, classes=("book", "mug"))

    assert found.classes == ("book", "mug")
    assert boxes(found)[0] == [("mug", 20, 30, 30, 36)]


def test_names_that_a_tool_may_have_counted_from_1_do_not_label_a_film(film, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "classes.txt").write_text("mug")
    (tmp_path / "set" / "film_000003.txt").write_text("0 0.5 0.5 0.1 0.1")

    with pytest.raises(
        InvalidData, match="'film_000003.txt' does not say which frame of film.mp4.*give the folder of pictures"
    ):
        read_video(film, tmp_path / "set")


def test_labels_for_more_frames_than_there_are_are_told_once_and_stop_nobody(folder, a_label_file, met):
    labels = a_label_file([{"id": number, "file_name": f"f{number}.png"} for number in range(1, 100)])

    found = read_video(folder, labels, report=met.append)

    assert sum(entry.labels is not None for entry in found.entries) == 12
    assert [(one.kind, one.breaks) for one in met] == [("stray annotation", False)]
    assert met[0].what.startswith("12 of 99 labelled images were found in")
    assert "87 were not: f13.png, f14.png and 85 more. The first one: 'f13.png' is not among the 12" in met[0].what


def test_labels_of_another_video_are_an_error_in_every_run(folder, a_label_file, met):
    labels = a_label_file([{"id": number, "file_name": f"g{number}.png"} for number in range(3)])

    read_video(folder, labels, report=met.append)

    assert [(one.fatal, "0 of 3 labelled images were found" in one.what) for one in met] == [(True, True)]


def a_film(path, frames=12):
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 80, 60, "yuv420p"
        for number in range(frames):
            image = np.full((60, 80, 3), number * 20, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return path


def a_yolo(folder, *names):
    """A set without a list of classes, each file with one object of class 0."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("0 0.5 0.5 0.1 0.1\n")
    return folder


def labelled(recording):
    return [(entry.id, entry.video, entry.index) for entry in recording.entries if entry.labels is not None]


def test_several_videos_are_one_stream_in_the_order_given(tmp_path, film, a_label_file):
    garage = a_film(tmp_path / "garage.mp4", frames=3)
    labels = a_label_file([{"id": 1, "file_name": "film_f000002.jpg"}, {"id": 2, "file_name": "9a-garage_f000002.jpg"}])
    labels.write_text(labels.read_text().replace("9a-", "9a0b1c2d-"))

    found = read_video([garage, film], labels)

    assert [entry.id for entry in found.entries] == list(range(15))
    assert [entry.video for entry in found.entries] == ["garage"] * 3 + ["film"] * 12
    assert labelled(found) == [(2, "garage", 2), (5, "film", 2)]
    assert found.entries[2].picture == garage


def test_each_video_may_have_labels_of_its_own(tmp_path, film, a_json):
    """CVAT counts the frames of each task from 0. Classes of all files are one list."""
    garage = a_film(tmp_path / "garage.mp4", frames=3)
    (tmp_path / "film.xml").write_text(TRACKS)
    (tmp_path / "garage.xml").write_text(TRACKS.replace("mug", "jar").replace('frame="3"', 'frame="0"'))
    (tmp_path / "garage.xml").write_text((tmp_path / "garage.xml").read_text().replace('frame="4"', 'frame="1"'))

    found = read_video([film, garage], [tmp_path / "film.xml", tmp_path / "garage.xml"])
    half = read_video([film, garage], [None, tmp_path / "garage.xml"])

    assert found.classes == ("mug", "book", "jar")
    assert labelled(found) == [(3, "film", 3), (4, "film", 4), (12, "garage", 0), (13, "garage", 1)]
    assert labelled(half) == [(12, "garage", 0), (13, "garage", 1)]
    with pytest.raises(InvalidConfig, match="labels: 1 files for 2 videos. Give one for each video"):
        read_video([film, garage], [tmp_path / "film.xml"])


@pytest.mark.parametrize("name", ["frame_000002.PNG", "f000002", "other_f000002.jpg", "film_000002.jpg"])
def test_a_name_that_may_be_of_any_of_several_videos_labels_none(tmp_path, film, a_label_file, met, name):
    garage = a_film(tmp_path / "garage.mp4", frames=3)
    labels = a_label_file([{"id": 1, "file_name": name}, {"id": 2, "file_name": "film_f000001.jpg"}])

    found = read_video([film, garage], labels, report=met.append)

    assert labelled(found) == [(1, "film", 1)]
    assert [(one.kind, one.breaks) for one in met] == [("stray annotation", False)]
    assert f"1 was not: {name}." in met[0].what
    assert "Put the name of the video before its own" in met[0].what


def test_a_coco_file_may_name_the_video_of_a_frame_number(tmp_path, film, a_json):
    garage = a_film(tmp_path / "garage.mp4", frames=3)
    images = [{"id": number, "file_name": "x", "video_id": number, "frame_id": 2} for number in (1, 2)]
    videos = [{"id": 1, "name": "garage"}, {"id": 2, "name": "film"}]
    labels = a_json(tmp_path / "labels.json", {"categories": CATEGORIES, "images": images, "videos": videos})

    assert labelled(read_video([film, garage], labels)) == [(2, "film", 2), (14, "garage", 2)]
    # Labels of another video are not those of this one, whatever their number.
    assert labelled(read_video(film, labels, report=lambda problem: None)) == [(2, "film", 2)]


def test_two_videos_of_one_name_are_told(tmp_path, film):
    other = a_film(tmp_path / "day 2" / "FILM.mp4", frames=2)

    with pytest.raises(InvalidData, match=r"film\.mp4 and .*FILM\.mp4 have the same name\. Rename one"):
        read_video([film, other], classes=["mug"])


def test_a_number_that_may_be_counted_from_1_is_taken_from_0_and_told_once(film, tmp_path, met):
    files = a_yolo(tmp_path / "set", "labels/train/frame_000003.txt", "labels/train/frame_000005.txt")

    found = read_video(film, files, classes=["mug"], report=met.append)
    counted = read_video(film, files, classes=["mug"], frame_names="frame_{number_from_1}", report=met.append)

    assert labelled(found) == [(3, "film", 3), (5, "film", 5)]
    assert labelled(counted) == [(2, "film", 2), (4, "film", 4)]
    assert [(one.kind, one.breaks) for one in met] == [("frame number", False)]
    assert "2 images with a name such as 'train/frame_000003.txt'" in met[0].what


def test_names_as_cvat_writes_them_leave_no_doubt(film, a_label_file, met):
    labels = a_label_file([{"id": 1, "file_name": "frame_000003.PNG"}])

    assert labelled(read_video(film, labels, report=met.append)) == [(3, "film", 3)]
    assert met == []


def test_frame_names_go_with_video_files_only(folder):
    with pytest.raises(InvalidConfig, match="frame_names goes with video files"):
        read_video(folder, classes=["mug"], frame_names="{number}")


def test_classes_without_a_list_are_named_in_the_order_of_their_numbers(film, tmp_path, boxes):
    files = a_yolo(tmp_path / "set", "labels/train/film_f000003.txt")

    assert boxes(read_video(film, files, classes=["mug", "book"]))[3] == [("mug", 36, 27, 44, 33)]
    with pytest.raises(InvalidConfig, match="classes: needed, because .*set has no list of them in data.yaml"):
        read_video(film, files)


def test_a_frame_of_another_video_is_told_as_one(film, a_label_file):
    with pytest.raises(InvalidData, match=r"'other_f000003.jpg' is a frame of another video than film\.mp4"):
        read_video(film, a_label_file([{"id": 1, "file_name": "other_f000003.jpg"}]))
    with pytest.raises(
        InvalidData, match=r"'film_f000003.jpg' is no name of a frame of film\.mp4, as frame_names says"
    ):
        read_video(film, a_label_file([{"id": 1, "file_name": "film_f000003.jpg"}]), frame_names="shot{number}")


def test_a_frame_that_is_listed_and_not_labelled_is_passed_over(film, a_label_file):
    images = [{"id": number, "frame_id": number, "file_name": "x", "labelled": number == 5} for number in range(12)]

    found = read_video(film, a_label_file(images), every=4)

    assert [entry.index for entry in found.entries] == [0, 4, 5, 8]
    assert labelled(found) == [(2, "film", 5)]
