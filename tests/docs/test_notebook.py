"""The notebook is what its script gives: the same cells, and outputs of theirs."""

import json
import re

import pytest
from notebook import SOURCE, execute, read_cells, write_page

SCRIPT = SOURCE.read_text(encoding="utf-8")
STORED = json.loads(SOURCE.with_suffix(".ipynb").read_text(encoding="utf-8"))


def test_the_stored_notebook_has_the_cells_of_the_script() -> None:
    stored = [(cell["cell_type"], cell["source"]) for cell in STORED["cells"]]

    assert stored == [(cell["cell_type"], cell["source"]) for cell in read_cells(SCRIPT)], "call make notebook"


def test_the_stored_notebook_was_executed_in_one_go_without_an_error() -> None:
    code = [cell for cell in STORED["cells"] if cell["cell_type"] == "code"]

    assert [cell["execution_count"] for cell in code] == list(range(1, 1 + len(code)))
    assert {output["output_type"] for cell in code for output in cell["outputs"]} <= {"stream", "display_data"}


def test_the_page_shows_code_text_and_pictures_in_order() -> None:
    text, pictures = write_page(STORED, "tour")

    assert text.startswith("# The tour in Python")
    assert re.search(r"```\n16 frames arrive, 4 of them with labels\.\n```", text)
    assert re.findall(r"\]\((.+\.png)\)", text) == list(pictures)
    assert len(pictures) == 3
    assert all(data.startswith(b"\x89PNG") for data in pictures.values())


@pytest.mark.slow
def test_the_script_runs_as_a_notebook_in_its_smallest_form() -> None:
    for package in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(package, reason=f"NO {package}: the notebook is not run. pip install 'leocod[docs]'")
    small = SCRIPT.replace("STEPS, EVERY = 40, 8", "STEPS, EVERY = 2, 1")
    assert small != SCRIPT

    notebook = execute(read_cells(small))

    text, pictures = write_page(notebook, "tour")
    assert len(re.findall(r"AP50 \d+\.\d after 2 steps", text)) == 2
    assert len(pictures) == 3
