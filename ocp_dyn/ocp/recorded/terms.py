"""Footholds and costs of the phases of a recorded motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._base import checks
from ..._base.types import Array, repr_in_message
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...recordings import FittedMotion, Recording
from ..statement.costs import AccelerationSquared
from ..statement.footholds import Foothold
from ..statement.ground.wrench_footholds import CompliantFoothold, LoadedFoothold, WrenchFoothold
from ..statement.objectives import Cost
from ..statement.path_constraints import FrictionCone, PathConstraint
from ..statement.tracking import TrackJoints, TrackMarkers, TrackWrenches
from .curves import Configurations, Curve, marker_curve, wrench_curve
from .measured import Markers
from .stances import Stance, Support, cut

FORCE_SHARE, LEVER = 0.025, 0.25
"""Default errors of forces, as a share of the weight, and of moments, as a lever of these [m]."""

ANGLE_ERRORS = {True: 0.2, False: 0.02}
"""Default error of the angles [rad, m]: where markers are followed too, and where they are not."""

ROOM = 0.15
"""Distance from its measured place within which a rigid foot stands [m]."""

GRIP = 1.0
"""Friction with which feet stand: measured forces of walking stay below half of it."""

Feet = dict[str, tuple[Foothold | WrenchFoothold, ...]]
"""Footholds by the name of the measured wrench that they bear together."""


@dataclass(frozen=True)
class MeasurementErrors:
    """Sizes of deviations that count as one in the costs of `track`.

    marker [m]. angle [rad, m]: default .2 beside markers, .02 without. force [N]: default 2.5 % of the weight. moment
    [N m], about the measured centers of pressure: default the error of the force over 0.25 m. smoothing [s^4/rad^2]:
    weight of squared accelerations, c. activation: of muscles, where they move the body.

    >>> ocp.MeasurementErrors(marker=0.005, force=5.0).moment is None  # 1.25 N m
    True
    """

    marker: float = 0.01
    angle: float | None = None
    force: float | None = None
    moment: float | None = None
    smoothing: float = 1e-4
    activation: float = 0.5

    def __post_init__(self) -> None:
        for key in ("marker", "angle", "force", "moment"):
            if getattr(self, key) is not None or key == "marker":
                checks.positive(getattr(self, key), f"MeasurementErrors {key}")
        checks.positive(self.activation, "MeasurementErrors activation")
        checks.not_negative(self.smoothing, "MeasurementErrors smoothing")

    def scales(self, model: Model, marked: bool) -> tuple[float, float, float, float]:
        """Errors of markers, angles, forces and moments, with their defaults; marked: markers are followed."""
        angle = ANGLE_ERRORS[marked] if self.angle is None else self.angle
        force = FORCE_SHARE * float(model.weight) if self.force is None else self.force
        return self.marker, angle, force, LEVER * force if self.moment is None else self.moment


def footholds_of(forces: Recording, feet: Any) -> Feet:
    """The footholds for each name of the forces."""
    if feet is not None and not isinstance(feet, Mapping):
        raise TypeError(f"track: feet must give footholds by names of the forces, got {repr_in_message(feet)}")
    given = dict(feet or {})
    for name in given:
        checks.name_among(name, forces.names, "track: feet", "force")
    found: Feet = {}
    for name in forces.names:
        held = given.get(name, LoadedFoothold(name))
        found[name] = tuple(held) if isinstance(held, (list, tuple)) else (held,)
        if not found[name] or not all(isinstance(f, (Foothold, WrenchFoothold)) for f in found[name]):
            raise TypeError(f"track: feet: {name!r} needs footholds, got {repr_in_message(held)}")
    soft = [isinstance(f, CompliantFoothold) for held in found.values() for f in held]
    if any(soft) and not all(soft):
        raise ValueError("track: feet: either all footholds are compliant, in one phase, or none is")
    if any(len(held) > 1 for held in found.values()) and not any(soft):
        raise ValueError("track: feet: several footholds bear one force together only if they are compliant")
    return found


@dataclass(frozen=True)
class Part:
    """A phase: its name, its time [s], its footholds by the name of the wrench that they bear."""

    name: str
    begin: float
    end: float
    feet: Feet

    @property
    def footholds(self) -> tuple[Foothold | WrenchFoothold, ...]:
        """The footholds of all wrenches."""
        return tuple(f for held in self.feet.values() for f in held)


@dataclass(frozen=True)
class Standing:
    """Footholds of a motion and their times.

    feet: footholds by names of the forces, `LoadedFoothold` by default. `Foothold`: rigid from strike to lift-off, at a
    free place near the measured one. `CompliantFoothold`, or several of them: all feet are compliant then, and there is
    one phase. Otherwise phases end where a foot comes or goes.
    """

    motion: FittedMotion
    support: Support
    feet: Feet

    @property
    def compliant(self) -> bool:
        """Whether the feet stand on compliant spheres."""
        return any(isinstance(f, CompliantFoothold) for held in self.feet.values() for f in held)

    @property
    def limits(self) -> tuple[PathConstraint, ...]:
        """Feet push and do not slip; the law of compliant feet implies it."""
        return () if self.compliant else (FrictionCone(mu=GRIP),)

    def parts(self, begin: float, end: float, least: float) -> list[Part]:
        """The phases, none of which is shorter than `least` [s]; compliant feet need one only."""
        if self.compliant:
            return [Part("motion", begin, end, self.feet)]
        placed: dict[Stance, tuple[Foothold | WrenchFoothold, ...]] = {
            stance: (self._placed(stance),) for stance in self.support.stances
        }
        found = []
        for k, (a, b, stances) in enumerate(cut(self.support.stances, begin, end, least)):
            feet: Feet = {name: placed[s] for name in self.feet for s in stances if s.foot == name}
            found.append(Part(f"{k + 1} {' '.join(feet) or 'flight'}", a, b, feet))
        return found

    def _placed(self, stance: Stance) -> Foothold | WrenchFoothold:
        """The foothold of a stance; a rigid one with bounds about its measured place."""
        foothold = self.feet[stance.foot][0]
        if not isinstance(foothold, Foothold):
            return foothold
        q = self.curve.at((stance.begin + stance.end) / 2)
        x, y, _ = np.array(point_position(self.motion.model, foothold.name, q, foothold.point).full()).ravel()
        return replace(foothold, x=(x - ROOM, x + ROOM), y=(y - ROOM, y + ROOM))

    @cached_property
    def curve(self) -> Configurations:
        """The configurations of the motion over time."""
        return Configurations.of(self.motion)


@dataclass(frozen=True)
class Objective:
    """The costs of the phases: what they follow, as curves of time."""

    joints: Configurations
    markers: Markers | None
    places: Curve | None
    wrenches: Callable[[tuple[str, ...], float], Array]
    errors: MeasurementErrors

    @classmethod
    def of(cls, standing: Standing, markers: Markers | None, errors: Any) -> Objective:
        """The costs of a motion and its markers, if markers are followed."""
        if not (errors is None or isinstance(errors, MeasurementErrors)):
            raise TypeError(f"track: errors must be ocp.MeasurementErrors(...), got {repr_in_message(errors)}")
        motion = standing.motion
        curve = marker_curve(motion, markers.seen, markers.points) if markers else None
        wrenches = wrench_curve(motion, standing.support.wrenches)
        return cls(standing.curve, markers, curve, wrenches, errors or MeasurementErrors())

    def costs(self, part: Part) -> tuple[Cost, ...]:
        """The costs of a phase."""
        a, b = part.begin, part.end
        marker, angle, force, moment = self.errors.scales(self.joints.model, self.markers is not None)
        found: list[Cost] = [TrackJoints(self.joints.between(a, b), weight=angle**-2)]
        if self.markers is not None and self.places is not None:
            seen, given = self.places.between(a, b), self.markers
            found.append(TrackMarkers(given.points, seen, marker**-2, given.weights))
        if part.feet:
            names, frames = tuple(part.feet), [tuple(f.name for f in held) for held in part.feet.values()]
            found.append(TrackWrenches(frames, lambda s: self.wrenches(names, a + s * (b - a)), 1.0, force, moment))
        return (*found, *([AccelerationSquared(self.errors.smoothing)] if self.errors.smoothing else []))
