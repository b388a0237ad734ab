"""The table while it is being run: its figures so far, the running cells, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from leocod.paper.cells import Cell
from leocod.paper.columns import find_column
from leocod.paper.display import Figure, build_lines
from leocod.paper.outcome import Outcome
from leocod.paper.plan import Plan
from leocod.paper.processes import Ended
from leocod.paper.table import Table
from leocod.report.page import format_duration
from leocod.text import one_line

TimeLeft = Callable[[Sequence[Cell]], float | None]


class LiveTable:
    """Follows the cells of a plan. On a terminal it shows the table; elsewhere it prints a line for each ended cell."""

    def __init__(self, plan: Plan, todo: Iterable[Cell], console: Console, time_left: TimeLeft) -> None:
        """`time_left`: seconds until these cells have finished, where that is known."""
        self.plan = plan
        self.todo = {cell.name: cell for cell in todo}
        self.console = console
        self.time_left = time_left
        self.failures: dict[str, str] = {}
        self._total = len(self.todo)
        self._outcome: Outcome | None = None

    def follow(self, progress: Iterable[Ended | None]) -> None:
        """Show the progress until it ends."""
        with Live(self._render(), console=self.console, auto_refresh=False, transient=True) as live:
            for ended in progress:
                if ended is not None:
                    self._report(ended)
                if self.console.is_terminal:
                    live.update(self._render(), refresh=True)

    def _report(self, ended: Ended) -> None:
        self.todo.pop(ended.cell.name)
        self._outcome = None
        if ended.failure is not None:
            self.failures[ended.cell.name] = ended.failure
        count = f"{self._total - len(self.todo)} of {self._total}"
        text = f"failed: {ended.failure}" if ended.failure else f"finished ({count}, {self._format_time_left()})"
        self.console.print(Text(one_line(f"{ended.cell.name}: {text}")), soft_wrap=True)

    def _format_time_left(self) -> str:
        seconds = self.time_left(list(self.todo.values()))
        return "time left not known yet" if seconds is None else f"{format_duration(seconds)} left"

    def _render(self) -> Group:
        """The time left, the running cells, and the first table that still has a cell to run."""
        if self._outcome is None:
            shown = next(filter(self._is_running, self.plan.tables), self.plan.tables[-1])
            self._outcome = Outcome.read(self.plan, shown)
        # A low terminal cuts off the end.
        return Group(Text(self._format_time_left()), *self._list_running(), build_grid(self._outcome))

    def _is_running(self, table: Table) -> bool:
        return any(cell.name in self.todo for row in table.rows for cell in self.plan.cells_of(table, row))

    def _list_running(self) -> list[Text]:
        begun = [(cell, *cell.steps_done) for cell in self.todo.values() if cell.directory.config.exists()]
        return [Text(f"{cell.name}: step {done} of {total}" if total else cell.name) for cell, done, total in begun]


def build_grid(outcome: Outcome) -> Grid:
    """A table for the terminal: our figures, and how many runs each row has."""
    table = outcome.table
    title = f"{table.title} ({table.in_paper})" if table.in_paper else table.title
    grid = Grid(title=title, title_justify="left", header_style="bold")
    grid.add_column("")
    for heading in ("labels", *(find_column(metric).heading for metric in table.metrics), "runs"):
        grid.add_column(heading, justify="right")
    for line in build_lines(outcome):
        name = f"  {line.row.title}" if line.row.over else line.row.title
        grid.add_row(Text(name), line.row.cost, *map(_colour, line.ours), line.runs)
    return grid


def list_verdicts(outcome: Outcome) -> list[Text]:
    """A line for each claim with its verdict."""
    colours: dict[str, Any] = {"holds": "green", "does not hold": "red"}
    return [
        Text.assemble((f"{verdict.word}: ", colours.get(verdict.word, "")), verdict.claim.text)
        for verdict in outcome.judge_claims()
    ]


def _colour(figure: Figure) -> Text:
    text = Text(figure.text)
    return text.append(f" {figure.change}", {"better": "green", "worse": "red"}.get(figure.verdict, ""))
