"""Sets of constraints of a Lua model: contacts and loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...constraints import Constraint, Contact, Loop
from .fields import Fields
from .lua import LuaTable

ROOT = "ROOT"
"""The ground in a file."""
CONTACT = ("body", "point", "pointname", "normal", "normalsets", "name", "id", "constrainttype", "normalacceleration",
           "enablestabilization", "stabilizationparameter", "stabilizationcoefficient")  # fmt: skip
LOOP = ("predecessorbody", "successorbody", "predecessortransform", "successortransform", "predecessorlocalframe",
        "successorlocalframe", "axis", "axissets", "name", "id", "constrainttype", "enablestabilization",
        "stabilizationparameter", "stabilizationcoefficient")  # fmt: skip


@dataclass
class Sets(Fields):
    """The sets of a file: its table, its named points, and the frames of its model."""

    source: str
    top: LuaTable
    points: Mapping[str, tuple[str, Array]]
    frames: Mapping[str, Any]

    def all(self) -> dict[str, tuple[Constraint, ...]]:
        """Sets of constraints by their names; a list `constraints` is the set of that name."""
        named = dict(self.table(self.top, "constraint_sets").fields)
        if "constraints" in self.top.fields:
            named["constraints"] = self.top.fields["constraints"]
        found = {}
        for name, value in named.items():
            if not isinstance(value, LuaTable):
                self.fail(self.top, f"the set {repr_in_message(name)} must be a list of constraints", "constraint_sets")
            rows = self.rows(LuaTable(value.line, fields={name: value}), name)
            found[name] = _joined([self._constraint(row) for row in rows])
        return found

    def _constraint(self, row: LuaTable) -> Constraint:
        """A constraint; its fields may be written in_this_way or inThisWay."""
        plain = LuaTable(row.line)
        for key, value in row.fields.items():
            plain.put(key.lower().replace("_", ""), value, row.lines[key])
        kind = self.text(plain, "constrainttype", "contact")
        if kind not in ("contact", "loop"):
            self.fail(plain, f"constraints of the type {repr_in_message(kind)} are not read; known: contact, loop")
        self.known(plain, CONTACT if kind == "contact" else LOOP, f"a {kind}")
        try:
            return (self._contact if kind == "contact" else self._loop)(plain)
        except (ValueError, TypeError) as error:
            if str(error).startswith(self.source):
                raise
            self.fail(row, str(error))

    def _contact(self, row: LuaTable) -> Contact:
        point = row.fields.get("pointname", row.fields.get("point"))
        if isinstance(point, str):
            if point not in self.points:
                self.fail(row, f"no point {repr_in_message(point)} in points{suggestion(point, self.points)}", "point")
            body, place = self.points[point]
        else:
            body, place = self._body_of(row, "body"), self.numbers(row, "point", (3,), np.zeros(3))
        return Contact(body, tuple(place.tolist()), self._directions(row, "normal", 3))

    def _directions(self, row: LuaTable, key: str, size: int) -> list[tuple[float, ...]]:
        several = row.fields.get(f"{key}sets")
        found = self.array(several if several is not None else row.fields.get(key))
        if found is not None and found.shape == (size,):
            found = found[None]
        if found is None or found.ndim != 2 or found.shape[1] != size:
            self.fail(row, f"{key} must be {size} numbers, and {key}_sets a list of them", key)
        return [tuple(one) for one in found.tolist()]

    def _body_of(self, row: LuaTable, key: str) -> str:
        name = self.text(row, key)
        if name not in self.frames:
            self.fail(row, f"{key}: no frame {repr_in_message(name)}{suggestion(name, self.frames)}", key)
        return name

    def _loop(self, row: LuaTable) -> Loop:
        ends = []
        for end in ("predecessor", "successor"):
            if f"{end}localframe" in row.fields:
                ends.append((self._body_of(row, f"{end}localframe"), (np.eye(3), np.zeros(3))))
            else:
                ends.append((self._body_of(row, f"{end}body"), self.pose(row, f"{end}transform")))
        (first, one), (second, other) = ends
        pose, pose_s = ((tuple(R.ravel().tolist()), tuple(p.tolist())) for R, p in (one, other))
        return Loop(first, second, self._directions(row, "axis", 6), pose, pose_s, label=self.text(row, "name", ""))


def _joined(constraints: list[Constraint]) -> tuple[Constraint, ...]:
    """Neighbors that differ only in their axes as one constraint."""
    found: list[Constraint] = []
    for one in constraints:
        last = found[-1] if found else None
        if _alike(one, last):
            found[-1] = replace(last, axes=(*last.axes, *one.axes))  # type: ignore
        else:
            found.append(one)
    return tuple(found)


def _alike(one: Constraint, last: Constraint | None) -> bool:
    if isinstance(one, Contact):
        return isinstance(last, Contact) and (last.body, last.point) == (one.body, one.point)
    if isinstance(one, Loop) and isinstance(last, Loop):
        return replace(one, axes=last.axes, label=last.label) == last
    return False
