"""Formats of models, and `load`, which reads any of them, by the content and the ending of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from .._base.files import file_to_read
from .._base.types import ModelError, repr_in_message, suggestion
from ..mechanism import Model
from .biomod import load_biomod
from .json import load_model
from .mjcf import load_mjcf
from .opensim import load_osim
from .pinocchio import from_pinocchio, is_pinocchio
from .rbdl import load_rbdl
from .sdf import load_sdf
from .urdf import load_urdf
from .xml import root_tag


class Format(NamedTuple):
    """A kind of files with models: what its files end in, the tag of their outermost element if they are XML, and the
    function that reads them, whose first argument is the path."""

    name: str
    endings: tuple[str, ...]
    tags: tuple[str, ...]
    read: Callable[..., Model]


FORMATS = (
    Format("URDF", (".urdf",), ("robot",), load_urdf),
    Format("MuJoCo MJCF", (".mjcf",), ("mujoco", "mujocoinclude"), load_mjcf),
    Format("OpenSim model", (".osim",), ("OpenSimDocument",), load_osim),
    Format("SDF", (".sdf", ".world"), ("sdf",), load_sdf),
    Format("bioMod", (".biomod",), (), load_biomod),
    Format("RBDL Lua model", (".lua",), (), load_rbdl),
    Format("model as JSON", (".json",), (), load_model),
)
"""The formats that `load` reads."""


def load(path: str | PathLike[str] | Any, **options: Any) -> Model:
    """The model of a file: URDF, MJCF, OpenSim, SDF, bioMod, RBDL's Lua, JSON of `save_model`; or of a pinocchio.Model.

    The outermost element of an XML file decides what it is, whatever its name ends in; other files are known by
    their endings. options: those of the function that reads the format, such as `root=` of `load_urdf`.

    Raises ModelError, with line, element and remedy, for everything wrong in a file and for a file of no format that
    is known, TypeError for an option that the format does not have, OSError if the file cannot be read.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "drone.xml").write_text('<robot name="drone"><link name="base"/></robot>')
    ...     od.load(f"{folder}/drone.xml", root=od.FloatingBase())
    <Model 'drone': nb=1, nq=7, nv=6>
    """
    if is_pinocchio(path):
        return from_pinocchio(path, **options)
    file = file_to_read(path)
    if str(file).lstrip().startswith("<"):
        raise ModelError(
            f"a path was expected, got what looks like the text of a model ({repr_in_message(str(file)[:30])}...): "
            "write it to a file first"
        )
    kind = format_of(file)
    own = [name for name in inspect.signature(kind.read).parameters if name != "path"]
    for name in options:
        if name not in own:
            raise TypeError(
                f"load: a file of the format {kind.name} has no option {repr_in_message(name)}; it has: "
                f"{', '.join(own) or 'none'}{suggestion(name, own)}"
            )
    return kind.read(file, **options)


def format_of(file: Path, default: str = "") -> Format:
    """The format of a file: by the outermost element of XML, else by its ending; if it is none of them, the one called
    `default`, without one ModelError."""
    with file.open("rb") as opened:
        tag = root_tag(opened.read(65536))
    ending = file.suffix.lower()
    for kind in FORMATS:
        if (tag and tag in kind.tags) or (not (tag and kind.tags) and ending in kind.endings):
            return kind
    for kind in FORMATS:  # an XML file of a known ending, whose reader says what is wrong with it
        if ending in kind.endings:
            return kind
    for kind in FORMATS:
        if kind.name == default:
            return kind
    known = "; ".join(
        f"{kind.name}: {', '.join((*kind.endings, *(f'<{tag}>' for tag in kind.tags)))}" for kind in FORMATS
    )
    got = f"with the outermost element <{tag}>" if tag else f"whose name ends in {repr_in_message(ending)}"
    raise ModelError(f"{file}: a file {got} is of no format that is read here; known are {known}")
