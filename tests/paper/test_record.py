import csv
import io
import json
from pathlib import Path

import pytest

from leocod.errors import InvalidConfig
from leocod.paper.plan import Plan
from leocod.paper.pseudo_labels import GroupCounts
from leocod.paper.record import RunRecord, format_runs, read_runs

RECORD = RunRecord(
    run="a-run",
    seed=3,
    scores={"fap": 1 / 3, "cap": 20.0},
    labelled_frames=100,
    memory_bytes=5,
    seconds=1.5,
    pseudo_labels=10,
    pseudo_right=7,
    pseudo_objects=20,
    commit="aaaaaaaaaa with changes bbbbbbbbbb",
    threads=2,
    resumed=1,
    command="leocod run 'my file.yaml'",
)


def write(folder: Path, text: str) -> Path:
    file = folder / "runs.csv"
    file.write_text(text)
    return file


def test_what_is_written_is_read_back_to_the_last_digit(tmp_path: Path) -> None:
    bare = RunRecord(run="another", seed=0, scores={})

    found = read_runs(write(tmp_path, format_runs([RECORD, bare])))

    assert found == {"a-run": RECORD, "another": bare}
    assert RECORD.commits == ["aaaaaaaaaa with changes", "bbbbbbbbbb"]


def test_pseudo_labels_by_group_are_columns_where_a_run_has_them(tmp_path: Path) -> None:
    known = GroupCounts(labels=6, right=5, objects=10)
    grouped = RECORD.model_copy(update={"run": "grouped", "pseudo_groups": {"known": known}})

    text = format_runs([RECORD, grouped])

    header = text.splitlines()[0]
    assert header.endswith(",pseudo_labels_known,pseudo_right_known,pseudo_objects_known")
    assert read_runs(write(tmp_path, text)) == {"a-run": RECORD, "grouped": grouped}
    assert "known" not in format_runs([RECORD]).splitlines()[0]


def test_what_labels_took_are_columns_where_a_run_says_it(tmp_path: Path) -> None:
    counted = RECORD.model_copy(update={"run": "counted", "labelled_boxes": 250, "labelling_seconds": 2050.0})

    text = format_runs([RECORD, counted])

    assert read_runs(write(tmp_path, text)) == {"a-run": RECORD, "counted": counted}
    assert "labelled_frames,labelled_boxes,labelling_seconds," in text
    assert "boxes" not in format_runs([RECORD]).splitlines()[0]


def test_the_start_is_a_column_where_a_run_says_it(tmp_path: Path) -> None:
    begun = RECORD.model_copy(update={"run": "begun", "start": "00123e456789"})

    text = format_runs([RECORD, begun])

    assert read_runs(write(tmp_path, text)) == {"a-run": RECORD, "begun": begun}
    assert "start" not in format_runs([RECORD]).splitlines()[0]


def test_the_details_of_runs_are_read_from_the_files_beside(tmp_path: Path) -> None:
    (tmp_path / "classes.csv").write_text("run,class,fap,cap,forgetting\na-run,mug,1.5,2.5,\n")
    (tmp_path / "over-time.csv").write_text("run,steps,ap\na-run,50,3.5\n")

    [record] = read_runs(write(tmp_path, format_runs([RECORD]))).values()

    assert record.by_class == {"fap": {"mug": 1.5}, "cap": {"mug": 2.5}}
    assert record.over_time == {50: 3.5}


def test_a_file_of_an_older_version_is_read(tmp_path: Path) -> None:
    assert read_runs(write(tmp_path, "run,seed,forgetfulness\na,0,1.5\n"))["a"].scores == {"forgetting": 1.5}


def test_without_a_run_there_is_only_a_header(tmp_path: Path) -> None:
    assert format_runs([]) == "run\n"
    assert read_runs(write(tmp_path, "run\n")) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run,seed,note\na,0,by hand\n", "line 2: scores.note is 'by hand'"),
        ("run,fap\na,1.0\n", "line 2: seed: needed"),
        ("run,seed,fap\na,0,1.0\nb,0,high\n", "line 3: scores.fap is 'high'"),
        ("run,seed,fap\na,0,nan\n", "line 2: scores.fap"),
        ("run,seed\na,0,more,than,that\n", "line 2: "),
        ("run,seed,pseudo_labels_new\na,0,3\n", "line 2: pseudo_groups.new.right: needed"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidConfig, match=words):
        read_runs(write(tmp_path, text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidConfig, match=r"No file of runs '.*nowhere.csv'"):
        read_runs(tmp_path / "nowhere.csv")
    (tmp_path / "bytes.csv").write_bytes(b"run\n\xff")
    with pytest.raises(InvalidConfig, match=r"bytes.csv cannot be read as CSV"):
        read_runs(tmp_path / "bytes.csv")
    monkeypatch.setattr("leocod.paper.sheets.LARGEST", 10)
    with pytest.raises(InvalidConfig, match="more than 10 bytes"):
        read_runs(write(tmp_path, format_runs([RECORD])))


def test_a_run_records_its_figures_and_how_right_its_pseudo_labels_were(plan: Plan) -> None:
    for cell in plan.cells[:2]:
        cell.run(threads=1)

    bare, whole = csv.DictReader(io.StringIO(format_runs(cell.record for cell in plan.cells[:2] if cell.record)))

    assert (bare["pseudo_labels"], bare["pseudo_right"], bare["pseudo_objects"]) == ("", "", "")
    assert int(whole["pseudo_objects"]) > 0
    assert float(whole["seconds"]) > 0
    assert (whole["run"], whole["threads"], whole["resumed"]) == (plan.cells[1].name, "1", "0")
    assert whole["command"]


def test_a_run_that_was_resumed_with_other_code_records_both_commits(plan: Plan) -> None:
    cell = plan.cells[0]
    cell.run(threads=1)
    made = json.loads(cell.directory.environment.read_text()) | {"source": {"commit": "a" * 40, "changed": False}}
    cell.directory.environment.write_text(json.dumps(made | {"resumed": [{"source": {"commit": "b" * 40}}]}))

    record = cell.record

    assert record is not None
    assert (record.commits, record.resumed) == (["a" * 10, "b" * 10], 1)


def test_a_run_with_a_damaged_log_and_no_environment_is_recorded_without_them(plan: Plan) -> None:
    cell = plan.cells[0]
    cell.run(threads=1)
    cell.directory.events.write_text("no log")
    cell.directory.environment.write_text("[]")

    record = cell.record

    assert record is not None
    assert (record.run, record.pseudo_labels, record.commit, record.threads) == (cell.name, None, "", None)
    assert "fap" in record.scores
