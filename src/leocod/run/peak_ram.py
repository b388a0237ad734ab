"""How much of the machine's memory a run has taken at most. "Memory" alone means the replay memory, so this is RAM."""

from __future__ import annotations

import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def measure_peak_ram(status: Path = STATUS) -> int | None:
    """Bytes of RAM that this process has held at most since it began; None where the system does not say (Windows).

    Other processes are not counted, such as those that load frames ahead, nor is the memory of a GPU.
    """
    # Linux: `getrusage` also counts the process that started this one, as large as that was at the start.
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return 1024 * int(found[1])
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
