"""Setup files of OpenSim's Scale Tool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import ModelError, repr_in_message
from ...io import XmlElement, xml_tree
from ...io.opensim.document import flag_of, number_of, numbers_of, objects_of, text_of, vector_of
from ...mechanism import Marker
from ..files import read
from .measurements import AXES, Measurement
from .subject import ScaleSetup

WORDS = {"measurements": "measurements", "manualScale": "factors"}
"""Words of <scaling_order>, and ours."""
NO_FILE = ("", "unassigned")


def read_scale_setup(path: Any) -> ScaleSetup:
    """The setup of a scaling from a file of OpenSim's Scale Tool (.xml).

    Read are <mass>, <GenericModelMaker> with its marker set, <ModelScaler> (scaling order, MeasurementSet, ScaleSet,
    time range, preserve_mass_distribution) and <MarkerPlacer> (IKTaskSet, time range, coordinate file). Parts that do
    not apply are left out. Files that it names are looked for beside it; a marker set and a file of coordinates are
    read, of which the first row counts. `files` are the paths of the model and of the trials. A limit of the movement
    of markers, <max_marker_movement>, is not checked.

    Raises ModelError, with the line, for what is not whole or not known; OSError for files that cannot be read.

    >>> import pathlib, tempfile
    >>> scale = "<Scale><scales>1 1 1.1</scales><segment>femur_r</segment></Scale>"
    >>> scaler = f"<scaling_order>manualScale</scaling_order><ScaleSet><objects>{scale}</objects></ScaleSet>"
    >>> text = f"<ScaleTool><mass>72</mass><ModelScaler>{scaler}</ModelScaler></ScaleTool>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "scale.xml").write_text(f"<OpenSimDocument>{text}</OpenSimDocument>")
    ...     setup = od.recordings.read_scale_setup(f"{folder}/scale.xml")
    >>> setup.factors, setup.mass, setup.place
    ({'femur_r': (1.0, 1.0, 1.1)}, 72.0, False)
    """
    file = file_to_read(path)
    root = xml_tree(file.read_bytes(), file.name)
    tools = [e for e in root.walk() if e.tag == "ScaleTool"]
    if root.tag != "OpenSimDocument" or len(tools) != 1:
        raise root.fault("an <OpenSimDocument> with one <ScaleTool> was expected; it is no setup of a scaling")
    tool, folder = tools[0], file.parent
    mass = number_of(tool, "mass", -1.0)
    fields: dict[str, Any] = {"mass": mass if mass > 0 else None}
    files: dict[str, Path] = {}
    maker = tool.child("GenericModelMaker")
    if maker is not None:
        _note_file(files, "model", maker, "model_file", folder)
        if (marks := _file(maker, "marker_set_file", folder)) is not None:
            fields["markers"] = read_marker_set(marks)
    scaler = tool.child("ModelScaler")
    if scaler is not None and flag_of(scaler, "apply", True):
        fields |= _scaler(scaler)
        _note_file(files, "static", scaler, "marker_file", folder)
        _note_file(files, "output", scaler, "output_model_file", folder)
    else:
        fields |= {"measurements": (), "factors": {}}
    placer = tool.child("MarkerPlacer")
    fields["place"] = placer is not None and flag_of(placer, "apply", True)
    if placer is not None and fields["place"]:
        fields |= _placer(placer, folder)
        _note_file(files, "place_static", placer, "marker_file", folder)
        _note_file(files, "output", placer, "output_model_file", folder)
    return ScaleSetup(**fields, files=files)


def read_marker_set(path: Any) -> tuple[Marker, ...]:
    """The markers of a file of OpenSim's MarkerSet (.xml); their frames are bodies of the model by name.

    >>> import pathlib, tempfile
    >>> mark = '<Marker name="KNEE"><body>femur_r</body><location>0 -0.4 0.05</location></Marker>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "markers.xml")
    ...     size = file.write_text(f"<OpenSimDocument><MarkerSet>{mark}</MarkerSet></OpenSimDocument>")
    ...     od.recordings.read_marker_set(file)[0].point
    (0.0, -0.4, 0.05)
    """
    file = file_to_read(path)
    root = xml_tree(file.read_bytes(), file.name)
    found: dict[str, Marker] = {}
    for element in root.walk():
        if element.tag != "Marker":
            continue
        name = element.get("name").strip()
        frame = text_of(element, "socket_parent_frame") or text_of(element, "socket_parent_frame_connectee_name")
        frame = (frame or text_of(element, "body")).rpartition("/")[2]
        if not name or not frame:
            raise element.fault("a marker needs a name and a <socket_parent_frame>")
        if name in found:
            raise element.fault("another marker has this name; names must be unique")
        found[name] = Marker(name, frame, tuple(vector_of(element, "location")), flag_of(element, "fixed"))
    if not found:
        raise root.fault("the file has no <Marker>: it is no set of markers")
    return tuple(found.values())


def _file(element: XmlElement, tag: str, folder: Path) -> Path | None:
    name = text_of(element, tag)
    return None if name.lower() in NO_FILE else folder / name.replace("\\", "/")


def _note_file(files: dict[str, Path], key: str, element: XmlElement, tag: str, folder: Path) -> None:
    if (file := _file(element, tag, folder)) is not None:
        files[key] = file


def _times(element: XmlElement) -> tuple[float, float] | None:
    first, last = numbers_of(element, "time_range", 2, (-1.0, -1.0))
    if first < 0 and last < 0:
        return None
    if not first <= last:
        raise element.fault(f"its <time_range> must rise, got {first:g} {last:g}")
    return float(first), float(last)


# Factors


def _scaler(scaler: XmlElement) -> dict[str, Any]:
    order = []
    for word in re.split(r"[\s,]+", text_of(scaler, "scaling_order").strip()):
        if word and word not in WORDS:
            raise scaler.fault(
                f"its <scaling_order> must be measurements or manualScale or both, got {repr_in_message(word)}"
            )
        order += [WORDS[word]] if word else []
    measurements = [_measurement(e) for e in objects_of(scaler, "MeasurementSet") if flag_of(e, "apply", True)]
    scales = [e for e in objects_of(scaler, "ScaleSet") if flag_of(e, "apply", True)]
    factors = dict(_scale(e) for e in scales)
    return {
        "measurements": tuple(measurements) if "measurements" in order else (),
        "factors": factors if "factors" in order else {},
        "order": tuple(order) or ("measurements", "factors"),
        "preserve_mass_distribution": flag_of(scaler, "preserve_mass_distribution"),
        "times": _times(scaler),
    }


def _measurement(element: XmlElement) -> Measurement:
    if element.tag != "Measurement":
        raise element.fault("a <Measurement> was expected here")
    pairs = [tuple(text_of(pair, "markers").split()) for pair in objects_of(element, "MarkerPairSet")]
    segments = {}
    for body in objects_of(element, "BodyScaleSet"):
        axes = text_of(body, "axes").upper().split()
        if not axes or not set(axes) <= set(AXES):
            raise body.fault(f"its <axes> must be some of X Y Z, got {repr_in_message(text_of(body, 'axes'))}")
        segments[body.get("name").strip()] = axes
    try:
        return Measurement(element.get("name").strip() or "measurement", tuple(pairs), segments)  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        raise element.fault(str(error)) from None


def _scale(element: XmlElement) -> tuple[str, tuple[float, float, float]]:
    name, s = text_of(element, "segment"), vector_of(element, "scales", None)
    if not name:
        raise element.fault("it names no <segment>")
    if not np.all(s > 0):
        raise element.fault(f"its <scales> must be positive, got {s.tolist()}")
    return name, (float(s[0]), float(s[1]), float(s[2]))


# Placing


def _placer(placer: XmlElement, folder: Path) -> dict[str, Any]:
    weights: dict[str, float] = {}
    coordinates: dict[str, float | None] = {}
    table = _file(placer, "coordinate_file", folder)
    known = read(table) if table is not None else None
    for task in objects_of(placer, "IKTaskSet"):
        if task.tag not in ("IKMarkerTask", "IKCoordinateTask"):
            raise task.fault("tasks are <IKMarkerTask> and <IKCoordinateTask>")
        name = task.get("name").strip()
        if not name:
            raise task.fault("a task needs a name")
        if not flag_of(task, "apply", True):
            continue
        weights[name] = number_of(task, "weight", 1.0)
        if weights[name] < 0:
            raise task.fault(f"its <weight> must not be negative, got {weights[name]:g}")
        if task.tag == "IKCoordinateTask":
            coordinates[name] = _value(task, name, known)
    return {"weights": weights or None, "coordinates": coordinates, "place_times": _times(placer)}


def _value(task: XmlElement, name: str, table: Any) -> float | None:
    """The value of a coordinate [rad, m]; None for that of the model."""
    kind = text_of(task, "value_type", "default_value")
    if kind == "default_value":
        return None
    if kind == "manual_value":
        return number_of(task, "value", 0.0)
    if kind != "from_file":
        raise task.fault(
            f"its <value_type> must be default_value, manual_value or from_file, got {repr_in_message(kind)}"
        )
    if table is None:
        raise task.fault("its value is from_file, and the placer names no <coordinate_file>")
    if name not in table.names:
        raise task.fault(f"the <coordinate_file> has no column {repr_in_message(name)}")
    k = table.names.index(name)
    value = float(np.asarray(table.values)[0, k])
    if not np.isfinite(value):
        raise ModelError(f"{task.place}: {task.what}: the <coordinate_file> has no value in its first row")
    return float(np.deg2rad(value)) if table.units[k] == "deg" else value
