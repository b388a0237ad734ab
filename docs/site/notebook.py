"""The notebook: made from a script, executed, and shown as a page of the site.

python docs/site/notebook.py     writes docs/tour-in-python.ipynb, with its outputs

A cell of the script begins at a line `# %%`; after `# %% [markdown]` its lines are comments.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "tour-in-python.py"
MARKDOWN = " [markdown]"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def read_cells(script: str) -> list[dict[str, Any]]:
    """The cells of a script, not yet executed."""
    _, *parts = re.split(r"^# %%", script, flags=re.MULTILINE)
    return [_make_cell(number, *part.split("\n", 1)) for number, part in enumerate(parts)]


def _make_cell(number: int, kind: str, lines: str) -> dict[str, Any]:
    # A name that is the same at each call, so that a new notebook differs by what came out.
    cell = {"id": f"cell-{number}", "metadata": {}, "source": lines.strip()}
    if kind == MARKDOWN:
        text = re.sub(r"^# ?", "", cell["source"], flags=re.MULTILINE)
        return cell | {"cell_type": "markdown", "source": text}
    return cell | {"cell_type": "code", "execution_count": None, "outputs": []}


def execute(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Run all cells in order, in a kernel of its own. The first error ends it. Returns the notebook."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.from_dict({"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5})
    NotebookClient(notebook, timeout=None, kernel_name="python3", record_timing=False).execute()
    # Not the version of the Python that happened to run it.
    notebook.metadata = KERNEL
    nbformat.validate(notebook)
    return dict(notebook)


def write_page(notebook: dict[str, Any], stem: str) -> tuple[str, dict[str, bytes]]:
    """The notebook as Markdown, and its pictures by file name."""
    parts, pictures = [], {}
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{stem}-{number}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![What the cell above draws]({name})")
            else:
                text = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def main() -> None:
    """Make the notebook of the tour, with its outputs."""
    notebook = execute(read_cells(SOURCE.read_text(encoding="utf-8")))
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    SOURCE.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
