"""Everything that can go wrong around a run, done to real runs: is every promise kept?

    python soak/faults.py --only disk --out results/soak

After each fault: no traceback, one line that says what to do, no half-written file under its real name; and once the
cause is gone, `--resume` ends with what an undisturbed run comes to, to the bit.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import disks
import neighbours
import signals
import sources
from trial import Lab, Trial

import leocod
from leocod.run.environment import read_source_state

FAULTS: dict[str, Callable[[Lab], Iterator[Trial]]] = {
    "disk too small": disks.too_small_disks,
    "disk without inodes": disks.no_inodes,
    "disk filled midway": disks.filled_disks,
    "limit on file size": disks.small_files,
    "read-only at the start": disks.read_only_start,
    "read-only midway": disks.read_only_midway,
    "unwritable file": disks.unwritable_files,
    "data vanish": sources.vanishing,
    "data come back": sources.returning,
    "data stay away": sources.out_of_patience,
    "test pictures vanish": sources.missing_test_pictures,
    "picture damaged": sources.damaged_pictures,
    "camera away": sources.cameras_away,
    "camera stalls": sources.stalled,
    "camera ends early": sources.ended_early,
    "camera changes size": sources.resized,
    "SIGTERM": signals.asked_to_terminate,
    "Ctrl-C": signals.asked_by_ctrl_c,
    "asked twice": signals.asked_twice,
    "asked at the end": signals.asked_at_the_report,
    "Ctrl-C with workers": signals.ctrl_c_with_workers,
    "two begin at once": neighbours.both_begin,
    "resumed while it runs": neighbours.resumed_while_it_runs,
    "looked at while it runs": neighbours.looked_at_while_it_runs,
    "lock after SIGKILL": neighbours.killed_lock,
    "checkpoint damaged": neighbours.damaged_checkpoints,
    "file lost": neighbours.lost_files,
    "log cut": neighbours.cut_log,
    "config changed": neighbours.changed_config,
    "clock jumps": neighbours.jumping_clock,
    "odd file dates": neighbours.odd_dates,
}


@dataclass(frozen=True)
class Row:
    """What came of one fault."""

    fault: str
    times: int
    kept: int
    """Times that every promise was kept."""
    seen: dict[str, int]
    wrong: list[str]
    skipped: str | None
    seconds: float

    def __str__(self) -> str:
        verdict = f"SKIPPED: {self.skipped}" if self.skipped else "ok" if self.kept == self.times else "BROKEN"
        said = "; ".join(f"{seen} ({count} x)" if count > 1 else seen for seen, count in self.seen.items())
        return f"| {self.fault} | {self.times} | {self.kept} | {said} | {verdict} |"


def tried(fault: str, lab: Lab) -> Row:
    """All tries of one fault. A mistake of the script's own counts as a broken promise."""
    began = time.monotonic()
    trials: list[Trial] = []
    skipped = None
    try:
        for trial in FAULTS[fault](lab):
            trials.append(trial)
            print(f"{fault}: {trial.seen}{''.join(f' !! {one}' for one in trial.wrong)}", flush=True)
    except disks.NotAllowed as error:
        skipped = str(error)
        print(f"{fault}: SKIPPED, this machine does not allow it: {error}", file=sys.stderr, flush=True)
    except Exception:
        trials.append(Trial("the script failed", [traceback.format_exc()]))
        traceback.print_exc()
    wrong = [f"{trial.seen}: {what}" for trial in trials for what in trial.wrong]
    kept = sum(not trial.wrong for trial in trials)
    seen = dict(Counter(trial.seen for trial in trials))
    return Row(fault, len(trials), kept, seen, wrong, skipped, round(time.monotonic() - began, 1))


def write(file: Path, rows: Sequence[Row]) -> None:
    """What came of each fault, and of which code."""
    about = {
        "command": ["python", "soak/faults.py", *sys.argv[1:]],
        "source": read_source_state(Path(leocod.__file__).parent),
    }
    content = {"faults": [asdict(row) for row in rows], **about}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Try them all, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/soak"), help="where faults.json goes")
    parser.add_argument(
        "--home", type=Path, help="where the runs go; by default a temporary folder, removed at the end"
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="faults whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="each fault a few times only")
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at the same time")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    chosen = [name for name in FAULTS if not options.only or any(one.lower() in name.lower() for one in options.only)]
    if not chosen:
        raise SystemExit(f"No such fault. Known: {', '.join(FAULTS)}.")
    with tempfile.TemporaryDirectory(prefix="leocod-faults-") as folder:
        home = (options.home or Path(folder)).resolve()
        home.mkdir(parents=True, exist_ok=True)
        lab = Lab(home, random.Random(), options.quick)
        # Each fault draws for itself, whatever else goes on.
        labs = [replace(lab, draw=random.Random(f"{options.seed} {fault}")) for fault in chosen]
        rows: list[Row] = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(tried, chosen, labs):
                rows.append(row)
                # After each one: a soak that is broken off has told what it saw.
                write(options.out / "faults.json", rows)
    print("\n| fault | times | kept | seen | |\n| --- | --- | --- | --- | --- |")
    print("\n".join(map(str, rows)))
    if broken := [what for row in rows for what in row.wrong]:
        print("\nBroken promises:\n" + "\n".join(f"- {what}" for what in broken))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
