"""An XML parser for plain data. No document types, and so no entities; limited in depth and number of elements.

Python's own expat does the work. `defusedxml` refuses the same declarations, but limits neither depth nor number: with
it we would need these handlers all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from leocod.files.strict_yaml import DEEPEST

MOST = 200_000
"""Elements of a file, unless a call has a limit of its own. An object of PASCAL VOC has about ten."""


@dataclass(slots=True)
class Element:
    """One element of an XML file: what stands in it."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    """The text right in it, without blanks at both ends."""
    children: list[Element] = field(default_factory=list)

    def list_children(self, name: str) -> list[Element]:
        """List the children of this name, in order."""
        return [child for child in self.children if child.name == name]

    def find_child(self, name: str) -> Element | None:
        """Return the child of this name; None if there is none. A ValueError: there are several."""
        found = self.list_children(name)
        if len(found) > 1:
            raise ValueError(f"<{self.name}> has {len(found)} times <{name}>: it should have one.")
        return found[0] if found else None

    def find_text(self, name: str) -> str | None:
        """Return the text of the child of this name; None if there is none. A ValueError: there are several."""
        child = self.find_child(name)
        return None if child is None else child.text


def parse_xml(text: str, *, most: int = MOST) -> Element:
    """Return the outermost element of an XML text. A ValueError says in which line it is wrong, and why.

    `most`: elements that are read.
    """
    tree = _Tree(most)
    try:
        # In one piece: expat is slow with a long token that comes in many.
        tree.parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(f"line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}") from error
    return tree.outermost.children[0]


class _Tree:
    """Grows as expat meets tags and text."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.outermost = Element("")
        self._open = [self.outermost]
        self._texts: list[list[str]] = [[]]
        self._count = 0
        # A text is UTF-8 for expat, whatever encoding it declares.
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add_text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) > DEEPEST:
            raise self._make_error(f"more than {DEEPEST} levels within one another")
        if self._count > self.most:
            raise self._make_error(f"more than {self.most} elements")
        element = Element(name, attributes)
        self._open[-1].children.append(element)
        self._open.append(element)
        self._texts.append([])

    def _end(self, name: str) -> None:
        self._open.pop().text = "".join(self._texts.pop()).strip()

    def _add_text(self, text: str) -> None:
        self._texts[-1].append(text)

    def _refuse_doctype(self, *declared: object) -> None:
        # Only here can entities be declared: ten lines of them stand for a billion letters, or for another file.
        raise self._make_error("a document type is declared (<!DOCTYPE ...>). Take it out")

    def _make_error(self, what: str) -> ValueError:
        return ValueError(f"line {self.parser.CurrentLineNumber}: {what}")
