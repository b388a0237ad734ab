"""A sink of your own: a CSV file with one line for each evaluation.

PYTHONPATH=examples leocod run --set "sinks=[console, jsonl, own_sink:ApCsv]"
"""

from __future__ import annotations

from typing import ClassVar

from leocod import BaseSink, Evaluated, Event, RunInfo, SinkOptions


class ApCsvOptions(SinkOptions):
    """Options of the CSV file."""

    file: str = "ap.csv"
    """Its name in the run directory."""


class ApCsv(BaseSink):
    """Writes the mean AP after each evaluation to a CSV file, with the class that is worst."""

    Options: ClassVar[type[SinkOptions]] = ApCsvOptions
    options: ApCsvOptions

    def __init__(self, options: ApCsvOptions | None = None, *, run: RunInfo) -> None:
        super().__init__(options, run=run)
        self.path = run.directory.path / self.options.file

    def __call__(self, event: Event) -> None:
        if isinstance(event, Evaluated):
            known = {name: ap for name, ap in event.ap_by_class.items() if ap is not None}
            lines = self.path.read_text().splitlines() if self.path.exists() else ["steps,ap,worst class"]
            # Steps are counted from 0, and -1 is before the first one.
            learnt = event.step + 1
            # A resumed run tells the evaluations after its checkpoint again.
            lines = [line for line in lines if line.split(",")[0] != str(learnt)]
            worst, mean = min(known, key=lambda name: known[name]), sum(known.values()) / len(known)
            self.path.write_text("\n".join([*lines, f"{learnt},{mean:.4f},{worst}"]) + "\n")
