"""The model of a reference file, its constraints, and the file's layout of q and qd."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.joints import one_dof

from .report import TOLERANCE, BadFile, NotBuilt

JOINTS = {
    "fixed": od.Fixed(),
    "revolute_x": od.Revolute("x"),
    "revolute_y": od.Revolute("y"),
    "revolute_z": od.Revolute("z"),
    "translation_xyz": od.Translation(),
    "spherical": od.Spherical(),
    "floating_base": od.FloatingBase(),
    **{f"euler_{order}": od.Euler(order) for order in ("zyx", "xyz", "yxz", "zxy")},
}


class Case:
    """The model of a file, and the file's layout: entry k of our q is entry q_at[k] of the file's."""

    def __init__(self, data: dict[str, Any]) -> None:
        builder = od.ModelBuilder(data["name"], gravity=data["gravity"])
        self.q_at: list[int] = []
        self.v_at: list[int] = []
        for body in data["bodies"]:
            self._add(builder, body)
        if all(body["name"] != "ROOT" for body in data["bodies"]):
            builder.add_frame("ROOT", "world")  # loops may end at the ground
        self.model = builder.build()
        for what, at, size in (("q", self.q_at, data["nq"]), ("qdot", self.v_at, data["nv"])):
            if sorted(at) != list(range(size)):
                raise BadFile(f"the joints' indices into {what} do not make up 0 to {size - 1}: {sorted(at)}")
        states = data["states"]
        self.pushed = tuple(n for n in self.model.frame_names if any(n in state["f_ext"] for state in states))
        self.sets = {s["name"]: tuple(_contact(row) for row in s["rows"]) for s in data.get("contact_sets", [])}
        self.loops = {s["name"]: tuple(_loop(row) for row in s["rows"]) for s in data.get("loop_sets", [])}

    def _add(self, builder: od.ModelBuilder, body: dict[str, Any]) -> None:
        joint = _joint(body["joint"]["type"], body["joint"]["axes"])
        builder.add_body(
            body["name"], joint, "world" if body["parent"] == "ROOT" else body["parent"],
            origin=body["joint_frame"]["r"], rotation=np.transpose(body["joint_frame"]["E"]),
            mass=body["mass"], com=body["com"], inertia=body["inertia_com"], inertia_check=False,
        )  # fmt: skip
        dofs = list(range(body["q_index"], body["q_index"] + body["ndof"]))
        if len(dofs) != joint.nv:
            raise BadFile(f"body {body['name']!r}: ndof {len(dofs)} does not fit joint {body['joint']['type']!r}")
        self.v_at += dofs
        self.q_at += dofs
        if joint.nq > joint.nv:
            self.q_at.append(body["quat_w_index"])

    def q(self, values: Any) -> ca.DM:
        return _column(values, self.q_at, "q")

    def v(self, values: Any, what: str) -> ca.DM:
        return _column(values, self.v_at, what)

    def f_ext(self, state: dict[str, Any]) -> ca.DM:
        unknown = set(state["f_ext"]) - set(self.pushed)
        if unknown:
            raise BadFile(f"f_ext names no body: {', '.join(sorted(unknown))}")
        return ca.DM(np.array([state["f_ext"].get(name, [0.0] * 6) for name in self.pushed]).reshape(-1, 6).T)

    def back(self, values: Any, at: list[int], axes: Iterable[int] = (0,)) -> Any:
        """Our layout to the file's along the given axes."""
        result = np.array(values.full() if isinstance(values, ca.DM) else values)
        for axis in axes:
            result = np.take(result, np.argsort(at), axis)
        return result

    def __call__(self, algorithm: Callable[..., Any], *static: Any, args: Iterable[Any], **options: Any) -> Any:
        """The algorithm's Function, evaluated."""
        return od.function(algorithm, self.model, *static, **options)(*args)


def _joint(kind: str, axes: list[list[float]]) -> od.Joint:
    if kind in ("revolute", "prismatic", "helical", "multi_dof") and axes:
        for axis in axes:
            _check_unit(axis)
        return od.MultiDof(axes) if kind == "multi_dof" else one_dof(axes[0])
    if kind not in JOINTS:
        raise NotBuilt(f"joint {kind!r}")
    return JOINTS[kind]


def _check_unit(axis: list[float]) -> None:
    """A file's axis must be of unit length: what a longer one means is not agreed upon."""
    turn = np.array(axis[:3])
    if abs(np.linalg.norm(turn if turn.any() else axis) - 1) > TOLERANCE:
        raise BadFile(f"joint axis {axis} is not of unit length")


def _contact(row: dict[str, Any]) -> od.Contact:
    return od.Contact(row["body"], point=tuple(row["point"]), axes=(tuple(row["normal"]),))


def _loop(row: dict[str, Any]) -> od.Loop:
    poses = ((tuple(map(tuple, row[f"R_{end}"])), tuple(row[f"r_{end}"])) for end in ("pred", "succ"))
    return od.Loop(row["predecessor"], row["successor"], (tuple(row["axis"]),), *poses, sliding=False)


def _column(values: Any, at: list[int], what: str) -> ca.DM:
    if len(values) != len(at):
        raise BadFile(f"{what} has {len(values)} entries, the model {len(at)}")
    return ca.DM(np.array(values, dtype=float)[at])
