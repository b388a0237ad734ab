"""Keeps freed memory in the process: returned to the system, it would have to be requested again at the next step."""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""What glibc's malloc.h calls M_TRIM_THRESHOLD and M_MMAP_MAX."""


def keep_memory() -> bool:
    """Keep the memory that this process frees, for the next step. Returns whether the C library can do that.

    A step allocates the same tensors as the one before. glibc returns large ones to the system as soon as they are
    freed, and the system clears every page before it gives it out again: a tenth of the time of a step. In return the
    process holds between steps what a step needs, and more where sizes vary from step to step. The setting is for the
    whole process and cannot be undone.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        # Another C library, or another system.
        return False
    never_by_mmap, never_trimmed = mallopt(MMAP_MAX, 0), mallopt(TRIM_THRESHOLD, -1)
    return bool(never_by_mmap and never_trimmed)
