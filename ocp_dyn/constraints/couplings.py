"""Couplings of coordinates by functions, and distances of points: constraints made of names and numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
from casadi import DM

from .._base.checks import finite, label, positive
from .._base.types import Expr, ModelError, Vector, finite_vector, repr_in_message, sequence, suggestion
from ..dynamics.kinematics import point_acceleration, point_jacobian, point_position, point_velocity
from ..joints import ConstantFunction, LinearFunction, ScalarFunction
from ..mechanism import Model
from .contact import wrench_at
from .sets import Constraint

IDENTITY = LinearFunction()
"""The coordinate itself."""


@dataclass(frozen=True)
class CoordinateCoupling(Constraint):
    """scale f(q_1, q_2, ...) - q_0 = 0: one coordinate follows others, by a function given as data.

    coordinate: the entry of `model.q_names` that follows; others: those that f takes, in its order. Each must be an
    entry whose rate is an entry of qd. The rows of lam are forces on the coordinate [N m or N].

        G qd = -qd_0 + scale sum_k f_k qd_k,   gamma = -scale sum_jk f_jk qd_j qd_k,

    with f_k, f_jk the first and second derivatives of f. ModelError for a coordinate that the model does not have.

    >>> patella = od.CoordinateCoupling("joint2", ("joint1",), od.PolynomialFunction((0.5, 0.0)))
    >>> od.constraint_jacobian(arm, [patella], [0.0, 0.0])  # qd2 = qd1 / 2
    DM([[0.5, -1]])
    """

    coordinate: str
    others: tuple[str, ...]
    function: ScalarFunction = IDENTITY
    scale: float = 1.0
    label: str | None = None

    def __post_init__(self) -> None:
        label(self.coordinate, "CoordinateCoupling coordinate")
        others = (self.others,) if isinstance(self.others, str) else self.others
        names = tuple(sequence(others, "CoordinateCoupling others must be names of coordinates"))
        for name in names:
            label(name, "CoordinateCoupling others: the name of a coordinate")
        if self.label is not None:
            label(self.label, "CoordinateCoupling label")
        if not isinstance(self.function, ScalarFunction):
            raise TypeError(
                f"CoordinateCoupling function must be one such as od.SimmSpline, got {repr_in_message(self.function)}"
            )
        if self.coordinate in names or len(set(names)) < len(names):
            raise ValueError(f"CoordinateCoupling of {self.coordinate}: its coordinates must differ, got {names}")
        if self.function.arity not in (None, len(names)):
            raise ValueError(
                f"CoordinateCoupling of {self.coordinate}: {type(self.function).__name__} takes "
                f"{self.function.arity} coordinates, got {len(names)}"
            )
        object.__setattr__(self, "others", names)
        object.__setattr__(self, "scale", finite(self.scale, "CoordinateCoupling scale"))

    @property
    def name(self) -> str:
        return self.label or f"{self.coordinate}({', '.join(self.others)})"

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.name,)

    def renamed(self, name: Callable[[str], str]) -> CoordinateCoupling:
        return replace(
            self,
            coordinate=name(self.coordinate),
            others=tuple(map(name, self.others)),
            label=name(self.label) if self.label else None,
        )

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> CoordinateCoupling:
        function = self.function.with_scaled_coordinates([coordinates[name] for name in self.others])
        return replace(self, function=function, scale=self.scale * coordinates[self.coordinate])

    def within(
        self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]
    ) -> CoordinateCoupling | None:
        if self.coordinate not in left:
            return None
        known = [name for name in self.others if name in held]
        if not known:
            return self if set(self.others) <= set(left) else None
        at = [held.get(name, 0.0) for name in self.others]
        orders = self.function.orders(*at)
        free = [(n, s) for n, s in zip(self.others, orders.slopes, strict=True) if n not in held]
        if not free:
            return replace(self, others=(), function=ConstantFunction(float(orders.value)))
        # several coordinates: a linear function, the only one that takes more than one
        function = LinearFunction(tuple(float(s) for _, s in free), float(orders.value))
        return replace(self, others=tuple(n for n, _ in free), function=function)

    def position(self, model: Model, q: Expr) -> Expr:
        (i, _), places = self._entries(model)
        return self.scale * self._value(q, places) - q[i]

    def jacobian(self, model: Model, q: Expr) -> Expr:
        (_, i), places = self._entries(model)
        orders = self.function.orders(*(q[k] for k, _ in places))
        row = type(q)(1, model.nv)
        row[i] = -1.0
        for (_, k), slope in zip(places, orders.slopes, strict=True):
            row[k] = self.scale * slope
        return row

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        _, places = self._entries(model)
        orders = self.function.orders(*(q[k] for k, _ in places))
        found: Any = type(q)(1, 1)
        for (_, j), row in zip(places, orders.curvatures, strict=True):
            for (_, k), curvature in zip(places, row, strict=True):
                if not (isinstance(curvature, float) and curvature == 0):
                    found = found - self.scale * curvature * qd[j] * qd[k]
        return found

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        return ca.fabs(self.jacobian(model, q))

    def _value(self, q: Expr, places: list[tuple[int, int]]) -> Any:
        return self.function.orders(*(q[k] for k, _ in places)).value

    def _entries(self, model: Model) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Indices into q and into qd of the coordinate, and of the others."""
        own, *others = (coordinate_entry(model, name, self.name) for name in (self.coordinate, *self.others))
        return own, others


def coordinate_entry(model: Model, name: str, what: str) -> tuple[int, int]:
    """Indices into q and into qd of a coordinate; ModelError unless its rate is an entry of qd."""
    if name not in model.q_names:
        raise ModelError(
            f"{what}: the model has no coordinate {repr_in_message(name)}{suggestion(name, model.q_names)}"
        )
    at = model.q_names.index(name)
    i = next(i for i, _ in model.edges if model.q_index[i] <= at < model.q_index[i + 1])
    own = model.joints[i].coordinates()
    if at - model.q_index[i] not in own:
        raise ModelError(f"{what}: the rate of the coordinate {repr_in_message(name)} is no entry of qd")
    return at, model.v_index[i] + own.index(at - model.q_index[i])


@dataclass(frozen=True)
class PointDistance(Constraint):
    """|x_1 - x_0| = distance: two points stay as far apart from each other, as at the ends of a rod.

    frame, point and other, other_point: the points x_0 and x_1 [m], in frames by their names. distance [m], above zero.

        phi = (d' d - distance^2) / (2 distance),   G qd = d' v / distance,   gamma = -(d' a + v' v) / distance,

    d = x_1 - x_0 with its rates v, a at qdd = 0. lam [N] is the force in the rod: it pushes the points apart.

    >>> hung = arm.with_frame("middle", "link1", (0.0, 0.0, -0.5))
    >>> od.constraint_position(hung, [od.PointDistance("middle", "tip", 1.5)], [0.0, 0.0])
    DM(0)
    """

    frame: str
    other: str
    distance: float
    point: Vector = (0.0, 0.0, 0.0)
    other_point: Vector = (0.0, 0.0, 0.0)
    label: str | None = None

    def __post_init__(self) -> None:
        for what in ("frame", "other"):
            label(getattr(self, what), f"PointDistance {what}")
        if self.label is not None:
            label(self.label, "PointDistance label")
        for what in ("point", "other_point"):
            values = finite_vector(getattr(self, what), 3, f"PointDistance {what} [m]")
            object.__setattr__(self, what, tuple(map(float, values)))
        object.__setattr__(self, "distance", positive(self.distance, "PointDistance distance [m]"))

    @property
    def name(self) -> str:
        return self.label or f"{self.frame}-{self.other}"

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def force_text(self) -> str:
        return "force that pushes the points apart [N]"

    def renamed(self, name: Callable[[str], str]) -> PointDistance:
        own = name(self.label) if self.label else None
        return replace(self, frame=name(self.frame), other=name(self.other), label=own)

    def within(self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]) -> PointDistance | None:
        return self if {self.frame, self.other} <= set(frames) else None

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> PointDistance:
        fields: Any = {what: tuple(length * x for x in getattr(self, what)) for what in ("point", "other_point")}
        return replace(self, distance=length * self.distance, **fields)

    def position(self, model: Model, q: Expr) -> Expr:
        d = self._gap(model, q)
        return (ca.dot(d, d) - self.distance**2) / (2 * self.distance)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return self._gap(model, q).T @ self._gap_jacobian(model, q) / self.distance

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        d, (v, a) = self._gap(model, q), self._gap_rates(model, q, qd)
        return -(ca.dot(d, a) + ca.dot(v, v)) / self.distance

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        return self._wrenches(model, q, self._gap(model, q) @ lam / self.distance)

    def _gap(self, model: Model, q: Expr) -> Expr:
        """The vector (3) from the point to the other point."""
        return point_position(model, self.other, q, self.other_point) - point_position(model, self.frame, q, self.point)

    def _gap_jacobian(self, model: Model, q: Expr) -> Expr:
        return point_jacobian(model, self.other, q, self.other_point) - point_jacobian(model, self.frame, q, self.point)

    def _gap_rates(self, model: Model, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """Velocity and acceleration, at qdd = 0, of the gap."""
        ends = ((self.other, self.other_point), (self.frame, self.point))
        (v, a), (v0, a0) = (
            (point_velocity(model, f, q, qd, r), point_acceleration(model, f, q, qd, point=r)) for f, r in ends
        )
        return v - v0, a - a0

    def _wrenches(self, model: Model, q: Expr, force: Expr) -> dict[str, Expr]:
        """A force (3, world axes) on the other point, and its opposite on the point."""
        found: dict[str, Expr] = {}
        ends = ((self.other, self.other_point, force), (self.frame, self.point, -force))
        for frame, r, f in ends:
            wrench = wrench_at(point_position(model, frame, q, r), ca.vertcat(DM(3, 1), f))
            found[frame] = found[frame] + wrench if frame in found else wrench
        return found
