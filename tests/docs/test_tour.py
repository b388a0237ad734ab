"""The commands of the tour, as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ leocod (.*)\n((?:(?!\$|```).+\n)*)", TOUR, flags=re.MULTILINE)
"""Each command, and what the tour says that it prints."""
WAITS_FOR_A_PERSON = "live"


@pytest.mark.slow
def test_every_command_of_the_tour_works_in_the_order_of_the_tour(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    for command, printed in COMMANDS:
        if command != WAITS_FOR_A_PERSON:
            call = [sys.executable, "-m", "leocod", *shlex.split(command)]
            done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            # Another processor may give other last digits.
            assert hide_digits(printed) in hide_digits(done.stdout)

    made = [
        "show.png",
        "runs/tour/report.html",
        "runs/bare/report.html",
        "report.html",
        "found",
        "runs/tour/detector.onnx",
    ]
    assert [file for file in made if not (tmp_path / file).exists()] == []


def hide_digits(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?(e-\d+)?", "0", text)


def test_the_tour_shows_its_pictures() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TOUR)

    assert len(pictures) >= 4
    assert [picture for picture in pictures if not (ROOT / "docs" / picture).is_file()] == []
