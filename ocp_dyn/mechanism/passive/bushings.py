"""Springs between bodies, as data of a model: what all kinds tell; bushings, of six directions between two frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base.checks import label
from ..._base.formulas import formula
from ..._base.types import ModelError, Vector, finite_vector, repr_in_message, sequence, suggestion
from ...joints import ScalarFunction
from ...spatial_algebra.rotations import checked_pose

Pose = tuple[tuple[float, ...], tuple[float, ...]]
UPRIGHT: Pose = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
NOTHING = (0.0,) * 6
DEFLECTIONS = ("theta_x", "theta_y", "theta_z", "delta_x", "delta_y", "delta_z")
"""Names of the entries of the relative pose in formulas."""
ODD = (True, False, True, False, True, False)
"""Entries of the relative pose that change their sign in a mirror across y."""
Law = ScalarFunction | str


Placing = Callable[[str, Pose], tuple[str, Pose]]
"""Place in the new model of an end that is at a pose in a frame of the old one."""


class BodySpring(ABC):
    """A spring between bodies: what every kind tells, so that it follows the edits of its model.

    frames: names of frames of the model, or "world"; coordinates: entries of `model.qd_names`.
    """

    name: str
    coordinates: tuple[str, ...] = ()

    @property
    @abstractmethod
    def frames(self) -> tuple[str, ...]: ...

    @abstractmethod
    def placed(self, place: Placing) -> BodySpring:
        """The spring with its ends elsewhere."""

    @abstractmethod
    def times(self, factor: float) -> BodySpring:
        """The spring with its forces times a factor."""

    @abstractmethod
    def scaled(self, length: float, mass: float, factors: Mapping[str, float]) -> BodySpring:
        """The spring of a mechanism `length` times as large, `mass` times as heavy; factors: of its coordinates."""

    def renamed(self, name: Callable[[str], str]) -> BodySpring:
        """The spring on frames and coordinates of other names."""
        found = self.placed(lambda frame, pose: (name(frame), pose))
        return replace(found, name=self.name and name(self.name))  # type: ignore[type-var]

    def mirrored(self, images: Mapping[str, tuple[str, float]]) -> BodySpring:
        """The spring whose coordinates are the partners; images has the partner of each dof and its sign."""
        return self

    def folded(self, held: Mapping[str, float]) -> BodySpring | None:
        """The spring where some of its coordinates are held; None if nothing is left that moves it."""
        return self


@dataclass(frozen=True)
class Bushing(BodySpring):
    """f = -K x - D dx/dt - laws(x): what holds two frames together as rubber does, x their relative pose.

    x = [a, b, c; d]: the angles of the second frame in the first one, R = Rx(a) Ry(b) Rz(c), and its origin d [m] in
    axes of the first. f [N m; N] does the work f' dx, so that the generalized force is (dx/dq)' f. Its angles are
    singular at b = +-90 degrees. BushingForce of OpenSim, and its kinds by functions and formulas, are the same.

    first, second: names of frames of the model, or "world". stiffness K [N m/rad; N/m] and damping D [N m s/rad;
    N s/m]: six numbers each, the diagonals. first_pose, second_pose: (R, p), the bushing's frames in these frames, R
    (3x3) or its nine numbers row by row, p [m]. laws: six moments and forces more, each a function of its own entry of
    x, such as od.SimmSpline, or a formula of theta_x, theta_y, theta_z, delta_x, delta_y and delta_z, as those of
    `od.FormulaTorque`; their energy is not known, so that `spring_energy` leaves it out. A bushing counts with
    `od.Loads(passive=True)`.

    ValueError or TypeError for numbers below zero, or a rotation that is none.

    >>> held = rod.with_bushings([od.Bushing("world", "tip", stiffness=(0, 0, 0, 100, 100, 100))])
    >>> od.passive_force(held, [0.1], [0.0])  # the rod's tip, 1 m below the hinge, is pulled to the hinge itself
    DM(0)
    >>> hook = ((1, 0, 0, 0, 1, 0, 0, 0, 1), (0.0, 0.0, -2.0))
    >>> held = rod.with_bushings([od.Bushing("world", "tip", (0, 0, 0, 100, 100, 100), first_pose=hook)])
    >>> od.passive_force(held, [0.1], [0.0])  # -100 * 2 * 1 * sin 0.1
    DM(-19.9667)
    """

    first: str
    second: str
    stiffness: Vector = NOTHING
    damping: Vector = NOTHING
    first_pose: Any = UPRIGHT
    second_pose: Any = UPRIGHT
    name: str = ""
    laws: Any = ()

    def __post_init__(self) -> None:
        for key in ("first", "second"):
            label(getattr(self, key), f"Bushing {key}")
        if not isinstance(self.name, str):
            raise TypeError(f"Bushing name must be a text, got {repr_in_message(self.name)}")
        for key in ("stiffness", "damping"):
            given = finite_vector(getattr(self, key), 6, f"Bushing {key} (3 of rotation, 3 of translation)")
            if np.any(given < 0):
                raise ValueError(f"Bushing {key} must not be negative, got {repr_in_message(getattr(self, key))}")
            object.__setattr__(self, key, tuple(map(float, given)))
        for key in ("first_pose", "second_pose"):
            object.__setattr__(self, key, checked_pose(getattr(self, key), f"Bushing {key}"))
        object.__setattr__(self, "laws", _laws(self.laws))

    @property
    def frames(self) -> tuple[str, ...]:
        """The two frames."""
        return self.first, self.second

    def placed(self, place: Placing) -> Bushing:
        (first, one), (second, other) = place(self.first, self.first_pose), place(self.second, self.second_pose)
        return replace(self, first=first, second=second, first_pose=one, second_pose=other)

    def times(self, factor: float) -> Bushing:
        stiffness, damping = factor * np.array(self.stiffness), factor * np.array(self.damping)
        return replace(self, stiffness=stiffness, damping=damping, laws=[_times(law, factor) for law in self.laws])

    def mirrored(self, images: Mapping[str, tuple[str, float]]) -> Bushing:
        signs = zip(self.laws, ODD, strict=False)
        return replace(self, laws=[_times(_turned(law, odd), -1.0 if odd else 1.0) for law, odd in signs])

    def scaled(self, length: float, mass: float, factors: Mapping[str, float]) -> Bushing:
        return self.placed(lambda name, pose: (name, (pose[0], tuple(length * x for x in pose[1]))))


def _laws(given: Any) -> tuple[Law, ...]:
    what = "Bushing laws must be six functions or formulas, or none"
    found = tuple(sequence(given, what))
    if len(found) not in (0, 6):
        raise ValueError(f"{what}, got {len(found)} of them")
    for law in found:
        if isinstance(law, str):
            formula(law, dict.fromkeys(DEFLECTIONS, DM(0.5)))  # raises if it is none
        elif not isinstance(law, ScalarFunction) or law.arity not in (None, 1):
            raise TypeError(f"{what}, got {repr_in_message(law)} among them")
    return found


def _times(law: Law, factor: float) -> Law:
    if isinstance(law, ScalarFunction):
        return law.times(factor)
    main, sign, parts = law.partition(";")
    return f"({factor!r})*({main}){sign}{parts}"


def _turned(law: Law, odd: bool) -> Law:
    """The law of what its mirror image sees."""
    if isinstance(law, ScalarFunction):
        return law.with_scaled_coordinates((-1.0,)) if odd else law
    return law + "".join(f"; {name}=-{name}" for name, flips in zip(DEFLECTIONS, ODD, strict=True) if flips)


def checked_bushings(
    given: Any, frames: Collection[str], world: str, rates: Callable[[], Collection[str]]
) -> tuple[BodySpring, ...]:
    """The springs as a tuple; ModelError for one on a frame or a coordinate that is not there. rates: gives the dofs
    that are rates of coordinates."""
    found = tuple(sequence(given, "bushings must be a list such as [od.Bushing(...)]"))
    for one in found:
        if not isinstance(one, BodySpring):
            raise TypeError(f"a bushing must be an od.Bushing or od.PathSpring, got {repr_in_message(one)}")
        along = rates() if one.coordinates else ()
        for what, names, known in (("frame", one.frames, (*frames, world)), ("coordinate", one.coordinates, along)):
            for name in names:
                if name not in known:
                    raise ModelError(
                        f"bushing {repr_in_message(one.name)}: no {what} {repr_in_message(name)} in this model"
                        f"{suggestion(name, known)}"
                    )
    return found


def bushings_within(
    bushings: Iterable[BodySpring],
    frames: Mapping[str, Any],
    world: str,
    held: Mapping[str, float],
    left: Iterable[str],
) -> tuple[BodySpring, ...]:
    """Those whose frames are all left, and whose coordinates are, or are held at these positions."""
    around, known = {*frames, world}, {*left, *held}
    found = [one.folded(held) for one in bushings if {*one.frames} <= around and {*one.coordinates} <= known]
    return tuple(one for one in found if one is not None)
