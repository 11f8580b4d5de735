"""Nonlinear passive torques of joints: tissue and stops, as data of a model beside its linear springs.

An element acts on one dof, and its torque depends on coordinates of one or several joints. Elements on one dof add up.
They enter the equation of motion together with springs, damping and friction: with `od.Loads(passive=True)`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from .._base.checks import choice, finite, label, named_fields, not_negative, positive
from .._base.types import Expr, ModelError, names_in_message, repr_in_message, sequence, suggestion
from ..joints import Joint

LARGEST_EXPONENT = 700.0
"""Exponent beyond which exp is infinite in double precision."""

Angles = Mapping[str, Expr]
"""Coordinates [rad, m] by the names of their dofs; scalar expressions."""

NO_NAMES: Mapping[str, tuple[str, ...]] = {}
"""Joints whose entries have names of their own: none."""


class PassiveElement(ABC):
    """A passive torque on one dof: what every kind of element tells.

    `dof` and `coordinates` are entries of `model.qd_names`; each must be the rate of one entry of q.
    """

    dof: str

    @property
    @abstractmethod
    def coordinates(self) -> tuple[str, ...]:
        """Names of the dofs on whose coordinates the torque depends."""

    @abstractmethod
    def torque(self, angles: Angles) -> Expr:
        """The torque [N m], or force [N], on the dof."""

    @abstractmethod
    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        """Derivative of the torque by every one of `coordinates`."""

    @abstractmethod
    def potential(self, angles: Angles) -> Expr | None:
        """The energy [J] whose negative slope is the torque; None if it depends on another coordinate than its dof's:
        such a torque has no potential."""

    @abstractmethod
    def times(self, factor: float) -> PassiveElement:
        """The element with its torque times a factor."""

    @abstractmethod
    def renamed(self, name: Callable[[str], str]) -> PassiveElement:
        """The element on the dofs that `name` gives for its own."""

    @abstractmethod
    def folded(self, held: Mapping[str, float]) -> PassiveElement:
        """The element where some of the coordinates, other than its dof's, are held at these positions."""

    @abstractmethod
    def scaled(self, factors: Mapping[str, float]) -> PassiveElement:
        """The element with the same torque where each coordinate is a multiple, by these factors, of what it was."""

    @abstractmethod
    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> PassiveElement:
        """The element on the mirror image of the mechanism: image has the partner of each dof, and the sign (1 or -1)
        of the partner's coordinate."""

    @abstractmethod
    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        """Coordinates near these at which the torque is not negligible beside its largest ones in use."""


@named_fields
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


@named_fields
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


ELEMENTS: dict[str, type[PassiveElement]] = {kind.__name__: kind for kind in (ExponentialTorque, OneSidedSpring)}
"""The kinds of elements by the names that files have for them."""


def entry_names(
    joints: Sequence[str], labels: Sequence[tuple[str, ...]], named: Mapping[str, tuple[str, ...]] = NO_NAMES
) -> tuple[str, ...]:
    """Names of the entries of q or qd: the joint's, with the entry's own label where it has several. named: names
    that a joint's entries have instead."""
    found: list[str] = []
    for joint, own in zip(joints, labels, strict=True):
        found += named.get(joint) or [f"{joint}.{k}" if k else joint for k in own]
    return tuple(found)


def checked_elements(
    elements: Any, names: Sequence[str], joints: Sequence[Joint], named: Mapping[str, tuple[str, ...]] = NO_NAMES
) -> tuple[PassiveElement, ...]:
    """The elements as a tuple; ModelError unless every name in them is a dof whose coordinate is an entry of q.

    names, joints: of the moving bodies' joints.
    """
    found = tuple(sequence(elements, "passive elements must be a list such as [od.OneSidedSpring(...)]"))
    for element in found:
        if not isinstance(element, PassiveElement):
            raise TypeError(
                "a passive element must be an od.ExponentialTorque or od.OneSidedSpring, got "
                f"{repr_in_message(element)}"
            )
    element_entries(found, names, joints, named)
    return found


def element_entries(
    elements: Sequence[PassiveElement],
    names: Sequence[str],
    joints: Sequence[Joint],
    named: Mapping[str, tuple[str, ...]] = NO_NAMES,
) -> dict[str, tuple[int, int]]:
    """Indices into q and into qd of every dof that elements name."""
    if not elements:
        return {}
    places: dict[str, tuple[int | None, int]] = {}
    wanted = {name for element in elements for name in (element.dof, *element.coordinates)}
    at_q = at_v = 0
    for name, joint in zip(names, joints, strict=True):
        of_joint = entry_names([name], [joint.qd_labels], named)
        own = joint.coordinates() if wanted & set(of_joint) else (None,) * joint.nv
        for k, (dof, entry) in enumerate(zip(of_joint, own, strict=True)):
            places[dof] = (None if entry is None else at_q + entry, at_v + k)
        at_q, at_v = at_q + joint.nq, at_v + joint.nv
    return {name: _place(name, places, elements) for name in sorted(wanted)}


def _place(
    name: str, places: Mapping[str, tuple[int | None, int]], elements: Sequence[PassiveElement]
) -> tuple[int, int]:
    if name not in places:
        near = suggestion(name, places) or f"; dofs are: {names_in_message(tuple(places))}"
        raise ModelError(f"{_user(name, elements)}: no dof {repr_in_message(name)} in this model{near}")
    at_q, at_v = places[name]
    if at_q is None:
        raise ModelError(
            f"{_user(name, elements)}: {repr_in_message(name)} is no rate of one entry of q, as the angular velocities "
            "of a quaternion are not, so it has no angle; use a joint of axes, such as Euler('yxz')"
        )
    return at_q, at_v


def _user(name: str, elements: Iterable[PassiveElement]) -> str:
    """The first element that names this dof, for messages."""
    found = next(element for element in elements if name in (element.dof, *element.coordinates))
    return f"passive element {type(found).__name__} on {repr_in_message(found.dof)}"


def without_joints(
    elements: Iterable[PassiveElement], gone: Mapping[str, float]
) -> tuple[tuple[PassiveElement, ...], list[str]]:
    """The elements of a mechanism whose dofs `gone` are held at these positions, and the names of those of the held
    coordinates that other elements depend on."""
    kept = [element for element in elements if element.dof not in gone]
    used = sorted({name for element in kept for name in element.coordinates if name in gone})
    return tuple(element.folded(gone) for element in kept), used


def _pairs(slopes: Any) -> list[tuple[Any, Any]]:
    """Slopes as pairs (name, number)."""
    expected = "ExponentialTorque slopes must be {name of a dof: number}"
    items = slopes.items() if isinstance(slopes, Mapping) else sequence(slopes, expected)
    pairs = [pair for pair in items if isinstance(pair, tuple) and len(pair) == 2]
    if len(pairs) < len(items):
        raise TypeError(f"{expected}, got {repr_in_message(slopes)}")
    return pairs
