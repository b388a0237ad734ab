"""What the README says is true."""

from __future__ import annotations

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs_and_tells_ap_by_class(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)

    exec(compile(code, "README.md", "exec"), {})

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "5"]
    assert "'mug':" in lines[0]


def test_every_file_that_it_links_to_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", README)

    assert links
    assert [link for link in links if not (Path(__file__).parents[1] / link).exists()] == []
