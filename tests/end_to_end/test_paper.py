"""`leocod paper` as a user has it: started, killed, started again. soak/paper_tables.py is the long form."""

import random
import subprocess
from pathlib import Path

import pytest
from paper_tables import build_command, read_tables, run_with_kills


@pytest.mark.slow
def test_a_table_that_was_killed_again_and_again_is_the_same_in_the_end(tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    subprocess.run(build_command(undisturbed), check=True, capture_output=True)

    kills = run_with_kills(killed, tmp_path / "log", random.Random(1), longest=20, most=2)

    assert kills
    assert read_tables(killed) == read_tables(undisturbed)
