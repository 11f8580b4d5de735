"""RBDL's Lua models -> Model: frames with their joints and bodies, markers, points, sets of constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import Array, Collected, ModelError, repr_in_message, suggestion
from ...constraints import Constraint
from ...joints import EULER_ORDERS, Euler, Fixed, FloatingBase, Joint, MultiDof, Revolute, Spherical, Translation
from ...joints.one_dof import one_dof
from ...mechanism import Annotations, Marker, Model
from ...mechanism.builder import WORLD, ModelBuilder
from .constraint_sets import ROOT, Sets
from .fields import Fields
from .lua import LuaTable, lua_value

KINDS: dict[str, Callable[[], Joint]] = {
    "JointTypeSpherical": Spherical, "JointTypeTranslationXYZ": Translation, "JointTypeFloatingBase": FloatingBase,
    "JointTypeFixed": Fixed, **{f"JointTypeEuler{order.upper()}": partial(Euler, order) for order in EULER_ORDERS},
    **{f"JointTypeRevolute{letter}": partial(Revolute, letter.lower()) for letter in "XYZ"},
}  # fmt: skip
"""Joints by the words of RBDL."""
GRAVITY = np.array([0.0, -9.81, 0.0])
"""RBDL's own, where a file gives none."""
DRAWN = ("visuals", "configuration", "meshes")
"""Fields that change no motion."""
FRAME = ("name", "parent", "body", "joint", "joint_frame", "markers", *DRAWN)
BODY = ("mass", "com", "inertia", "name")


def load_rbdl(path: str | PathLike[str]) -> Model:
    """The model of a Lua file of RBDL, whose tables are read as data: no Lua is run.

    Frames, in the file's order, become bodies of their names, with joints of all kinds: {} or none (fixed), one to six
    axes {rx, ry, rz, tx, ty, tz}, or a word such as {"JointTypeSpherical"}. Mass, com, inertia, joint_frame {r, E},
    gravity are read as RBDL reads them: a body without inertia has the unit matrix, of one that is not symmetric the
    lower triangle counts, and a file without gravity has 9.81 m/s^2 along -y, which a note tells. Markers are
    `model.markers`, points and local frames are frames of their names. q and qd are those of RBDL but for quaternions,
    whose w stands behind x, y, z here: `od.Layout(model, "rbdl", joints=model.joint_names)` converts. Sets of
    constraints: `od.io.rbdl_constraint_sets`. Visuals and the configuration of viewers are left out.

    Variables, fields, and arithmetic on numbers may stand in the file; functions, loops and conditions may not.

    Raises ModelError with file, line and remedy for what is wrong or computes; OSError if the file cannot be read.

    >>> import pathlib, tempfile
    >>> body = "{mass = 2, com = {0, 0, -0.5}, inertia = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.01}}}"
    >>> frame = f"{{name = 'rod', parent = 'ROOT', joint = {{{{0, 1, 0, 0, 0, 0}}}}, body = {body}}}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "rod.lua").write_text(f"return {{frames = {{{frame}}}}}")
    ...     od.load(f"{folder}/rod.lua")
    <Model 'rod': nb=1, nq=1, nv=1>
    """
    file = file_to_read(path)
    return replace(parse_rbdl(file.read_bytes(), source=str(file)), name=file.stem)


def parse_rbdl(text: str | bytes, *, source: str = "Lua text") -> Model:
    """The model of a Lua file of RBDL given as text; `source` opens the messages. See `load_rbdl`.

    >>> od.io.parse_rbdl("return {frames = {{name = 'a', parent = 'ROOT', joint = {{0, 0, 1, 0, 0, 0}}}}}").q_names
    ('a_joint',)
    """
    reading = Reading(text, source)
    reading.read()
    return reading.model()


def rbdl_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about the faults of a Lua file, those of its sets of constraints too, and notes on what is left out."""
    faults = Collected()
    notes: list[str] = []
    with faults.each():
        reading = Reading(text, source, faults)
        reading.read()
        notes = [f"{source}, line {reading.top.lines[k]}: {k} is left out" for k in DRAWN if k in reading.top.fields]
        if not faults.messages:
            Sets(source, reading.top, reading.points, reading.model().frames).all()
    return faults.messages, notes


def rbdl_constraint_sets(path: str | PathLike[str]) -> dict[str, tuple[Constraint, ...]]:
    """The sets of constraints of a Lua file of RBDL by their names: contacts and loops for the model of the file.

    Rows of one contact point, or of one loop with the same frames, that follow each other are one constraint, in the
    order of the file.

    Raises ModelError as `load_rbdl` does.

    >>> import pathlib, tempfile
    >>> frame = "{name = 'a', parent = 'ROOT', joint = {{0, 1, 0, 0, 0, 0}}}"
    >>> touch = "{constraint_type = 'contact', body = 'a', point = {0, 0, -1}, normal = {0, 0, 1}}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = f"return {{frames = {{{frame}}}, constraint_sets = {{stand = {{{touch}}}}}}}"
    ...     size = pathlib.Path(folder, "a.lua").write_text(text)
    ...     od.io.rbdl_constraint_sets(f"{folder}/a.lua")["stand"][0].rows
    ('a.tz',)
    """
    file = file_to_read(path)
    reading = Reading(file.read_bytes(), str(file))
    reading.read()
    model = reading.model()
    return Sets(str(file), reading.top, reading.points, model.frames).all()


class Reading(Fields):
    """One file: its table, and the checks of what stands in it.

    faults: where the messages about faulty parts go, which are then left out; by default the first one is raised.
    """

    def __init__(self, text: str | bytes, source: str, faults: Collected | None = None) -> None:
        self.source, self.faults = source, faults or Collected(raising=True)
        top = lua_value(text, source, "model")
        if not isinstance(top, LuaTable):
            raise ModelError(f"{source}: it returns no table; a model is a table with frames")
        self.top = top
        self.points: dict[str, tuple[str, Array]] = {}
        self.markers: list[Marker] = []
        self.builder = ModelBuilder()

    def read(self) -> None:
        """Reads all parts but the sets of constraints."""
        builder = self.builder
        with self.faults.each():
            builder.gravity = self.numbers(self.top, "gravity", (3,), GRAVITY)
        builder.add_frame(ROOT, WORLD)
        rows = self.rows(self.top, "frames")
        if not rows:
            self.fail(self.top, "frames is empty; a model has at least one frame with a joint")
        known = [WORLD]
        for row in rows:
            with self.faults.each():
                self._frame(builder, row, known, self.markers)
                continue
            name = row.fields.get("name")  # a frame at fault stands still, for its children
            if isinstance(name, str) and name and name not in (*known, ROOT):
                builder.add_frame(name, WORLD)
                known.append(name)
        for row in self.rows(self.top, "points"):
            with self.faults.each():
                self._point(builder, row)
        for row in self.rows(self.top, "local_frames"):
            with self.faults.each():
                self._local_frame(builder, row)

    def model(self) -> Model:
        """The model of what was read."""
        try:
            none = (
                () if "gravity" in self.top.fields else ("gravity: 9.81 m/s^2 along -y, RBDL's own; the file has none",)
            )
            return replace(self.builder.build(), annotations=Annotations(markers=tuple(self.markers), notes=none))
        except ModelError as error:
            raise ModelError(f"{self.source}: {error}") from None

    # Parts of the model

    def _frame(self, builder: ModelBuilder, row: LuaTable, known: list[str], markers: list[Marker]) -> None:
        name = self.text(row, "name")
        where = f"frame {repr_in_message(name)}"
        self.known(row, FRAME, where)
        parent = self.text(row, "parent")
        parent = WORLD if parent == ROOT else parent
        if parent not in known:
            self.fail(row, f"{where}: no frame {repr_in_message(parent)} stands before it; its parent must"
                      f"{suggestion(parent, known)}", "parent")  # fmt: skip
        R, p = self.pose(row, "joint_frame")
        try:
            builder.add_body(
                name, self._joint(row), parent, joint_name=f"{name}_joint", origin=p, rotation=R, inertia_check=False,
                **self._body(row),
            )  # fmt: skip
        except (ValueError, TypeError) as error:
            if str(error).startswith(self.source):
                raise
            self.fail(row, str(error))
        known.append(name)
        for key, point in self.table(row, "markers").fields.items():
            at = self.array(point)
            if at is None or at.shape != (3,):
                self.fail(self.table(row, "markers"), f"marker {repr_in_message(key)} must be 3 numbers", key)
            markers.append(Marker(key, name, tuple(at.tolist())))

    def _joint(self, row: LuaTable) -> Joint:
        value = row.fields.get("joint")
        if value is None or (isinstance(value, LuaTable) and not value.items and not value.fields):
            return Fixed()
        word = value.items[0] if isinstance(value, LuaTable) and len(value.items) == 1 else value
        if isinstance(word, str):
            if word not in KINDS:
                self.fail(row, f"no joint {repr_in_message(word)}{suggestion(word, KINDS)}", "joint")
            return KINDS[word]()
        axes = self.array(value)
        if axes is None or axes.ndim != 2 or axes.shape[1] != 6 or len(axes) > 6:
            expected = "one to six axes {rx, ry, rz, tx, ty, tz}, or a word such as {'JointTypeSpherical'}"
            self.fail(row, f"joint must be {expected}, got {self.shown(value)}", "joint")
        return one_dof(axes[0]) if len(axes) == 1 else MultiDof(list(axes))

    def _body(self, row: LuaTable) -> dict[str, Any]:
        body = self.table(row, "body")
        self.known(body, BODY, "body")
        mass = float(self.numbers(body, "mass", (), np.array(0.0)))
        lower = np.tril(self.numbers(body, "inertia", (3, 3), np.eye(3) if "body" in row.fields else np.zeros((3, 3))))
        com = self.numbers(body, "com", (3,), np.zeros(3))
        return {"mass": mass, "com": com, "inertia": lower + np.tril(lower, -1).T}

    def _point(self, builder: ModelBuilder, row: LuaTable) -> None:
        name, body = self.text(row, "name"), self._own_frame(row, "body")
        self.points[name] = body, self.numbers(row, "point", (3,))
        self._placed(builder, row, name, body, self.points[name][1], np.eye(3))

    def _local_frame(self, builder: ModelBuilder, row: LuaTable) -> None:
        E = self.numbers(row, "E", (3, 3), np.eye(3))
        p = self.numbers(row, "r", (3,), np.zeros(3))
        self._placed(builder, row, self.text(row, "name"), self._own_frame(row, "body"), p, E.T)

    def _own_frame(self, row: LuaTable, key: str) -> str:
        name = self.text(row, key)
        return WORLD if name == ROOT else name

    def _placed(self, builder: ModelBuilder, row: LuaTable, name: str, body: str, p: Array, R: Array) -> None:
        try:
            builder.add_frame(name, body, p, R)
        except (ValueError, KeyError) as error:
            self.fail(row, str(error.args[0]))
