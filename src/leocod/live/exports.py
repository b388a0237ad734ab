"""The detector of a live run as a file for other programs."""

from __future__ import annotations

from pathlib import Path

from leocod.errors import InvalidData
from leocod.export.export import ENDINGS, write_compared
from leocod.export.formats import check_installed, find_format
from leocod.live.service import LiveService

COMPARED = 32
"""Frames that an exported file is compared on."""


def export_detector(service: LiveService, kind: str) -> Path:
    """Save, and export as `leocod export` does: the file is compared with the detector on frames of the run."""
    session = service.session
    known = find_format(kind)
    check_installed(known)
    frames = session.store.list()[-COMPARED:]
    if not frames:
        raise InvalidData("There are no frames yet to compare an exported file on. Try it again in a moment.")
    session.checkpoint()
    out = session.directory.path / f"detector{ENDINGS[known][0]}"
    write_compared(session.directory, known, out, [session.store.read(frame).image() for frame in frames])
    if out not in service.exports:
        service.exports.append(out)
    service.messages.add("info", f"Exported as {out.name}.")
    return out
