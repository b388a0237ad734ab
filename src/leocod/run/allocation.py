"""Memory that is given back to the system has to be asked for again: a process that learns keeps it."""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""What glibc's malloc.h calls M_TRIM_THRESHOLD and M_MMAP_MAX."""


def keep_memory() -> bool:
    """Let this process keep memory that it has freed, for the next step. Returns whether the C library can do that.

    A step allocates the same tensors as the one before. glibc gives the large ones back as soon as they are freed, and
    the system hands out each of their pages again, cleared: a tenth of the time of a step. In return the process holds,
    between steps, what a step needed; where sizes vary from step to step, it can come to hold more. It is so for the
    whole process, and stays so.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        # Another C library, or another system.
        return False
    never_by_mmap, never_trimmed = mallopt(MMAP_MAX, 0), mallopt(TRIM_THRESHOLD, -1)
    return bool(never_by_mmap and never_trimmed)
