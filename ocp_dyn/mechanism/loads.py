"""Loads of the equation of motion beside the motors' torques: one value, which every algorithm takes as `loads`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .._base.checks import positive
from .._base.types import repr_in_message, truth

SLIP_SPEED = 0.01
"""Default of the speed over which friction changes sign [rad/s, m/s]."""


@dataclass(frozen=True)
class Loads:
    """Springs, losses and rotors of joints, and external wrenches, in the equation of motion; none by default:

        (H + diag(armature)) qdd + C = tau + passive_force(q, qd) + J' f_ext

    passive: springs, tissue, damping and friction of the model's joints, see `passive_force`. armature: inertia of the
    motors' rotors. external: names of the frames that wrenches act on; the wrenches are the argument `f_ext` (6 x k) of
    the algorithm, a column for each frame, in this order: [moment about the world origin [N m]; force [N]], world axes.
    slip_speed [rad/s, m/s]: speed over which friction changes sign, see `passive_force`.

    An algorithm uses the part that its result depends on: `mass_matrix` the armature, `bias_force` the forces.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1), armature=3.0)
    >>> od.mass_matrix(builder.build(), [0.0], loads=od.Loads(armature=True))  # the wheel and its rotor
    DM(4)
    """

    passive: bool = False
    armature: bool = False
    external: Sequence[str] = ()
    slip_speed: float = SLIP_SPEED

    def __post_init__(self) -> None:
        for flag in ("passive", "armature"):
            object.__setattr__(self, flag, truth(getattr(self, flag), flag))
        object.__setattr__(self, "external", _names(self.external))
        object.__setattr__(self, "slip_speed", positive(self.slip_speed, "slip_speed [rad/s, m/s]"))


def check_loads(loads: Any) -> Loads:
    """`loads`, or a TypeError for anything else."""
    if not isinstance(loads, Loads):
        raise TypeError(
            f"loads must be od.Loads(passive=, armature=, external=, slip_speed=), got {repr_in_message(loads)}"
        )
    return loads


def refuse_parts(options: Mapping[str, Any], taken: Collection[str], name: str) -> None:
    """TypeError for parts of loads, such as armature=True, that are given as options. taken: names of the options that
    the algorithm has."""
    found = [part.name for part in fields(Loads) if part.name in options and part.name not in taken]
    if found:
        written = ", ".join(f"{part}={repr_in_message(options[part])}" for part in found)
        raise TypeError(f"{name} has no option {' and no '.join(found)}: write loads=od.Loads({written})")


def refuse_all_but_armature(loads: Loads) -> None:
    """ValueError for loads that derivatives of second order do not contain."""
    if loads.passive or loads.external:
        part = "passive forces" if loads.passive else "external forces"
        raise ValueError(
            f"second derivatives contain no {part}: give loads=od.Loads(armature=True) at most, got "
            f"{repr_in_message(loads)}"
        )


def _names(names: Any) -> tuple[str, ...]:
    """Names of frames as a tuple."""
    expected = "external must be a tuple of frame names"
    if isinstance(names, str):
        raise TypeError(f"{expected}, got the string {repr_in_message(names)}: write ({repr_in_message(names)},)")
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{expected}, got {repr_in_message(names)}")
    return tuple(names)


NO_LOADS = Loads()
JOINT_LOADS = Loads(passive=True, armature=True)
"""All loads of the model's joints: springs, losses and rotors."""
