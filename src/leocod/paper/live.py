"""The table while it is being run: figures as they come, what runs at the moment, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from leocod.paper.cells import Cell
from leocod.paper.outcome import Outcome
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended
from leocod.paper.table import METRICS, Table
from leocod.paper.writing import ARROWS, NAMES, Figure, lines
from leocod.report.page import format_duration
from leocod.text import one_line

Left = Callable[[Sequence[Cell]], float | None]


class LiveTable:
    """Follows the cells of a plan on a terminal; elsewhere it says a line for each that has ended."""

    def __init__(self, plan: Plan, todo: Iterable[Cell], console: Console, left: Left) -> None:
        """`left`: seconds until these cells are done, as far as one can tell."""
        self.plan = plan
        self.todo = {cell.name: cell for cell in todo}
        self.console = console
        self.left = left
        self.failures: dict[str, str] = {}
        self._asked = len(self.todo)
        self._outcome: Outcome | None = None

    def follow(self, told: Iterable[Ended | None]) -> None:
        """Until there is no more to tell."""
        with Live(self._shown(), console=self.console, auto_refresh=False, transient=True) as live:
            for one in told:
                if one is not None:
                    self._note(one)
                if self.console.is_terminal:
                    live.update(self._shown(), refresh=True)

    def _note(self, ended: Ended) -> None:
        self.todo.pop(ended.cell.name)
        self._outcome = None
        if ended.failure is not None:
            self.failures[ended.cell.name] = ended.failure
        count = f"{self._asked - len(self.todo)} of {self._asked}"
        said = f"failed: {ended.failure}" if ended.failure else f"finished ({count}, {self._time_left()})"
        self.console.print(Text(one_line(f"{ended.cell.name}: {said}")), soft_wrap=True)

    def _time_left(self) -> str:
        seconds = self.left(list(self.todo.values()))
        return "time left not known yet" if seconds is None else f"{format_duration(seconds)} left"

    def _shown(self) -> Group:
        """How long it will take, what has begun, and the first table that is not complete."""
        if self._outcome is None:
            outcomes = [Outcome.of(self.plan, table) for table in self.plan.tables]
            self._outcome = next((one for one in outcomes if not one.complete), outcomes[-1])
        # A terminal that is too low cuts off what is below.
        return Group(Text(self._time_left()), *self._running(), table_grid(self._outcome))

    def _running(self) -> list[Text]:
        begun = [(cell, *cell.steps_done) for cell in self.todo.values() if cell.directory.config.exists()]
        return [Text(f"{cell.name}: step {done} of {total}" if total else cell.name) for cell, done, total in begun]


def table_grid(outcome: Outcome) -> Grid:
    """A table for the terminal: ours, and how many runs each row has."""
    grid = Grid(title=_title(outcome.table), title_justify="left", header_style="bold")
    grid.add_column("")
    grid.add_column("labels", justify="right")
    for metric in METRICS:
        grid.add_column(f"{NAMES[metric]} {ARROWS[metric]}", justify="right")
    grid.add_column("runs", justify="right")
    for line in lines(outcome):
        name = f"  {line.row.name}" if line.row.over else line.row.name
        grid.add_row(Text(name), line.row.cost, *map(_coloured, line.ours), line.runs)
    return grid


def verdict_lines(outcome: Outcome) -> list[Text]:
    """Each claim of the paper with what came of it."""
    colours: dict[str, Any] = {"holds": "green", "does not hold": "red"}
    return [
        Text.assemble((f"{verdict.word}: ", colours.get(verdict.word, "")), verdict.claim.says)
        for verdict in outcome.verdicts()
    ]


def _title(table: Table) -> str:
    return f"{table.title} ({table.in_paper})"


def _coloured(figure: Figure) -> Text:
    text = Text(figure.text)
    return text.append(f" {figure.change}", {"better": "green", "worse": "red"}.get(figure.verdict, ""))
