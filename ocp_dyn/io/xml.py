"""XML files of models, read once for all formats: elements with their lines, and nothing that a hostile file can do.

A document type declaration is refused, because it can declare entities that expand without end or read other files. So
are files that are too large, nested too deep or made of too many elements, and texts that are not in their encoding.
Files that name others reach only files in the folder of the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from .._base.types import ModelError, repr_in_message

MOST_BYTES = 200_000_000
MOST_ELEMENTS = 1_000_000
MOST_DEPTH = 200
"""Size [bytes], number of elements and depth beyond which a file is refused: no model needs as much."""
MOST_TEXT = 50_000_000
"""Characters of the longest text of one element."""
ROOT_TAG = re.compile(rb"<([A-Za-z_][\w.:-]*)")
"""The first tag of a document in an encoding that keeps ASCII as it is."""
SKIPPED = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)


class XmlElement:
    """An element: its tag, its attributes, its children in their order, its own text, and where it stands.

    source: the file in which it stands, which an included file makes another one than that of its parent.

    >>> robot = od.io.xml_tree('<robot name="arm"><link name="hand"/></robot>', "arm.urdf")
    >>> robot.child("link").get("name"), robot.child("link").line
    ('hand', 1)
    """

    __slots__ = ("attributes", "children", "line", "source", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int, source: str) -> None:
        self.tag, self.attributes, self.line, self.source = tag, attributes, line, source
        self.children: list[XmlElement] = []
        self.text = ""

    def __iter__(self) -> Iterator[XmlElement]:
        return iter(self.children)

    def __repr__(self) -> str:
        return f"<{self.tag}> at {self.place}"

    def get(self, name: str, default: str = "") -> str:
        """The attribute of that name."""
        return self.attributes.get(name, default)

    def child(self, tag: str) -> XmlElement | None:
        """The first child with this tag; None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list[XmlElement]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[XmlElement]:
        """The element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    @property
    def place(self) -> str:
        """ "model.xml, line 12": where the element stands, the beginning of every message about it."""
        return f"{self.source}, line {self.line}"

    @property
    def what(self) -> str:
        """ "<Body 'hand'>": the element, with its name if it has one."""
        name = self.get("name")
        return f"<{self.tag} {repr_in_message(name)}>" if name else f"<{self.tag}>"

    def fault(self, message: str) -> ModelError:
        """The error about this element: "model.xml, line 12: <Body 'hand'>: message"."""
        return ModelError(f"{self.place}: {self.what}: {message}")


def xml_tree(text: str | bytes, source: str) -> XmlElement:
    """The outermost element of an XML document. `source` opens the messages.

    Comments and processing instructions are left out; the text of an element is the text between its children, joined.

    Raises ModelError, with the line, for a document that is empty, too large, not well-formed or not in its encoding,
    and for a document type declaration.

    >>> od.io.xml_tree('<mujoco><worldbody/></mujoco>', "model.xml").children
    [<worldbody> at model.xml, line 1]
    """
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"XML text must be a str or bytes, got {type(text).__name__}")
    if len(text) > MOST_BYTES:
        raise ModelError(f"{source} has {len(text)} bytes; a model has at most {MOST_BYTES}")
    if not text.strip():
        raise ModelError(f"{source} is empty; expected an XML document")
    return _Reader(source).read(text)


class _Reader:
    """expat handlers that build the tree and count what they build."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.open: list[XmlElement] = []
        self.root: XmlElement | None = None
        self.count = self.characters = 0
        self.texts: list[list[str]] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def read(self, text: str | bytes) -> XmlElement:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            kind = expat.ErrorString(error.code)
            opened = f"; <{self.open[-1].tag}> of line {self.open[-1].line} is open" if self.open else ""
            raise ModelError(f"{self.source}, line {error.lineno}: not well-formed XML: {kind}{opened}") from None
        except ModelError:
            raise
        except (ValueError, LookupError) as error:  # an unknown encoding, or text that is not in it
            raise ModelError(f"{self.source}: cannot be decoded: {error}; save it as UTF-8") from None
        if self.root is None:
            raise ModelError(f"{self.source} holds no element; expected an XML document")
        return self.root

    def _fail(self, message: str) -> NoReturn:
        raise ModelError(f"{self.source}, line {self.parser.CurrentLineNumber}: {message}")

    def _doctype(self, name: str, *_: object) -> NoReturn:
        self._fail(
            f"a document type declaration (<!DOCTYPE {name}>) is refused: it can declare entities that expand "
            "without end or read other files, and a model needs none; delete it"
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            self._fail(f"more than {MOST_ELEMENTS} elements; a model has fewer")
        if len(self.open) >= MOST_DEPTH:
            self._fail(f"elements are nested more than {MOST_DEPTH} deep; a model needs less")
        element = XmlElement(tag, attributes, self.parser.CurrentLineNumber, self.source)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def _end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def _text(self, data: str) -> None:
        self.characters += len(data)
        if self.characters > MOST_TEXT:
            self._fail(f"more than {MOST_TEXT} characters of text; a model has fewer")
        if self.texts:
            self.texts[-1].append(data)


def root_tag(raw: bytes) -> str:
    """The tag of the outermost element of what may be an XML document, by a look at its beginning; empty if there is
    none."""
    head = raw[:65536]
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            head = head[2:].decode(encoding, "ignore").encode("ascii", "ignore")
    head = head.removeprefix(b"\xef\xbb\xbf")
    if not head.lstrip().startswith(b"<"):
        return ""
    found = ROOT_TAG.search(SKIPPED.sub(b"", head))
    return found[1].decode("ascii", "ignore") if found else ""


def file_beside(element: XmlElement, name: str, folder: Path) -> Path:
    """The file that an element names, which must lie in a folder, that of the model's first file, or below it.

    Raises ModelError, with the line, for an empty name, an absolute one, one that leads out of the folder, also by a
    link, and for a file that is not there.
    """
    if not name.strip() or "\0" in name:
        raise element.fault("it names no file; write its name")
    base = folder.resolve()
    given = Path(name.strip().replace("\\", "/"))
    found = (base / given).resolve()
    if given.is_absolute() or not found.is_relative_to(base):
        raise element.fault(
            f"the file {repr_in_message(name)} does not lie in the folder {repr_in_message(str(base))} of the model, "
            "and only files there are read; put it there"
        )
    if not found.is_file():
        raise element.fault(f"there is no file {repr_in_message(name)} in the folder {repr_in_message(str(base))}")
    return found


MOST_FAULTS = 100
"""Faults of one file after which the search for more ends."""
MISSES = re.compile(r"\b(has|holds|have) no\b|\bno body has\b|\bneeds? ")
"""Words that messages about something that is not there have in common."""
NAMES = ("name", "class", "mesh", "material")
"""Attributes that an element keeps when its others are taken away."""


def every_fault(root: XmlElement, read: Callable[[XmlElement], object]) -> list[str]:
    """Messages about the faults of a document, as many as can be told apart. `read` raises the first of a tree.

    An element at fault loses its attributes but for its names, or its children if it has no others; if it is at fault
    again, it is taken out of the tree; then the tree is read again. A fault is not told where it follows from what was
    taken out: where it is that of an element a second time, names what is gone, or misses it.
    """
    found: list[str] = []
    bare: set[int] = set()
    robbed: set[int] = set()
    gone: list[str] = []
    for _ in range(MOST_FAULTS):
        try:
            read(root)
        except ModelError as error:
            message = str(error)
        else:
            return found
        way = _way_to_fault(root, message)
        follows = way and (id(way[-1]) in bare or (id(way[-1]) in robbed and MISSES.search(message)))
        if not follows and not any(name in message for name in gone):
            found.append(message)
        if len(way) < 2:
            return found or [message]
        element, extra = way[-1], set(way[-1].attributes) - set(NAMES)
        if id(element) in bare or not (extra or element.children):
            way[-2].children = [child for child in way[-2] if child is not element]
            robbed |= {id(one) for one in way[:-1]}
            gone += [repr_in_message(e.get("name")) for e in element.walk() if e.get("name")]
        elif extra:
            element.attributes = {key: x for key, x in element.attributes.items() if key in NAMES}
        else:
            element.children = []
        bare.add(id(element))
    return found


def _way_to_fault(root: XmlElement, message: str) -> list[XmlElement]:
    """The elements from the outermost one to that with whose place a message begins; none if it names no element."""
    waiting = [[root]]
    while waiting:
        way = waiting.pop()
        if message.startswith(f"{way[-1].place}: {way[-1].what}: "):
            return way
        waiting += [[*way, child] for child in way[-1]]
    return []
