from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from leocod.data.novelty import Novelty
from leocod.data.profile import BoxSizes, Density, Motion, Profile, Revisits, Start
from leocod.errors import InvalidData
from leocod.paper.profile import StreamProfile, make_profile_table, make_response_table, read_profile
from leocod.paper.responses import Response, Responses


def a_profile(
    stream: str = "walk", responses: Responses | None = None, novelty: Novelty | None = None
) -> StreamProfile:
    figures = Profile(
        steps=2,
        frames=32,
        test_frames=2,
        density=Density(labelled_frames=32, objects_per_frame=3.25, empty_frames=0.25),
        boxes=BoxSizes(lower_quartile=0.1, median=0.2, upper_quartile=0.4),
        revisits=Revisits(classes=3),
        start=Start(classes=1, known=0.5),
        motion=Motion(),
        novelty=novelty,
    )
    return StreamProfile(
        stream=stream, leocod="1", source=None, command=("leocod",), config={}, profile=figures, responses=responses
    )


def responding(ratio: float, key: str = "few") -> Responses:
    row = Response(
        key=key, name=f"{key} labels", labels="25 %", ratio=ratio, lowest=0.1, highest=0.9, runs=2, paper={"oak": 0.93}
    )
    return Responses(baseline="iCaRL", fap=30.5, paper_fap={"oak": 36.14}, rows=(row,))


def printed(table: Table | None) -> dict[str, list[str]]:
    """The cells of each row by its name; columns are two spaces apart at least."""
    assert table is not None
    console = Console(width=300, no_color=True)
    with console.capture() as capture:
        console.print(table)
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in capture.get().splitlines()]
    return {name: cells for name, *cells in lines}


def test_a_profile_that_was_written_is_read_back(tmp_path: Path) -> None:
    made = a_profile(responses=responding(0.5), novelty=Novelty(instances=7))
    file = tmp_path / "walk.json"
    file.write_text(json.dumps(made.model_dump(mode="json")))

    assert read_profile(file) == made


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"stream": "walk", ', "cannot be read"),
        ("[1, 2]", "it is not a profile"),
        ("{}", "is not a profile of this version"),
        ('{"stream": "walk", "stpes": 3}', "is not a profile of this version"),
    ],
)
def test_a_damaged_profile_is_refused_with_its_name_and_the_cure(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "walk.json"
    file.write_text(content)

    with pytest.raises(InvalidData, match=f"walk.json .*{message}|walk.json {message}") as refusal:
        read_profile(file)

    assert "leocod show TARGET --profile --out FILE.json" in str(refusal.value)


def test_streams_stand_side_by_side_and_what_is_not_known_is_a_dash() -> None:
    rows = printed(make_profile_table([a_profile("[b]walk"), a_profile("other", novelty=Novelty(instances=7))]))

    assert rows["[b]walk"] == ["other"]
    assert rows["objects a frame"] == ["3.2", "3.2"]
    assert rows["frames without any object"] == ["25 %", "25 %"]
    assert rows["quartiles"] == ["10 to 40 %"] * 2
    assert rows["instances"] == ["–", "7"]


def test_responses_stand_beside_those_of_the_paper() -> None:
    rows = printed(make_response_table([a_profile(responses=responding(0.5)), a_profile("other")]))

    assert rows["FAP of iCaRL"] == ["30.5", "–", "36.1", "–"]
    assert rows["few labels"] == ["0.50 (0.10–0.90)", "–", "0.93", "–"]


def test_a_response_that_only_another_stream_has_is_shown() -> None:
    streams = [a_profile(responses=responding(0.5)), a_profile("other", responding(0.7, key="many"))]

    assert list(printed(make_response_table(streams)))[-2:] == ["few labels", "many labels"]


def test_there_is_no_table_of_responses_where_nothing_was_run() -> None:
    assert make_response_table([a_profile()]) is None


def test_three_streams_fit_on_a_narrow_terminal() -> None:
    novelty = Novelty(instances=1234, seen_in_step=0.5, never_labelled=0.25, seen_before=0.1)
    streams = [a_profile(name, novelty=novelty) for name in ("first", "second", "third")]
    wide, narrow = (Console(width=width, no_color=True) for width in (300, 80))

    for console in (wide, narrow):
        console.begin_capture()
        console.print(make_profile_table(streams))

    assert narrow.end_capture().count("\n") == wide.end_capture().count("\n")
