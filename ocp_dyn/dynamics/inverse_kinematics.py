"""Inverse kinematics: a configuration that brings points, frames and the mass center to given places.

    minimize  1/2 sum of |w r(q)|^2   subject to   q_lower <= q <= q_upper

by Levenberg-Marquardt steps on the configuration manifold, `(J' J + mu) v = -J' r`, `q <- integrate(q, v)`, with the
analytic Jacobians of `kinematics` and `momentum`; dofs at a limit that would leave it are held. Numbers in, numbers
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from casadi import DM

from .._base.autodiff import as_function
from .._base.checks import whole
from .._base.types import (
    LARGEST_MAGNITUDE,
    Array,
    Expr,
    finite,
    finite_vector,
    numbers,
    repr_in_message,
    sequence,
)
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments, column_of_numbers
from ..spatial_algebra.rotations import matrix_quaternion, quaternion_log
from .kinematics import point_jacobian, point_jacobian_6d, point_position, pose, resolve
from .momentum import center_of_mass, center_of_mass_jacobian


@runtime_checkable
class Target(Protocol):
    """A target for a configuration: three residuals, computed from a value that is an expression of q."""

    @property
    def name(self) -> str: ...

    @property
    def weight(self) -> float: ...

    def value(self, model: Model, q: Expr) -> Expr:
        """The quantity itself, column by column."""

    def jacobian(self, model: Model, q: Expr) -> Expr:
        """3 x nv: the rate of the residual along qd."""

    def residual(self, value: Array) -> Array:
        """The residual (3): the deviation of the value, given in numbers, from the target."""


@dataclass(frozen=True, eq=False)
class PointTarget:
    """A point of a frame (in its coordinates [m]) at a world position [m]. Residual: position - target [m].

    >>> found = od.inverse_kinematics(rod, [od.PointTarget("tip", (-1.0, 0.0, 0.0))], q0=[0.1])
    >>> found.q.round(3).tolist()  # the rod is level
    [1.571]
    """

    frame: Frame | str
    position: Any
    point: Any = (0.0, 0.0, 0.0)
    weight: float = 1.0

    def __post_init__(self) -> None:
        _check_frame(self.frame, "PointTarget")
        object.__setattr__(self, "position", finite_vector(self.position, 3, "PointTarget position"))
        object.__setattr__(self, "point", finite_vector(self.point, 3, "PointTarget point"))
        _check_frame(self.frame, "PointTarget")
        _check_weight(self.weight)

    @property
    def name(self) -> str:
        return f"{_name(self.frame)} position"

    def value(self, model: Model, q: Expr) -> Expr:
        return point_position(model, self.frame, q, self.point)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return point_jacobian(model, self.frame, q, self.point)

    def residual(self, value: Array) -> Array:
        return np.asarray(value - self.position)


@dataclass(frozen=True, eq=False)
class OrientationTarget:
    """A frame with its axes along the columns of `rotation` (3x3, world axes).

    Residual: the rotation vector from the target to the frame, world axes [rad]; its length is the angle missing.

    >>> level = od.OrientationTarget("tip", od.rpy_matrix((0.0, np.pi / 2, 0.0)))
    >>> float(od.inverse_kinematics(rod, [level], q0=[0.1]).q[0].round(3))
    1.571
    """

    frame: Frame | str
    rotation: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        _check_frame(self.frame, "OrientationTarget")
        matrix_quaternion(self.rotation)  # raises unless it is a rotation
        object.__setattr__(self, "rotation", numbers(self.rotation).reshape(3, 3))
        _check_frame(self.frame, "OrientationTarget")
        _check_weight(self.weight)

    @property
    def name(self) -> str:
        return f"{_name(self.frame)} orientation"

    def value(self, model: Model, q: Expr) -> Expr:
        return ca.vec(pose(model, self.frame, q)[0])

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return point_jacobian_6d(model, self.frame, q)[:3, :]

    def residual(self, value: Array) -> Array:
        R = value.reshape(3, 3, order="F")
        return np.asarray(quaternion_log(DM(matrix_quaternion(R @ self.rotation.T))).full()).ravel()


@dataclass(frozen=True, eq=False)
class CenterOfMassTarget:
    """The center of mass at a world position [m]. Residual: position - target [m].

    >>> found = od.inverse_kinematics(rod, [od.CenterOfMassTarget((-0.5, 0.0, 0.0))], q0=[0.1])
    >>> found.reached, float(found.q[0].round(3))
    (True, 1.571)
    """

    position: Any
    weight: float = 1.0
    name: str = "center of mass"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"CenterOfMassTarget name must be a string, got {repr_in_message(self.name)}")
        object.__setattr__(self, "position", finite_vector(self.position, 3, "CenterOfMassTarget position"))
        if not isinstance(self.name, str):
            raise TypeError(f"CenterOfMassTarget name must be a string, got {repr_in_message(self.name)}")
        _check_weight(self.weight)

    def value(self, model: Model, q: Expr) -> Expr:
        return center_of_mass(model, q)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return center_of_mass_jacobian(model, q)

    def residual(self, value: Array) -> Array:
        return np.asarray(value - self.position)


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Result of `inverse_kinematics`. q (nq): the best configuration found, within the limits.

    residuals: by target, three unweighted numbers [m or rad]. error: the largest of them. reached: error is within the
    tolerance. converged: reached, or a minimum, as near as the limits and the targets together allow.

    >>> found = od.inverse_kinematics(rod, [od.PointTarget("tip", (-2.0, 0.0, 0.0))], q0=[1.5])
    >>> found.reached, round(found.error, 2)  # out of reach by 1 m
    (False, 1.0)
    """

    q: Array
    residuals: Mapping[str, Array]
    error: float
    reached: bool
    converged: bool
    iterations: int


@checks_arguments()
def inverse_kinematics(
    model: Model,
    targets: Target | Sequence[Target],
    q0: Any,
    *,
    limits: bool = True,
    tolerance: float = 1e-9,
    iterations: int = 200,
) -> InverseKinematics:
    """The configuration near q0 (nq) that meets all targets, or misses them least.

    limits: keep q within `model.dofs.q_lower, q_upper`; q0 outside them is moved to the nearest one. tolerance [m,
    rad]: on every residual. Where more dofs move than targets ask for, the result depends on q0. A local method: from
    far away it may end in a minimum that misses the targets: then `reached` is False. Cost: a Function once per call,
    then O(nv^3) a step.

    >>> found = od.inverse_kinematics(arm, [od.PointTarget("tip", (-1.0, 0.0, -1.0))], q0=[0.5, 0.5])
    >>> found.reached, od.point_position(arm, "tip", found.q).full().round(6).ravel().tolist()
    (True, [-1.0, 0.0, -1.0])
    """
    whole(iterations, "inverse_kinematics: iterations")
    tolerance = finite(tolerance, "inverse_kinematics: tolerance")
    wanted = _as_targets(model, targets)
    q = np.array(column_of_numbers(q0, model.nq, "q0", model.q_names).full()).ravel()
    bounds = _Bounds.of(model) if limits else _Bounds.none(model)
    problem = _Residuals(model, wanted)
    q = bounds.clip(q)
    r, J = problem.at(q)
    mu, settled = 1e-4, False
    step = 0
    while not (np.max(np.abs(r / problem.weights)) <= tolerance or settled or step >= iterations):
        step += 1
        g = J.T @ r
        free = ~bounds.held(q, g)
        gain = np.linalg.norm(J, axis=0)  # motion per unit of each dof; all limits are relative to it
        if np.all(np.abs(g[free]) <= 1e-12 * gain[free] * np.linalg.norm(r)):
            settled = True
            continue
        v = np.zeros(model.nv)
        damping = mu * float(gain.max()) ** 2
        v[free] = np.linalg.solve(J[:, free].T @ J[:, free] + damping * np.eye(int(free.sum())), -g[free])
        ahead = bounds.clip(np.array(model.integrate(DM(q), DM(v)).full()).ravel())
        r_ahead, J_ahead = problem.at(ahead)
        if r_ahead @ r_ahead < r @ r:
            settled = float(np.linalg.norm(gain * v)) < 1e-10 * float(gain.max())
            q, r, J, mu = ahead, r_ahead, J_ahead, max(mu / 10, 1e-12)
        else:
            mu *= 10
            settled = mu > 1e8  # not even the shortest steps downhill reduce the residuals
    return problem.result(q, r, tolerance, settled, step)


class _Residuals:
    """Weighted residuals and their Jacobian, at numbers."""

    def __init__(self, model: Model, targets: tuple[Target, ...]) -> None:
        def values(q: Expr) -> list[Expr]:
            J = [t.weight * t.jacobian(model, q) for t in targets]
            return [*(ca.densify(t.value(model, q)) for t in targets), ca.densify(ca.vertcat(*J))]

        self.targets = targets
        self.weights = np.repeat([float(t.weight) for t in targets], 3)
        self._function = as_function(values, model.nq)

    def at(self, q: Array) -> tuple[Array, Array]:
        *values, J = (np.array(y.full()) for y in self._function.call([DM(q)]))
        r = [t.residual(value.ravel()) for t, value in zip(self.targets, values, strict=True)]
        return self.weights * np.concatenate(r), J

    def result(self, q: Array, r: Array, tolerance: float, settled: bool, steps: int) -> InverseKinematics:
        plain = np.split(r / self.weights, len(self.targets))
        error = float(max(np.max(np.abs(part)) for part in plain))
        reached = error <= tolerance
        residuals = {_unique(k, self.targets): part for k, part in enumerate(plain)}
        return InverseKinematics(q, residuals, error, reached, reached or settled, steps)


@dataclass(frozen=True)
class _Bounds:
    """Limits of entries of q, and the dof that moves each entry that has one."""

    lower: Array
    upper: Array
    entries: tuple[tuple[int, int], ...]

    @staticmethod
    def none(model: Model) -> _Bounds:
        return _Bounds(np.full(model.nq, -np.inf), np.full(model.nq, np.inf), ())

    @staticmethod
    def of(model: Model) -> _Bounds:
        lower, upper = model.dofs.q_lower, model.dofs.q_upper
        entries = []
        for i, _ in model.edges:
            joint = model.joints[i]
            for a, label in enumerate(joint.q_labels):
                k = model.q_index[i] + a
                if not np.isfinite([lower[k], upper[k]]).any():
                    continue
                if label not in joint.qd_labels:
                    raise ValueError(
                        f"q entry {repr_in_message(model.q_names[k])} has limits but no velocity of its own: "
                        "a quaternion cannot be bounded entry by entry; use limits=False"
                    )
                entries.append((k, model.v_index[i] + (a if joint.nq == joint.nv else joint.qd_labels.index(label))))
        return _Bounds(lower, upper, tuple(entries))

    def clip(self, q: Array) -> Array:
        return np.clip(q, self.lower, self.upper)

    def held(self, q: Array, g: Array) -> Any:
        """Dofs (nv) at a limit that a step downhill, along -g, would pass."""
        held = np.zeros(g.size, dtype=bool)
        for k, dof in self.entries:
            held[dof] = (q[k] <= self.lower[k] and g[dof] > 0) or (q[k] >= self.upper[k] and g[dof] < 0)
        return held


def _as_targets(model: Model, targets: Any) -> tuple[Target, ...]:
    if isinstance(targets, Target):
        targets = (targets,)
    members = tuple(sequence(targets, "targets must be a sequence of targets such as PointTarget"))
    for member in members:
        if not isinstance(member, Target):
            raise TypeError(f"targets must be targets such as PointTarget, got {repr_in_message(member)} among them")
        if isinstance(member, (PointTarget, OrientationTarget)):
            resolve(model, member.frame)
    if not members:
        raise ValueError("there are no targets: give at least one, such as PointTarget(frame, position)")
    return members


def _check_frame(frame: Any, what: str) -> None:
    if not isinstance(frame, (Frame, str)):
        raise TypeError(f"{what} needs a frame (model.frame(name)) or a name, got {repr_in_message(frame)}")


def _check_weight(weight: Any) -> None:
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight <= LARGEST_MAGNITUDE:
        raise ValueError(
            f"the weight of a target must be a positive number, got {repr_in_message(weight)}: leave the target out"
        )


def _name(frame: Frame | str) -> str:
    return frame if isinstance(frame, str) else frame.name


def _unique(k: int, targets: tuple[Target, ...]) -> str:
    """The target's name, numbered from the second of a name on."""
    before = sum(t.name == targets[k].name for t in targets[:k])
    return targets[k].name + (f" {before + 1}" if before else "")
