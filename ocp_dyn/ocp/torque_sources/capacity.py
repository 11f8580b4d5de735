"""Torques between what the muscles can give at the angle and the speed of their joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import call_user, scalar
from ..._base.types import Array, Expr, names_in_message, repr_in_message, suggestion
from ...mechanism import Model
from ..statement.instant import Instant
from ..statement.objectives import own_name
from ..statement.path_constraints import Bounded, PathConstraint

TYPICAL_TORQUE = 100.0
"""Scale [N m] of the rows of a curve that does not tell its `peak`."""

Curve = Callable[[Any, Any], Any] | None


@dataclass(frozen=True, eq=False)
class TorqueCapacity(PathConstraint):
    """-lower(q, qd) <= tau <= upper(q, qd) in every interval, for dofs whose strength depends on angle and speed.

    curves: {dof: (lower, upper)} by entries of `model.qd_names` (or joints of one dof); lower and upper are functions
    (q, qd) -> the largest torque [N m], positive, in negative and in positive direction, such as `od.StrengthCurve`;
    None: no row for this direction. People's hips, knees and ankles: `od.models.human_strength_curves`. Each row is
    divided by the `peak` of its curve. The torque limits of the model hold as well: if they are isometric, muscles do
    not give more when they lengthen; `model.with_limits(effort=1.4 * model.dofs.effort)` makes room for that.

    >>> weak = ocp.TorqueCapacity({"joint1": (lambda q, qd: 4.0, lambda q, qd: 8.0 - 2 * qd)})
    >>> weak.rows(instant)  # of the instant's 3 N m at 1 rad/s, over 100 N m: 3 + 4 >= 0 and 3 - (8 - 2) <= 0
    (SX([0.07, -0.03]), array([  0., -inf]), array([inf,  0.]))
    """

    curves: Mapping[str, tuple[Curve, Curve]]
    name: str = own_name()
    where = "interval"

    def __post_init__(self) -> None:
        if not isinstance(self.curves, Mapping) or not self.curves:
            raise TypeError(
                "TorqueCapacity curves must be a dict {dof: (lower, upper)} of functions (q, qd) -> torque [N m], "
                f"got {repr_in_message(self.curves)}"
            )
        for name, pair in self.curves.items():
            fits = isinstance(pair, (tuple, list)) and len(pair) == 2
            if not fits or not all(curve is None or callable(curve) for curve in pair):
                raise TypeError(
                    f"TorqueCapacity: {repr_in_message(name)} needs a pair (lower, upper) of functions (q, qd) -> "
                    f"torque [N m] or None, got {repr_in_message(pair)}"
                )
            if pair[0] is None and pair[1] is None:
                raise ValueError(
                    f"TorqueCapacity: {repr_in_message(name)} has no curve in either direction: leave it out"
                )
            for curve, direction in zip(pair, (-1, 1), strict=True):
                if getattr(curve, "direction", direction) != direction:
                    raise ValueError(
                        f"TorqueCapacity: {repr_in_message(name)} has a curve of the direction {-direction} in the "
                        f"place of the direction {direction}: the order is (lower, upper)"
                    )

    def check(self, model: Model, feet: Sequence[str]) -> None:
        for name in self.curves:
            _place(model, name)

    def rows(self, instant: Instant) -> Bounded:
        rows, lower, upper = [], [], []
        for k, torque, sign, scale in self._torques(instant):
            rows.append((instant.tau[k] - sign * torque) / scale)
            lower.append(0.0 if sign < 0 else -np.inf)
            upper.append(np.inf if sign < 0 else 0.0)
        return ca.vertcat(ca.SX(0, 1), *rows), np.array(lower), np.array(upper)

    def strengths(self, instant: Instant) -> tuple[Expr, Expr]:
        """Largest torques at an instant in negative and in positive direction, both as magnitudes (nv) [N m].

        A dof without a curve has the limit of the model, which may be infinite.
        """
        dofs = instant.model.dofs
        both = {-1: ca.SX(-dofs.tau_min), 1: ca.SX(dofs.tau_max)}
        for k, torque, sign, _ in self._torques(instant):
            both[sign][k] = torque
        return both[-1], both[1]

    def _torques(self, instant: Instant) -> Iterator[tuple[int, Expr, int, float]]:
        """Dof, largest torque, direction and scale of every curve."""
        for name, pair in self.curves.items():
            at, k = _place(instant.model, name)
            for curve, sign in zip(pair, (-1, 1), strict=True):
                if curve is not None:
                    what = f"TorqueCapacity curve of {name!r}"
                    torque = scalar(call_user(what, curve, instant.q[at], instant.qd[k]), what)
                    yield k, torque, sign, float(getattr(curve, "peak", TYPICAL_TORQUE))


def strengths_along(model: Model, capacities: Sequence[TorqueCapacity], q: Array, qd: Array) -> Array:
    """Largest torques (2, N, nv) [N m] at N states, q (N, nq) and qd (N, nv), in negative and in positive direction:
    the least that the curves of all capacities and the limits of the model allow."""
    at, speed = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    instant = Instant(model, at, speed)
    both = ca.Function("strengths", [at, speed], [ca.horzcat(*capacity.strengths(instant)) for capacity in capacities])
    each = [[np.asarray(x.full()).T for x in both.call(state)] for state in zip(q, qd, strict=True)]
    return np.stack([np.min(of_one, axis=0) for of_one in each], axis=1)


def _place(model: Model, name: Any) -> tuple[int, int]:
    """Indices in q and in qd of a dof, by the name of its entry of qd or of a joint of one dof."""
    for i, joint in enumerate(model.joints[1:], 1):
        first = model.v_index[i]
        names = model.qd_names[first : first + joint.nv]
        if name in names or (name == model.joint_names[i - 1] and joint.nv == 1):
            k = names.index(name) if name in names else 0
            if joint.nq != joint.nv:
                raise ValueError(
                    f"TorqueCapacity: {repr_in_message(name)} belongs to a joint with a quaternion, which has no "
                    "single angle: give the joint Euler angles, or leave this dof out"
                )
            return model.q_index[i] + k, first + k
    known = tuple(dict.fromkeys((*model.qd_names, *model.joint_names)))
    hint = suggestion(name, known) if isinstance(name, str) else ""
    raise KeyError(
        f"TorqueCapacity: no dof {repr_in_message(name)}{hint or '; known are: ' + names_in_message(model.qd_names)}"
    )
