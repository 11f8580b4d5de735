"""Constraints from a function phi(q) or phi(q, t), on joints, and stabilized ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._base.autodiff import FunctionDerivatives, derivatives, jacobian_error
from .._base.extensible import derive
from .._base.types import Expr, finite, finite_vector, numbers, repr_in_message, sparse, truth
from ..mechanism import Model
from .sets import Constraint


@dataclass(frozen=True)
class CustomConstraint(Constraint):
    """phi(q) = 0, or phi(q, t) = 0, for a function that the user gives; G and gamma by automatic differentiation.

    phi: q (nq) -> a column of CasADi expressions, e.g. `lambda q: od.point_position(model, "hand", q)[2] - 1`;
    with timed=True, (q, t) -> a column. size: its number of rows. name: of the constraint, in rows and forces.

        G qd = (dphi/dq) q_dot(q, qd),   gamma = -d/dt (G qd + dphi/dt) at qdd = 0.

    Constraints on time take t [s] from the algorithms' option `t` (a number, an expression, or `t="input"` in
    `od.function`).

    >>> height = od.CustomConstraint(lambda q: od.point_position(rod, "tip", q)[2] + 0.5, name="height")
    >>> q = od.assemble_q(rod, [height], [0.8])
    >>> np.degrees(q).round(6).tolist()  # the tip is half a meter below the hinge
    [60.0]
    """

    phi: Callable[..., Any]
    size: int = 1
    name: str = "custom"
    timed: bool = False
    t: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"CustomConstraint name must be a string, got {repr_in_message(self.name)}")
        truth(self.timed, "CustomConstraint timed")
        if not callable(self.phi):
            raise TypeError(f"CustomConstraint needs a function phi(q), got {repr_in_message(self.phi)}")
        truth(self.timed, "CustomConstraint timed")
        if self.t is not None and not isinstance(self.t, (DM, SX, MX)):
            finite(self.t, "CustomConstraint t [s]")
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 1 <= self.size <= 1_000_000:
            raise ValueError(
                f"CustomConstraint size must be the number of rows of phi, at least 1, got {repr_in_message(self.size)}"
            )

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.name,) if self.size == 1 else tuple(f"{self.name}{k}" for k in range(self.size))

    def at_time(self, t: Any) -> CustomConstraint:
        """The same constraint at time t [s]."""
        return replace(self, t=t) if self.timed else self

    def position(self, model: Model, q: Expr) -> Expr:
        return self._derive(model, q).value

    def velocity(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """G qd + dphi/dt at fixed q."""
        return self._derive(model, q).jacobian @ ca.vertcat(qd, 1)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return self._derive(model, q).jacobian[:, : model.nv]

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return -self._derive(model, q, qd).bias

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        """Sizes of the terms that add up to each entry of G (m x nv): the running error of the derivatives of phi."""
        phi, rate, x = self._along(model, q)
        return jacobian_error(phi, x, model.nv + 1, rate)[:, : model.nv]

    def _derive(self, model: Model, q: Expr, qd: Expr | None = None) -> FunctionDerivatives:
        """phi along x = [q; t], v = [qd; 1]: time is a coordinate that runs at unit rate."""
        phi, rate, x = self._along(model, q)
        v = model.rest(q) if qd is None else qd
        return derivatives(phi, x, ca.vertcat(v, DM(1)), rate)

    def _along(self, model: Model, q: Expr) -> tuple[Callable[[Expr], Expr], Callable[[Expr, Expr], Expr], Expr]:
        """phi(x), the rate of x, and x itself."""
        if self.timed and self.t is None:
            raise ValueError(
                f"constraint {repr_in_message(self.name)} depends on time and none is given: pass t=... to the "
                "algorithm, "
                'or t="input" to od.function'
            )

        def phi(x: Expr) -> Expr:
            value = self.phi(x[: model.nq], x[model.nq]) if self.timed else self.phi(x[: model.nq])
            if getattr(value, "shape", (self.size, 1)) != (self.size, 1):
                raise ValueError(
                    f"phi of {repr_in_message(self.name)} must be {self.size} x 1 (its size), got shape {value.shape}"
                )
            return value

        def rate(x: Expr, v: Expr) -> Expr:
            return ca.vertcat(model.q_dot(x[: model.nq], v[: model.nv]), v[model.nv])

        return phi, rate, ca.vertcat(q, self.t if self.timed else DM(1, 1))


@dataclass(frozen=True)
class JointCoupling(Constraint):
    """q_i = ratio q_j + offset, or q_i = ratio f(q_j) + offset, for two joints with one dof each.

    joint, other: names of the joints i and j: gears, mimicking joints, cams. offset [rad or m]. function: f, of one
    CasADi expression; differentiated automatically. `lam` is the force on `joint`; `other` feels -ratio f' lam.

    >>> gear = od.JointCoupling("joint2", "joint1", ratio=-2.0)
    >>> od.constraint_jacobian(arm, [gear], [0.0, 0.0])  # qd2 + 2 qd1 = 0
    DM([[2, 1]])
    """

    joint: str
    other: str
    ratio: float = 1.0
    offset: float = 0.0
    function: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for joint in (self.joint, self.other):
            if not isinstance(joint, str):
                raise TypeError(f"JointCoupling needs names of joints, got {repr_in_message(joint)}")
        if self.joint == self.other:
            raise ValueError(f"JointCoupling needs two joints, got {repr_in_message(self.joint)} twice")
        if self.function is not None and not callable(self.function):
            raise TypeError(f"JointCoupling function must be a function of q_j, got {repr_in_message(self.function)}")
        object.__setattr__(self, "ratio", float(finite_vector(self.ratio, 1, "JointCoupling ratio")[0]))
        object.__setattr__(self, "offset", float(finite_vector(self.offset, 1, "JointCoupling offset")[0]))

    @property
    def name(self) -> str:
        return f"{self.joint}={self.other}"

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.name,)

    def renamed(self, name: Callable[[str], str]) -> JointCoupling:
        return replace(self, joint=name(self.joint), other=name(self.other))

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> JointCoupling:
        own, other = coordinates[self.joint], coordinates[self.other]
        if self.function is not None and other != 1:
            return super().scaled(length, coordinates)  # type: ignore[no-any-return]
        return replace(self, ratio=self.ratio * own / other, offset=self.offset * own)

    def within(self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]) -> Any:
        if self.joint in left and self.other in held:
            at = held[self.other]
            f = at if self.function is None else float(DM(self.function(DM(at))))
            return LockedJoint(self.joint, self.ratio * f + self.offset)
        return self if {self.joint, self.other} <= set(left) else None

    def position(self, model: Model, q: Expr) -> Expr:
        i = _single(model, self.joint, model.q_slice(self.joint))
        return q[i] - self.ratio * self._other(model, q).value - self.offset

    def jacobian(self, model: Model, q: Expr) -> Expr:
        i, j = (_single(model, name, model.qd_slice(name)) for name in (self.joint, self.other))
        row = type(q)(1, model.nv)
        row[i], row[j] = 1.0, -self.ratio * self._other(model, q).jacobian
        return row

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return self.ratio * self._other(model, q, qd).bias

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        return ca.fabs(self.jacobian(model, q))

    def _other(self, model: Model, q: Expr, qd: Expr | None = None) -> FunctionDerivatives:
        """f(q_j), f' and f'' qd_j^2."""
        j = _single(model, self.other, model.q_slice(self.other))
        k = _single(model, self.other, model.qd_slice(self.other))
        if self.function is None:
            return FunctionDerivatives(q[j], DM(1), DM(1, 1))
        return derivatives(self.function, q[j], (model.rest(q) if qd is None else qd)[k])


@dataclass(frozen=True)
class LockedJoint(Constraint):
    """A joint that is locked: all its velocities are zero.

    joint: its name. value: the joint's entries of q at which it is locked (None: no phi). phi: the tangent step
    from value to q, `G qd = d(phi)/dt` at phi = 0 (everywhere but for quaternions).

    >>> lock = od.LockedJoint("joint2", value=0.0)
    >>> qdd, lam = od.constrained_dynamics(arm, [lock], [np.pi / 2, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> qdd[0]  # the two rods fall as one rod of 2 m: -3/2 g / (2 m)
    DM(-7.3575)
    """

    joint: str
    value: Any = None
    dofs: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise TypeError(f"LockedJoint needs the name of a joint, got {repr_in_message(self.joint)}")
        if isinstance(self.dofs, bool) or not isinstance(self.dofs, int) or not 1 <= self.dofs <= 6:
            raise ValueError(
                f"LockedJoint dofs must be the number of the joint's dofs, 1 to 6, got {repr_in_message(self.dofs)}"
            )
        if self.value is not None:
            size = max(1, numbers(self.value).size)
            values = tuple(float(x) for x in finite_vector(self.value, size, "LockedJoint value"))
            object.__setattr__(self, "value", values)

    @staticmethod
    def of(model: Model, joint: str, q: Any = None) -> LockedJoint:
        """The lock of a joint with any number of dofs, at its part of q if q is given."""
        at, dofs = model.q_slice(joint), model.qd_slice(joint)
        value = (
            None if q is None else tuple(np.asarray(model.column(q, model.nq, "q", model.q_names).full()).ravel()[at])
        )
        return LockedJoint(joint, value, dofs.stop - dofs.start)

    @property
    def name(self) -> str:
        return self.joint

    def renamed(self, name: Callable[[str], str]) -> LockedJoint:
        return replace(self, joint=name(self.joint))

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> LockedJoint:
        if self.value is None or self.dofs > 1:
            return self if self.value is None else super().scaled(length, coordinates)
        return replace(self, value=coordinates[self.joint] * self.value[0])

    def within(self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]) -> LockedJoint | None:
        return self if self.joint in left else None

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.joint,) if self.dofs == 1 else tuple(f"{self.joint}.{k}" for k in range(self.dofs))

    def position(self, model: Model, q: Expr) -> Expr:
        if self.value is None:
            raise ValueError(
                f"locked joint {repr_in_message(self.joint)} has no value, so no phi: LockedJoint.of(model, joint, q)"
            )
        i = model.joint_names.index(self.joint) + 1 if self._dofs(model) else 0
        at = model.q_slice(self.joint)
        held = DM(
            finite_vector(self.value, at.stop - at.start, f"the value of locked joint {repr_in_message(self.joint)}")
        )
        return model.joints[i].difference(held, q[at])

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return sparse(np.eye(model.nv)[self._dofs(model)])

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return DM(self.dofs, 1)

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        return self.jacobian(model, q)

    def _dofs(self, model: Model) -> slice:
        found = model.qd_slice(self.joint)
        if found.stop - found.start != self.dofs:
            raise ValueError(
                f"joint {repr_in_message(self.joint)} has {found.stop - found.start} dofs, this LockedJoint has "
                f"dofs={self.dofs}: write LockedJoint.of(model, joint)"
            )
        return found


@dataclass(frozen=True)
class Baumgarte(Constraint):
    """A constraint with stabilization: gamma - 2/T (velocity error) - 1/T^2 (position error) [F16, sec. 2.2].

    T [s]: errors die out as exp(-time/T), critically damped. Rows, G and forces are those of the constraint.

    >>> pin = od.Contact("tip", axes="z", reference=(np.eye(3), (0.0, 0.0, -0.9)))
    >>> held = od.Baumgarte(pin, T=0.1)  # the tip, 0.1 m too low, is pulled up by 0.1 m / T^2
    >>> od.constraint_hessian(rod, [held], [0.0], [0.0])
    DM(10)
    """

    constraint: Constraint
    T: float

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, Constraint):
            raise TypeError(
                f"Baumgarte needs a constraint such as Contact, got {repr_in_message(self.constraint)}"
                f"{derive(self.constraint, (Constraint,))}"
            )
        object.__setattr__(self, "T", finite(self.T, "Baumgarte time constant T [s]"))
        if self.T <= 0:
            raise ValueError(f"Baumgarte time constant T must be positive [s], got {repr_in_message(self.T)}")

    @property
    def name(self) -> str:
        return self.constraint.name

    @property
    def rows(self) -> tuple[str, ...]:
        return self.constraint.rows

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.constraint.parameters

    def with_parameter(self, kind: str, value: Any) -> Baumgarte:
        return replace(self, constraint=self.constraint.with_parameter(kind, value))

    def at_time(self, t: Any) -> Baumgarte:
        return replace(self, constraint=self.constraint.at_time(t))

    def position(self, model: Model, q: Expr) -> Expr:
        return self.constraint.position(model, q)

    def velocity(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return self.constraint.velocity(model, q, qd)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return self.constraint.jacobian(model, q)

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        return self.constraint.magnitudes(model, q)

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        gamma = self.constraint.hessian(model, q, qd)
        return gamma - 2 / self.T * self.velocity(model, q, qd) - self.position(model, q) / self.T**2

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        return self.constraint.wrenches(model, q, lam)


def _single(model: Model, joint: str, entries: slice) -> int:
    if entries.stop - entries.start != 1:
        raise ValueError(
            f"JointCoupling couples joints with one dof, {repr_in_message(joint)} has {entries.stop - entries.start}"
        )
    return int(entries.start)
