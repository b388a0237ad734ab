"""What the page may say to the server. Whatever is not of this form is refused before anybody looks at it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Number = Annotated[int, Field(ge=0, lt=2**53)]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Message(BaseModel):
    """Base of all messages: no other keys, no conversion of texts into numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Command(Message):
    """Something to do, which is answered once, under its number."""

    id: Number


class Drawn(Message):
    """A box and what it shows."""

    box: tuple[Coordinate, Coordinate, Coordinate, Coordinate]
    name: Name


class LabelCommand(Command):
    """A label of a frame."""

    type: Literal["label"]
    frame: Number
    objects: Annotated[list[Drawn], Field(max_length=300)]
    complete: bool = True
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 0.0
    key: Annotated[str, Field(max_length=64)] = ""


class FrameCommand(Command):
    """Something to do with a frame."""

    type: Literal["skip", "forget"]
    frame: Number


class PinCommand(Command):
    """Let a frame of the memory stay, or not."""

    type: Literal["pin"]
    frame: Number
    pinned: bool


class UndoCommand(Command):
    """Take back a label; the last one, unless it says which."""

    type: Literal["undo"]
    label: Number | None = None


class RenameCommand(Command):
    """Give a class another name."""

    type: Literal["rename"]
    name: Name
    to: Name


class MergeCommand(Command):
    """Let a class be part of another."""

    type: Literal["merge"]
    name: Name
    into: Name


class PlainCommand(Command):
    """What needs no more words."""

    type: Literal["pause", "resume", "checkpoint"]


class ExportCommand(Command):
    """Write the detector as a file."""

    type: Literal["export"]
    format: Literal["onnx", "torchscript", "safetensors"]


class Shown(Message):
    """The page has drawn a picture and can take the next one. Not answered."""

    type: Literal["shown"]
    picture: Number


AnyCommand = (
    LabelCommand | FrameCommand | PinCommand | UndoCommand | RenameCommand | MergeCommand | PlainCommand | ExportCommand
)

PAGE_MESSAGE: TypeAdapter[AnyCommand | Shown] = TypeAdapter(Annotated[AnyCommand | Shown, Field(discriminator="type")])
