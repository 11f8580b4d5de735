"""Kinds of passive elements: tissue, tendons, stops, and torques given as formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
from casadi import DM

from ..._base.autodiff import derivatives
from ..._base.checks import choice, finite, label, not_negative, positive
from ..._base.formulas import formula
from ..._base.types import Expr, repr_in_message, sequence
from .protocol import Angles, PassiveElement

LARGEST_EXPONENT = 700.0
"""Exponent beyond which exp is infinite in double precision."""


@dataclass(frozen=True)
class ExponentialTorque(PassiveElement):
    """tau_dof = gain exp(offset + sum_j slopes[j] q_j) [N m, N]: tissue that stiffens, perhaps across several joints.

    dof: the entry of `model.qd_names` on which the torque acts. gain [N m or N]: positive turns it up, negative down.
    slopes: {entry of qd_names: 1/rad or 1/m} of the coordinates that stretch the tissue; kept as pairs (name, slope),
    sorted by name. Without slopes the torque is constant. Several elements on one dof add up.

    A torque that depends on other coordinates than its own dof's has no potential: over a closed path of several joints
    it can do work, as measured tissue torques do.

    ValueError or TypeError for a number that is not finite, or names that are no texts.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("shank", od.Revolute("y"), joint_name="knee", mass=3, inertia=(0.1, 0.1, 0.1))
    >>> stop = od.ExponentialTorque("knee", gain=-10.0, slopes={"knee": 20.0}, offset=-40.0)  # -10 N m at 2 rad
    >>> model = builder.build().with_passive([stop])
    >>> od.passive_force(model, [2.0], [0.0]), od.passive_force(model, [1.5], [0.0])
    (DM(-10), DM(-0.000453999))
    """

    dof: str
    gain: float
    slopes: Mapping[str, float] | Sequence[tuple[str, float]] = ()
    offset: float = 0.0

    def __post_init__(self) -> None:
        label(self.dof, "ExponentialTorque dof")
        object.__setattr__(self, "gain", finite(self.gain, "ExponentialTorque gain [N m, N]"))
        object.__setattr__(self, "offset", finite(self.offset, "ExponentialTorque offset"))
        pairs = [
            (
                label(name, "ExponentialTorque slopes: the name of a dof"),
                finite(x, f"ExponentialTorque slope of {name}"),
            )
            for name, x in _pairs(self.slopes)
        ]
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"ExponentialTorque on {self.dof}: the slope of {repr_in_message(name)} is given twice; add them"
                )
        object.__setattr__(self, "slopes", tuple(sorted(pair for pair in pairs if pair[1])))
        if not self.slopes and self.offset > LARGEST_EXPONENT:
            raise ValueError(
                f"ExponentialTorque on {self.dof}: a constant torque gain exp(offset) must be finite, got offset "
                f"{repr_in_message(self.offset)}"
            )

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(dict(self.slopes))

    def torque(self, angles: Angles) -> Expr:
        exponent: Any = self.offset
        for name, slope in dict(self.slopes).items():
            exponent = exponent + slope * angles[name]
        return self.gain * (ca.exp(exponent) if self.slopes else ca.DM(math.exp(self.offset)))

    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        torque = self.torque(angles)
        return {name: slope * torque for name, slope in dict(self.slopes).items()}

    def potential(self, angles: Angles) -> Expr | None:
        if not self.slopes:
            return -self.torque(angles) * angles[self.dof]
        return -self.torque(angles) / dict(self.slopes)[self.dof] if self.coordinates == (self.dof,) else None

    def times(self, factor: float) -> ExponentialTorque:
        return replace(self, gain=factor * self.gain)

    def renamed(self, name: Callable[[str], str]) -> ExponentialTorque:
        return replace(self, dof=name(self.dof), slopes={name(j): x for j, x in dict(self.slopes).items()})

    def folded(self, held: Mapping[str, float]) -> ExponentialTorque:
        slopes = dict(self.slopes)
        fixed = [slopes.pop(name) * held[name] for name in self.coordinates if name in held]
        return replace(self, slopes=slopes, offset=self.offset + math.fsum(fixed))

    def scaled(self, factors: Mapping[str, float]) -> ExponentialTorque:
        return replace(self, slopes={name: x / factors[name] for name, x in dict(self.slopes).items()})

    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> ExponentialTorque:
        name, sign = image[self.dof]
        slopes = {image[j][0]: image[j][1] * x for j, x in dict(self.slopes).items()}
        return replace(self, dof=name, gain=sign * self.gain, slopes=slopes)

    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        """The nearest coordinates at which the torque is the gain."""
        slopes = dict(self.slopes)
        exponent = self.offset + math.fsum(x * angles[name] for name, x in slopes.items())
        steep = math.fsum(x**2 for x in slopes.values())
        return {name: angles[name] - exponent * x / steep for name, x in slopes.items()}


@dataclass(frozen=True)
class OneSidedSpring(PassiveElement):
    """tau_dof = -stiffness s(q - start), s(x) = x Phi(x / w) + w phi(x / w): a spring that acts on one side of `start`.

    Phi, phi: distribution and density of the standard normal distribution; w = smoothing [rad or m]. It is the mean of
    springs whose starts are normally distributed about `start` with the standard deviation w, like the fibers of a
    tendon, and has derivatives of all orders. At `start` it pulls with 0.4 stiffness w already; two w before it with
    0.0085, three w before it with 0.0004 stiffness w. Three w beyond it, it is a linear spring to the same accuracy.

    dof: entry of `model.qd_names`. stiffness [N m/rad or N/m], start [rad or m]. side: "above", it resists coordinates
    larger than start; "below", smaller ones: tau = stiffness s(start - q).

    ValueError or TypeError for a stiffness below zero, a smoothing that is not positive, or another side.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("foot", od.Revolute("y"), joint_name="ankle", mass=1, inertia=(0.01, 0.01, 0.01))
    >>> builder.add_passive(od.OneSidedSpring("ankle", 100.0, start=-0.1, smoothing=0.02, side="below"))
    >>> model = builder.build()
    >>> od.passive_force(model, [-0.3], [0.0]), od.spring_energy(model, [-0.3])  # 100 * 0.2, 100 * (0.2^2 + 0.02^2) / 2
    (DM(20), DM(2.02))
    """

    dof: str
    stiffness: float
    start: float
    smoothing: float = 0.02
    side: str = "above"

    def __post_init__(self) -> None:
        label(self.dof, "OneSidedSpring dof")
        stiffness = not_negative(self.stiffness, "OneSidedSpring stiffness [N m/rad, N/m]")
        object.__setattr__(self, "stiffness", stiffness)
        object.__setattr__(self, "start", finite(self.start, "OneSidedSpring start [rad, m]"))
        object.__setattr__(self, "smoothing", positive(self.smoothing, "OneSidedSpring smoothing [rad, m]"))
        choice(self.side, ("above", "below"), "OneSidedSpring side")

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.dof,)

    @property
    def _sign(self) -> float:
        return 1.0 if self.side == "above" else -1.0

    def _parts(self, angles: Angles) -> tuple[Expr, Expr, Expr]:
        """The stretch x beyond `start`, Phi(x / w) and w phi(x / w)."""
        x = self._sign * (angles[self.dof] - self.start)
        z = x / (math.sqrt(2) * self.smoothing)
        return x, 0.5 + 0.5 * ca.erf(z), self.smoothing / math.sqrt(2 * math.pi) * ca.exp(-(z**2))

    def torque(self, angles: Angles) -> Expr:
        x, share, rounding = self._parts(angles)
        return -self._sign * self.stiffness * (x * share + rounding)

    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        _, share, _ = self._parts(angles)
        return {self.dof: -self.stiffness * share}

    def potential(self, angles: Angles) -> Expr | None:
        x, share, rounding = self._parts(angles)
        return self.stiffness / 2 * ((x**2 + self.smoothing**2) * share + x * rounding)

    def times(self, factor: float) -> OneSidedSpring:
        return replace(self, stiffness=factor * self.stiffness)

    def renamed(self, name: Callable[[str], str]) -> OneSidedSpring:
        return replace(self, dof=name(self.dof))

    def folded(self, held: Mapping[str, float]) -> OneSidedSpring:
        return self

    def scaled(self, factors: Mapping[str, float]) -> OneSidedSpring:
        factor = factors[self.dof]
        return replace(self, start=factor * self.start, smoothing=factor * self.smoothing)

    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> OneSidedSpring:
        name, sign = image[self.dof]
        side = self.side if sign > 0 else {"above": "below", "below": "above"}[self.side]
        return replace(self, dof=name, start=sign * self.start, side=side)

    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        """Three times the smoothing beyond the start."""
        return {self.dof: self.start + 3 * self._sign * self.smoothing}


@dataclass(frozen=True)
class CoordinateLimit(PassiveElement):
    """tau_dof = -k_u (q - upper) + k_l (lower - q) - damping (k_u/K_u + k_l/K_l) qd: stops at both ends of a range.

    k_u = K_u s((q - upper)/w) and k_l = K_l s((lower - q)/w), with the step s(x) = 10 x^3 - 15 x^4 + 6 x^5 from 0 at
    x <= 0 to 1 at x >= 1, K_u, K_l = upper_stiffness, lower_stiffness [N m/rad, N/m], w = transition [rad, m]. In the
    range the torque is zero. This is CoordinateLimitForce of OpenSim, in radians; the damping [N m s/rad, N s/m] acts
    beyond either end.

    dof: entry of `model.qd_names`. Third derivatives jump at the ends of the transitions.

    ValueError or TypeError for stiffness or damping below zero, a transition that is not positive, or a range that
    does not rise.

    >>> stop = od.CoordinateLimit("joint1", upper=1.0, lower=-0.5, upper_stiffness=100, lower_stiffness=50, damping=2)
    >>> stopped = rod.with_passive([stop])
    >>> od.passive_force(stopped, [1.2], [0.3]), od.passive_force(stopped, [0.9], [0.3])  # -100 * 0.2 - 2 * 0.3; 0
    (DM(-20.6), DM(0))
    """

    dof: str
    upper: float
    lower: float
    upper_stiffness: float
    lower_stiffness: float
    damping: float = 0.0
    transition: float = 0.1

    def __post_init__(self) -> None:
        label(self.dof, "CoordinateLimit dof")
        for key in ("upper", "lower"):
            object.__setattr__(self, key, finite(getattr(self, key), f"CoordinateLimit {key} [rad, m]"))
        for key in ("upper_stiffness", "lower_stiffness", "damping"):
            object.__setattr__(self, key, not_negative(getattr(self, key), f"CoordinateLimit {key}"))
        object.__setattr__(self, "transition", positive(self.transition, "CoordinateLimit transition [rad, m]"))
        if self.lower > self.upper:
            raise ValueError(
                f"CoordinateLimit on {self.dof}: lower must not be above upper, got {self.lower:g} and {self.upper:g}"
            )

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.dof,)

    def _ends(self, angles: Angles) -> tuple[tuple[float, float, Expr, Expr, Expr], ...]:
        """For both ends: direction out of the range, stiffness, distance x beyond it, s, and ds/dx."""
        q, w = angles[self.dof], self.transition
        found = []
        for sign, stiffness, x in (
            (1.0, self.upper_stiffness, q - self.upper), (-1.0, self.lower_stiffness, self.lower - q),
        ):  # fmt: skip
            t = ca.fmin(ca.fmax(x / w, 0), 1)
            found.append((sign, stiffness, x, t**3 * (10 + t * (6 * t - 15)), 30 * t**2 * (1 - t) ** 2 / w))
        return tuple(found)

    def torque(self, angles: Angles) -> Expr:
        return sum((-sign * k * s * x for sign, k, x, s, _ in self._ends(angles)), DM(0))

    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        return {self.dof: sum((-k * (s + ds * x) for _, k, x, s, ds in self._ends(angles)), DM(0))}

    def loss(self, angles: Angles, rate: Expr) -> Expr:
        return -self.damping * rate * sum((s for _, k, _, s, _ in self._ends(angles) if k), DM(0))

    def loss_slopes(self, angles: Angles, rate: Expr) -> tuple[dict[str, Expr], Expr]:
        ends = [(sign, s, ds) for sign, k, _, s, ds in self._ends(angles) if k]
        by_q = -self.damping * rate * sum((sign * ds for sign, _, ds in ends), DM(0))
        return {self.dof: by_q}, -self.damping * sum((s for _, s, _ in ends), DM(0))

    def potential(self, angles: Angles) -> Expr | None:
        """The integral of x s(x/w): w^2 (2 t^5 - 5/2 t^6 + 6/7 t^7) in the transition, and (x^2 - w^2)/2 beyond it."""
        w, energy = self.transition, DM(0)
        for _, stiffness, x, _, _ in self._ends(angles):
            t = ca.fmin(ca.fmax(x / w, 0), 1)
            beyond = ca.fmax(x, w)
            bent = w**2 * t**5 * (2 + t * (6 / 7 * t - 5 / 2))
            energy = energy + stiffness * (bent + (beyond**2 - w**2) / 2)
        return energy

    def times(self, factor: float) -> CoordinateLimit:
        if factor < 0:
            raise ValueError(f"CoordinateLimit on {self.dof}: only a factor of at least zero leaves a stop")
        upper, lower, damping = (factor * x for x in (self.upper_stiffness, self.lower_stiffness, self.damping))
        return replace(self, upper_stiffness=upper, lower_stiffness=lower, damping=damping)

    def renamed(self, name: Callable[[str], str]) -> CoordinateLimit:
        return replace(self, dof=name(self.dof))

    def folded(self, held: Mapping[str, float]) -> CoordinateLimit:
        return self

    def scaled(self, factors: Mapping[str, float]) -> CoordinateLimit:
        f = factors[self.dof]
        return replace(self, upper=f * self.upper, lower=f * self.lower, transition=f * self.transition)

    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> CoordinateLimit:
        name, sign = image[self.dof]
        if sign > 0:
            return replace(self, dof=name)
        return CoordinateLimit(
            name, -self.lower, -self.upper, self.lower_stiffness, self.upper_stiffness, self.damping, self.transition
        )

    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        """Beyond the transition at the nearer end that has a spring."""
        above = angles[self.dof] > (self.upper + self.lower) / 2
        if self.upper_stiffness and (above or not self.lower_stiffness):
            return {self.dof: self.upper + self.transition}
        return {self.dof: self.lower - self.transition}


@dataclass(frozen=True)
class FormulaTorque(PassiveElement):
    """tau_dof = gain f(scale q, scale qd) [N m, N], f a formula in q and qdot given as text: "-20*(q-0.1)^3-0.5*qdot".

    The formula knows + - * / ^, brackets, sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc abs min
    max step square cube recip floor ceil select, and names for its parts behind semicolons: "a*q; a=-3". It is read,
    not run as a program. ExpressionBasedCoordinateForce of OpenSim has the same. Only the dof's own coordinate and rate
    can stand in it. Its energy is not known, so that `spring_energy` leaves it out.

    ValueError or TypeError for a formula that cannot be read.

    >>> spring = od.FormulaTorque("joint1", "-100*q^3 - 2*qdot")
    >>> od.passive_force(rod.with_passive([spring]), [0.5], [0.3])
    DM(-13.1)
    """

    dof: str
    formula: str
    gain: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        label(self.dof, "FormulaTorque dof")
        for key in ("gain", "scale"):
            object.__setattr__(self, key, finite(getattr(self, key), f"FormulaTorque {key}"))
        try:
            formula(self.formula, {"q": DM(0.5), "qdot": DM(0.5)})
        except ValueError as error:
            raise ValueError(f"FormulaTorque on {self.dof}: {error}") from None

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.dof,)

    def _value(self, q: Expr, qd: Expr) -> Expr:
        return self.gain * formula(self.formula, {"q": self.scale * q, "qdot": self.scale * qd})

    def _slopes(self, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """Derivatives by q and by qd."""
        x = ca.vertcat(q, qd)
        jacobian = derivatives(lambda x: ca.vertcat(self._value(x[0], x[1])), x, type(x)(2, 1)).jacobian
        return jacobian[0, 0], jacobian[0, 1]

    def torque(self, angles: Angles) -> Expr:
        return self._value(angles[self.dof], DM(0))

    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        return {self.dof: self._slopes(angles[self.dof], DM(0))[0]}

    def loss(self, angles: Angles, rate: Expr) -> Expr:
        return self._value(angles[self.dof], rate) - self.torque(angles)

    def loss_slopes(self, angles: Angles, rate: Expr) -> tuple[dict[str, Expr], Expr]:
        by_q, by_qd = self._slopes(angles[self.dof], rate)
        return {self.dof: by_q - self.slopes_at(angles)[self.dof]}, by_qd

    def potential(self, angles: Angles) -> Expr | None:
        return None

    def times(self, factor: float) -> FormulaTorque:
        return replace(self, gain=factor * self.gain)

    def renamed(self, name: Callable[[str], str]) -> FormulaTorque:
        return replace(self, dof=name(self.dof))

    def folded(self, held: Mapping[str, float]) -> FormulaTorque:
        return self

    def scaled(self, factors: Mapping[str, float]) -> FormulaTorque:
        return replace(self, scale=self.scale / factors[self.dof])

    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> FormulaTorque:
        name, sign = image[self.dof]
        return replace(self, dof=name, gain=sign * self.gain, scale=sign * self.scale)

    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        return dict(angles)


ELEMENTS: dict[str, type[PassiveElement]] = {
    kind.__name__: kind for kind in (ExponentialTorque, OneSidedSpring, CoordinateLimit, FormulaTorque)
}
"""The kinds of elements by the names that files have for them."""


def _pairs(slopes: Any) -> list[tuple[Any, Any]]:
    """Slopes as pairs (name, number)."""
    expected = "ExponentialTorque slopes must be {name of a dof: number}"
    items = slopes.items() if isinstance(slopes, Mapping) else sequence(slopes, expected)
    pairs = [pair for pair in items if isinstance(pair, tuple) and len(pair) == 2]
    if len(pairs) < len(items):
        raise TypeError(f"{expected}, got {repr_in_message(slopes)}")
    return pairs
