"""What each command of the page does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from leocod.live.corrections import Corrections
from leocod.live.drawn import DrawnObject
from leocod.live.exports import export_detector
from leocod.live.messages import (
    AnyCommand,
    ExportCommand,
    FrameCommand,
    LabelCommand,
    MergeCommand,
    PinCommand,
    PlainCommand,
    RenameCommand,
    UndoCommand,
)
from leocod.live.service import LiveService


async def run_command(service: LiveService, command: AnyCommand) -> dict[str, Any]:
    """Do what the page asks for. Returns what the answer holds beside `ok`; an error says why it was not done."""
    session = service.session
    corrections = Corrections(session)
    match command:
        case LabelCommand():
            objects = [DrawnObject(one.box, one.name) for one in command.objects]
            number = await asyncio.to_thread(
                session.label,
                command.frame,
                objects,
                complete=command.complete,
                seconds=command.seconds,
                key=command.key,
            )
            return {"label": number}
        case FrameCommand(type="skip"):
            await asyncio.to_thread(session.skip, command.frame)
        case FrameCommand():
            await _wait(service, lambda: corrections.forget(command.frame))
        case PinCommand():
            await _wait(service, lambda: corrections.pin(command.frame, pinned=command.pinned))
        case UndoCommand():
            done = await _wait(service, lambda: corrections.undo(command.label), "Taking back a label")
            service.messages.add("info", done)
            return {"done": done}
        case RenameCommand():
            await _wait(service, lambda: corrections.rename(command.name, command.to))
        case MergeCommand():
            await _wait(service, lambda: corrections.merge(command.name, command.into))
        case PlainCommand(type="checkpoint"):
            path = await _wait(service, session.checkpoint, "Saving")
            service.messages.add("info", f"Saved as {path.name}.")
        case PlainCommand():
            service.pause(command.type == "pause")
        case ExportCommand():
            file = await _wait(service, lambda: export_detector(service, command.format), "Exporting")
            return {"file": file.name}
    return {}


async def _wait(service: LiveService, work: Callable[[], Any], activity: str | None = None) -> Any:
    """Let the learner's thread do it, between two steps."""
    return await asyncio.wrap_future(service.submit(work, activity))
