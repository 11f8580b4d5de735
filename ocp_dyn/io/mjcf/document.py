"""An MJCF file and the files that it includes, as one tree of elements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..._base.types import ModelError, repr_in_message, suggestion
from ..xml import MOST_ELEMENTS, XmlElement, file_beside, xml_tree

SECTIONS = (
    "compiler", "option", "size", "statistic", "visual", "default", "extension", "custom", "asset", "worldbody",
    "deformable", "contact", "tendon", "equality", "actuator", "sensor", "keyframe",
)  # fmt: skip
"""Elements that `<mujoco>` holds."""
DEEPEST = 20
"""Includes inside each other beyond which a file is refused."""


def read_document(text: str | bytes, source: str, path: Path | None, folder: Path | None) -> XmlElement:
    """The `<mujoco>` of a file, with the elements of included files in the places of the `<include>`s.

    path: of the file, None for a text, which includes nothing. folder: where included files lie, or below.
    """
    root = xml_tree(text, source)
    if root.tag != "mujoco":
        hint = "; it is a part of a model: load the file that includes it" if root.tag == "mujocoinclude" else ""
        raise root.fault(f"the outermost element of MJCF is <mujoco>{hint}")
    Includes(path, folder).expand(root)
    for section in root:
        if section.tag not in SECTIONS:
            raise section.fault(
                f"<mujoco> has no such section; it has {', '.join(SECTIONS)}{suggestion(section.tag, SECTIONS)}"
            )
    return root


class Includes:
    """Puts the elements of included files in their places. Each file is included once, as MuJoCo demands."""

    def __init__(self, path: Path | None, folder: Path | None) -> None:
        self.main = path
        self.folder = folder or (path.parent if path else None)
        self.read = {path.resolve()} if path else set()
        self.count = 0

    def expand(self, root: XmlElement, at: Path | None = None, depth: int = 0) -> None:
        """Replaces every `<include>` below an element of the file `at`."""
        for element in list(root.walk()):
            self.count += 1
            if self.count > MOST_ELEMENTS:
                raise element.fault(f"more than {MOST_ELEMENTS} elements in all files; a model has fewer")
            if any(child.tag == "include" for child in element):
                element.children = [
                    new for child in element for new in (self._included(child, at, depth) if child.tag == "include"
                                                         else (child,))
                ]  # fmt: skip

    def _included(self, element: XmlElement, at: Path | None, depth: int) -> list[XmlElement]:
        if self.main is None or self.folder is None:
            raise element.fault("a text includes no files: load the file, or put the elements in their place")
        if depth >= DEEPEST:
            raise element.fault(f"files include each other more than {DEEPEST} deep")
        if list(element) or element.text.strip():
            raise element.fault("an include is empty: <include file=.../>")
        file = self._found(element, at)
        if file in self.read:
            raise element.fault(
                f"the file {repr_in_message(str(file.name))} is included already, and a file can be included once"
            )
        self.read.add(file)
        part = xml_tree(file.read_bytes(), str(file))
        self.expand(part, file, depth + 1)
        if not part.children:
            raise element.fault(f"the file {repr_in_message(str(file.name))} holds no elements")
        return part.children

    def _found(self, element: XmlElement, at: Path | None) -> Path:
        """The file that an include names: beside the file in which the include stands, else beside the main one."""
        assert self.main is not None
        assert self.folder is not None
        name = element.get("file")
        for near in dict.fromkeys(((at or self.main).parent, self.main.parent)):
            candidate = (near / name.strip().replace("\\", "/")).resolve() if "\0" not in name else near
            if name.strip() and candidate.is_relative_to(self.folder.resolve()) and candidate.is_file():
                return candidate
        try:
            return file_beside(element, name, self.folder)
        except ModelError as error:
            hint = "; or give folder=, a folder that holds all of them" if ".." in name else ""
            raise ModelError(f"{error}{hint}") from None


def sections(root: XmlElement, tag: str) -> Iterator[XmlElement]:
    """The elements inside all sections of one kind."""
    return (element for section in root.all(tag) for element in section)
