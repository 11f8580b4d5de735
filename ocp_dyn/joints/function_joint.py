"""A joint whose rotations and translations are functions of its coordinates, given as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, Vector, finite_vector, repr_in_message, sequence, sparse, sparse_beside, split, truth
from ..spatial_algebra.rotations import checked_pose, rotation_about, unit_axis
from ..spatial_algebra.spatial import Transform, cross
from .functions import ConstantFunction, LinearFunction, ScalarFunction
from .one_dof import Prismatic, Revolute
from .protocol import Joint, JointState

PARALLEL = 1e-9
"""Sine of the angle below which two successive axes of rotation count as parallel."""
IDENTITY = LinearFunction()
"""The coordinate itself."""
UNMOVED = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class JointAxis:
    """An axis of a `FunctionJoint`: the body turns about it, or moves along it, by a function of some coordinates.

    axis: three numbers, normalized, or "x", "-z". coordinates: indices of the entries of the joint's q that the
    function takes, in its order.

    >>> od.JointAxis("z", od.LinearFunction(), (0,)).axis
    (0.0, 0.0, 1.0)
    """

    axis: str | Vector
    function: ScalarFunction = IDENTITY
    coordinates: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis))
        if not isinstance(self.function, ScalarFunction):
            raise TypeError(f"JointAxis function must be one such as SimmSpline, got {repr_in_message(self.function)}")
        given = self.coordinates
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"JointAxis coordinates must be a tuple of indices, got {repr_in_message(given)}")
        if not all(isinstance(k, int) and not isinstance(k, bool) and 0 <= k < 6 for k in given):
            raise ValueError(f"JointAxis coordinates must be indices 0 to 5, got {repr_in_message(self.coordinates)}")
        if self.function.arity not in (None, len(given)):
            raise ValueError(
                f"JointAxis: {type(self.function).__name__} takes {self.function.arity} coordinates, got {len(given)}"
            )
        object.__setattr__(self, "coordinates", tuple(given))

    @property
    def vector(self) -> tuple[float, float, float]:
        return self.axis  # type: ignore[return-value]


class _Motion(NamedTuple):
    """An amount (angle or length) along an axis: its value, its rate by every coordinate (a row), and its bias, the
    second derivative in time at qdd = 0."""

    amount: Expr
    slopes: Expr
    bias: Expr


@dataclass(frozen=True)
class FunctionJoint(Joint):
    """A joint that moves by functions of its coordinates, as OpenSim's CustomJoint with its SpatialTransform.

        R = R(a_1, f_1(q)) R(a_2, f_2(q)) R(a_3, f_3(q)),   p = g_1(q) t_1 + g_2(q) t_2 + ... + diag(radii) R z

    rotations: up to three `JointAxis`, each carried along by those before it. translations: `JointAxis` in the fixed
    frame, which the rotations do not turn. radii [m]: half axes of an ellipsoid on which the origin moves along with
    the z axis of the moved frame, as in OpenSim's EllipsoidJoint. labels: a name per entry of q; qd is dq/dt.
    pose: (R, p) of the moved frame in the body, so that the body's own frame may lie elsewhere. reverse=True: the body
    is the one on the fixed side, and its parent the one on the moved side.

    S is singular where two of three axes of rotation become parallel, as with Euler angles.

    ValueError or TypeError for parallel successive axes, functions of coordinates that the joint does not have, and
    coordinates that move nothing.

    >>> knee = od.FunctionJoint(  # it rolls back 1 cm while it bends
    ...     [od.JointAxis("z")], [od.JointAxis("x", od.SimmSpline((-2, -1, 0), (-0.01, -0.007, 0)))]
    ... )
    >>> builder = od.ModelBuilder()
    >>> builder.add_body("shank", knee, mass=3, com=(0, -0.2, 0), inertia=(0.05, 0.005, 0.05))
    >>> od.point_position(builder.build(), "shank", [-2.0])
    DM([-0.01, 00, 00])
    """

    rotations: Sequence[JointAxis] = ()
    translations: Sequence[JointAxis] = ()
    labels: tuple[str, ...] = ("",)
    radii: Vector = (0.0, 0.0, 0.0)
    pose: Any = UNMOVED
    reverse: bool = False

    def __post_init__(self) -> None:
        labels = tuple(sequence(self.labels, "FunctionJoint labels must be a tuple of names"))
        if not all(isinstance(label, str) for label in labels):
            raise TypeError(f"FunctionJoint labels must be a tuple of names, got {repr_in_message(self.labels)}")
        if not 1 <= len(labels) <= 6 or len(set(labels)) < len(labels):
            raise ValueError(f"FunctionJoint needs 1 to 6 labels, all different, got {repr_in_message(self.labels)}")
        for what, most in (("rotations", 3), ("translations", 6)):
            axes = tuple(sequence(getattr(self, what), f"FunctionJoint {what} must be a tuple of JointAxis"))
            if not all(isinstance(axis, JointAxis) for axis in axes) or len(axes) > most:
                raise ValueError(f"FunctionJoint {what} must be at most {most} JointAxis, got {repr_in_message(axes)}")
            object.__setattr__(self, what, axes)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "q_labels", labels)
        object.__setattr__(self, "qd_labels", labels)
        object.__setattr__(self, "radii", tuple(map(float, finite_vector(self.radii, 3, "FunctionJoint radii [m]"))))
        object.__setattr__(self, "pose", checked_pose(self.pose, "FunctionJoint pose"))
        truth(self.reverse, "FunctionJoint reverse")
        self._check_axes(len(labels))

    def _check_axes(self, size: int) -> None:
        used = {k for axis in (*self.rotations, *self.translations) for k in axis.coordinates}
        if used and max(used) >= size:
            raise ValueError(f"FunctionJoint has {size} coordinates, and an axis names number {max(used)} (from 0)")
        moving = {
            k for axis in (*self.rotations, *self.translations)
            if not isinstance(axis.function, ConstantFunction) for k in axis.coordinates
        }  # fmt: skip
        idle = [self.labels[k] or str(k) for k in range(size) if k not in moving]
        if idle:
            raise ValueError(f"FunctionJoint: the coordinates {', '.join(idle)} move nothing; leave them out")
        for one, other in zip(self.rotations[:-1], self.rotations[1:], strict=True):
            if np.linalg.norm(np.cross(one.vector, other.vector)) < PARALLEL:
                raise ValueError(
                    f"FunctionJoint: two successive axes of rotation are parallel, {repr_in_message(one.axis)}; add "
                    "their functions up on one axis"
                )

    @property
    def _rounds(self) -> bool:
        """Whether the origin moves on an ellipsoid."""
        return any(self.radii)

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        XJ, S, cJ = self._in_moved_frame(q, qd)
        if self.reverse:  # the same motion seen from the other side; vJ x vJ vanishes in cJ
            XJ, S, cJ = XJ.inverse(), -XJ.apply_inverse(S), -XJ.apply_inverse(cJ)
        if self.pose != UNMOVED:
            R, p = self.pose
            X = Transform.pose(sparse(np.reshape(R, (3, 3))), sparse_beside(p)).inverse()
            XJ, S, cJ = X @ XJ, X.apply(S), X.apply(cJ)
        return JointState(XJ, S, S @ qd, cJ)

    def _in_moved_frame(self, q: Expr, qd: Expr) -> tuple[Transform, Expr, Expr]:
        """XJ, S, cJ of the moved frame against the fixed one.

        With w_i the axes of rotation in moved coordinates and s_i the rates of the angles, an axis that is carried
        along turns, seen from the moved frame, against the rotations after it: dw_i/dt = -(sum_{j > i} w_j s_j) x w_i.
        """
        position, rates = split(q), split(qd)
        E: Expr = DM.eye(3)
        columns: Expr = DM(3, self.nv)
        bias: Expr = DM(3, 1)
        after: Expr = DM(3, 1)  # angular velocity of the rotations after this one
        for axis in reversed(self.rotations):
            turn = _amount(axis, position, rates)
            w = E @ sparse(axis.vector)
            speed = turn.slopes @ qd
            columns = columns + w @ turn.slopes
            bias = bias + w @ turn.bias - cross(after, w) * speed
            after = after + w * speed
            R = rotation_about(axis.vector, turn.amount)
            E = E @ (ca.sparsify(R) if isinstance(R, DM) else R).T
        p: Expr = DM(3, 1)
        along: Expr = DM(3, self.nv)
        p_bias: Expr = DM(3, 1)
        for axis in self.translations:
            shift, t = _amount(axis, position, rates), sparse(axis.vector)
            p, along, p_bias = p + t * shift.amount, along + t @ shift.slopes, p_bias + t @ shift.bias
        if self._rounds:
            r, z, w = ca.diag(sparse(self.radii)), DM([0, 0, 1]), columns @ qd
            D = r @ E.T
            p, along = p + D[:, 2], along + D @ ca.horzcat(*(cross(w_k, z) for w_k in ca.horzsplit(columns)))
            p_bias = p_bias + D @ (cross(w, cross(w, z)) + cross(bias, z))
        linear = E @ along
        c_linear = E @ p_bias - cross(columns @ qd, linear @ qd)
        return Transform(E, p), ca.vertcat(columns, linear), ca.vertcat(bias, c_linear)

    def scaled(self, length: float) -> Joint:
        lengths, _ = self.lengths()
        factors = np.where(lengths, length, 1.0)

        def moved(axis: JointAxis, factor: float) -> JointAxis:
            inner = axis.function.with_scaled_coordinates([float(factors[k]) for k in axis.coordinates])
            return replace(axis, function=inner.times(factor))

        return replace(
            self,
            rotations=tuple(moved(axis, 1.0) for axis in self.rotations),
            translations=tuple(moved(axis, length) for axis in self.translations),
            radii=tuple(length * r for r in np.array(self.radii)),
            pose=(self.pose[0], tuple(length * x for x in self.pose[1])),
        )

    def held(self, values: Mapping[int, float]) -> FunctionJoint:
        """The joint whose coordinates of these indices are held at values [rad or m]; the others keep their order.

        ValueError if no coordinate is left.
        """
        kept = [k for k in range(self.nq) if k not in values]
        return replace(
            self,
            rotations=tuple(_held(axis, values, kept) for axis in self.rotations),
            translations=tuple(_held(axis, values, kept) for axis in self.translations),
            labels=tuple(self.labels[k] for k in kept),
        )

    def chain(self) -> tuple[Joint, ...]:
        """Slides and hinges, if each axis moves by its own coordinate alone, in the order of the coordinates."""
        axes = [(Prismatic, axis) for axis in self.translations] + [(Revolute, axis) for axis in self.rotations]
        plain = all(axis.function == IDENTITY for _, axis in axes)
        order = [axis.coordinates for _, axis in axes]
        simple = plain and order == [(k,) for k in range(self.nv)]
        if not simple or self._rounds or self.pose != UNMOVED or self.reverse:
            if self.nq == 1:
                return (self,)
            raise ValueError(f"{repr_in_message(self)} is not a chain of 1-dof joints")
        return tuple(kind(axis.vector) for kind, axis in axes)


def _amount(axis: JointAxis, position: list[Expr], rates: list[Expr]) -> _Motion:
    """The motion along an axis at these coordinates and rates."""
    orders = axis.function.orders(*(position[k] for k in axis.coordinates))
    like = type(position[0])
    slopes = like(1, len(position))
    bias: Any = like(1, 1)
    for k, slope, row in zip(axis.coordinates, orders.slopes, orders.curvatures, strict=True):
        if not _is_zero(slope):
            slopes[0, k] = slope
        for j, curvature in zip(axis.coordinates, row, strict=True):
            if not _is_zero(curvature):
                bias = bias + curvature * rates[k] * rates[j]
    amount = orders.value
    if isinstance(amount, (int, float)):
        amount = DM(amount) if amount else DM(1, 1)
    return _Motion(amount, slopes, bias)


def _is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0


def _held(axis: JointAxis, values: Mapping[int, float], kept: list[int]) -> JointAxis:
    """The axis where some coordinates are constant: its function is then one of those that are left."""
    free = [k for k in axis.coordinates if k not in values]
    if len(free) == len(axis.coordinates):
        return replace(axis, coordinates=tuple(kept.index(k) for k in free))
    at = [values.get(k, 0.0) for k in axis.coordinates]
    if not free or axis.function.arity is None:
        return JointAxis(axis.axis, ConstantFunction(float(axis.function.at(*at))), ())
    return JointAxis(axis.axis, _partial(axis.function, axis.coordinates, values), tuple(map(kept.index, free)))


def _partial(function: ScalarFunction, coordinates: Sequence[int], values: Mapping[int, float]) -> ScalarFunction:
    """A function of several coordinates, some of which are constant."""
    orders = function.orders(*(values.get(k, 0.0) for k in coordinates))
    slopes = tuple(s for k, s in zip(coordinates, orders.slopes, strict=True) if k not in values)
    return LinearFunction(slopes, float(orders.value))  # only linear functions take several coordinates
