from pathlib import Path

from leocod.paper.sheets import format_csv, read_csv


def test_lines_are_read_back_as_text_without_empty_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(format_csv([{"run": "a, b", "fap": 0.1}, {"run": "c", "fap": None}]))

    assert read_csv(tmp_path / "a.csv") == [{"run": "a, b", "fap": "0.1"}, {"run": "c"}]


def test_without_lines_there_is_only_a_header() -> None:
    assert format_csv([]) == "run\n"
