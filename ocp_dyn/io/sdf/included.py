"""Models that an SDF file includes from files of its folder, put in the places of the `<include>`s."""

from __future__ import annotations

from pathlib import Path

from ..._base.types import ModelError, repr_in_message
from ..xml import MOST_ELEMENTS, XmlElement, file_beside, xml_tree

DEEPEST = 20
"""Includes inside each other beyond which a file is refused."""
MOST_FILES = 1000
"""Included files beyond which a file is refused."""
FILE = "model.sdf"
"""The file of a model whose folder is named."""
GIVEN = ("static", "pose")
"""Elements of an include that take the place of those of the model."""


class Included:
    """Puts included models in their places. folder: where they lie, or below; None: none are read."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.count = self.files = 0

    def expand(self, element: XmlElement, depth: int = 0) -> None:
        """Replaces every `<include>` in worlds and models."""
        for each in [one for one in element.walk() if one.tag in ("sdf", "world", "model")]:
            each.children = [self._model(child, depth) if child.tag == "include" else child for child in each]

    def _model(self, include: XmlElement, depth: int) -> XmlElement:
        uri = include.child("uri")
        if self.folder is None:
            raise include.fault("a text includes no files: load the file, or put the model in its place")
        if uri is None:
            raise include.fault("it has no <uri>, the file or the folder of a model")
        if include.get("merge", "false") in ("true", "1"):
            raise include.fault('merge="true" is not read: put the links of the model in its place')
        if depth >= DEEPEST:
            raise include.fault(f"models include each other more than {DEEPEST} deep")
        self.files += 1
        if self.files > MOST_FILES:
            raise include.fault(f"more than {MOST_FILES} included files; a model has fewer")
        file = self._file(uri)
        document = xml_tree(file.read_bytes(), str(file))
        self.count += sum(1 for _ in document.walk())
        if self.count > MOST_ELEMENTS:
            raise include.fault(f"more than {MOST_ELEMENTS} elements in all files; a model has fewer")
        self.expand(document, depth + 1)
        models = document.all("model")
        if document.tag != "sdf" or len(models) != 1:
            raise include.fault(f"the file {repr_in_message(file.name)} is no <sdf> with one <model>")
        return _placed(models[0], include)

    def _file(self, uri: XmlElement) -> Path:
        """The file of a model: named itself, or by its folder, `model://NAME` too."""
        assert self.folder is not None
        name = uri.text.strip().removeprefix("model://").removeprefix("file://").rstrip("/")
        for candidate in (name, f"{name}/{FILE}"):
            try:
                return file_beside(uri, candidate, self.folder)
            except ModelError as error:
                fault = error
        raise ModelError(f"{fault}; or give folder=, a folder that holds all models")


def _placed(model: XmlElement, include: XmlElement) -> XmlElement:
    """The included model with the name and the place that the include gives."""
    name = include.child("name")
    if name is not None and name.text.strip():
        model.attributes["name"] = name.text.strip()
    at = include.child("placement_frame")
    if at is not None:
        model.attributes["placement_frame"] = at.text.strip()
    own = [child for tag in GIVEN for child in include.all(tag)]
    model.children = [child for child in model if child.tag not in {one.tag for one in own}] + own
    return model
