"""XML as a tree of elements that know where they stand.

Entities cannot be declared: a small file could otherwise grow without limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NoReturn
from xml.parsers import expat

from bayesmend.errors import DataError
from bayesmend.formats.text import Source

__all__ = ["Element", "escape", "parse_markup"]

MAX_DEPTH = 100


@dataclass(slots=True)
class Element:
    """An element; its tag is in lower case and without a namespace prefix."""

    tag: str
    attributes: dict[str, str]
    where: int
    children: "list[Element]" = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the element itself, without blanks around it.

        With ``xml:space="preserve"`` the blanks stay.
        """
        text = "".join(self.pieces)
        return text if self.attributes.get("xml:space") == "preserve" else text.strip()

    def all(self, tag: str) -> "Iterator[Element]":
        """Iterate over the children of a kind."""
        return (child for child in self.children if child.tag == tag)


def parse_markup(text: str, name: str) -> tuple[Source, Element]:
    """Parse XML; the source returned is the text in which offsets count."""
    source = Source(text.replace("\r\n", "\n").replace("\r", "\n"), name)
    return source, _Builder(source).build()


def escape(text: str) -> str:
    """Write text so that it survives as the content or an attribute of an element."""
    for character in text:
        if not _is_allowed(character):
            msg = f"{text!r} cannot be written as XML: it has {character!r}."
            raise DataError(msg)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for character in '"\t\n\r':
        text = text.replace(character, f"&#{ord(character)};")
    return text


def _is_allowed(character: str) -> bool:
    code = ord(character)
    return (
        code in (9, 10, 13)
        or 32 <= code < 0xD800
        or 0xE000 <= code < 0xFFFE
        or (code >= 0x10000)
    )


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.root = Element("", {}, 0)
        self.stack = [self.root]
        lines = source.text.split("\n")
        self.line_starts = list(accumulate((len(x) + 1 for x in lines), initial=0))

    def build(self) -> Element:
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.add_text
        parser.EntityDeclHandler = self.refuse_entity
        try:
            parser.Parse(self.source.text.encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            msg = f"not valid XML: {expat.ErrorString(error.code)}."
            where = self.offset(error.lineno, error.offset)
            self.source.fail(msg, where)
        return self.root.children[0]

    def offset(self, line: int, column: int) -> int:
        return self.line_starts[line - 1] + column

    def here(self) -> int:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        return self.offset(line, column)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.stack) > MAX_DEPTH:
            msg = f"elements are nested more than {MAX_DEPTH} deep."
            self.source.fail(msg, self.here())
        tag = tag.rpartition(":")[2].lower()
        element = Element(tag, attributes, self.here())
        self.stack[-1].children.append(element)
        self.stack.append(element)

    def end(self, _tag: str) -> None:
        self.stack.pop()

    def add_text(self, text: str) -> None:
        self.stack[-1].pieces.append(text)

    def refuse_entity(self, name: str, *_: object) -> NoReturn:
        msg = f"this file declares an entity ({name!r}), which is not allowed."
        self.source.fail(msg, self.here())
