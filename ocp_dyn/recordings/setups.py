"""Setup files of OpenSim: weights of markers and coordinates, and where measured forces act."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._base.files import file_to_read
from .._base.types import ModelError, repr_in_message
from ..io import XmlElement, xml_tree
from .files import read
from .forces import wrenches_of
from .recording import Recording


def read_weights(path: Any) -> dict[str, float]:
    """Weights by names of markers and coordinates, from the tasks of an OpenSim setup of inverse kinematics (.xml).

    Tasks that do not apply are left out. ModelError, with the line, for a file without tasks.

    >>> import pathlib, tempfile
    >>> task = '<IKMarkerTask name="R.ASIS"><apply>true</apply><weight>10</weight></IKMarkerTask>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tasks.xml")
    ...     size = file.write_text(f"<OpenSimDocument><IKTaskSet>{task}</IKTaskSet></OpenSimDocument>")
    ...     od.recordings.read_weights(file)
    {'R.ASIS': 10.0}
    """
    root, _ = _tree(path)
    found: dict[str, float] = {}
    tasks = [e for e in root.walk() if e.tag in ("IKMarkerTask", "IKCoordinateTask")]
    if not tasks:
        raise root.fault("the file has no IKMarkerTask and no IKCoordinateTask: it is no setup of inverse kinematics")
    for task in tasks:
        name = task.get("name")
        if not name:
            raise task.fault("a task needs a name")
        if _text(task, "apply", "true").lower() != "true":
            continue
        try:
            weight = float(_text(task, "weight", "1"))
        except ValueError:
            weight = -1.0
        if not 0 <= weight < 1e100:
            raise task.fault(f"weight must be a number, 0 or more, got {repr_in_message(_text(task, 'weight', '1'))}")
        found[name] = weight
    return found


def read_external_loads(path: Any, table: Recording | None = None, *, up: str = "y") -> Recording:
    """Wrenches on frames of the model from an OpenSim file of external loads (.xml) and the table that it names.

    table: the numbers, where the file's own `datafile` is not to be read. up: the vertical axis of the table.

    ModelError, with the line, for forces that are not in the axes of the ground; KeyError for columns that the table
    does not have.
    """
    root, file = _tree(path)
    forces = [e for e in root.walk() if e.tag == "ExternalForce" and _text(e, "appliesForce", "true").lower() == "true"]
    if not forces:
        raise root.fault("the file has no ExternalForce: it is no file of external loads")
    if table is None:
        data = next((e.text.strip() for e in root.walk() if e.tag == "datafile"), "")
        if not data:
            raise root.fault("the file names no datafile: give the table")
        table = read(Path(file).parent / data)
    named: dict[str, tuple[str, str, str]] = {}
    for force in forces:
        frame = _text(force, "applied_to_body", "").rsplit("/", 1)[-1]
        for tag in ("force_expressed_in_body", "point_expressed_in_body"):
            if _text(force, tag, "ground").rsplit("/", 1)[-1] != "ground":
                raise force.fault(f"{tag} must be ground, got {repr_in_message(_text(force, tag, ''))}")
        if not frame or frame in named:
            raise force.fault(f"applied_to_body must name a body, and each only once, got {repr_in_message(frame)}")
        named[frame] = (
            _text(force, "force_identifier", ""),
            _text(force, "point_identifier", ""),
            _text(force, "torque_identifier", ""),
        )
    return wrenches_of(table, named, up)


def _tree(path: Any) -> tuple[XmlElement, Path]:
    file = file_to_read(path)
    raw = file.read_bytes()
    root = xml_tree(raw, file.name)
    if root.tag != "OpenSimDocument":
        raise ModelError(f"{root.place}: an OpenSimDocument was expected, got <{root.tag[:60]}>")
    return root, file


def _text(element: XmlElement, tag: str, default: str) -> str:
    """Text of a child, or a default if it has none."""
    child = element.child(tag)
    return child.text.strip() if child is not None and child.text.strip() else default
