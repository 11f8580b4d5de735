"""Bushings: springs and dampers of six directions between two bodies, as data of a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._base.checks import label
from ..._base.types import ModelError, Vector, finite_vector, repr_in_message, sequence, suggestion
from ...spatial_algebra.rotations import matrix_quaternion

Pose = tuple[tuple[float, ...], tuple[float, ...]]
UPRIGHT: Pose = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
NOTHING = (0.0,) * 6


@dataclass(frozen=True)
class Bushing:
    """f = -K x - D dx/dt: what holds two frames together as rubber does, x their relative pose.

    x = [a, b, c; d]: the angles of the second frame in the first one, R = Rx(a) Ry(b) Rz(c), and its origin d [m] in
    axes of the first. f [N m; N] does the work f' dx, so that the generalized force is (dx/dq)' f. Its angles are
    singular at b = +-90 degrees. BushingForce of OpenSim is the same.

    first, second: names of frames of the model, or "world". stiffness K [N m/rad; N/m] and damping D [N m s/rad;
    N s/m]: six numbers each, the diagonals. first_pose, second_pose: (R, p), the bushing's frames in these frames, R
    (3x3) or its nine numbers row by row, p [m]. It counts with `od.Loads(passive=True)`.

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
            object.__setattr__(self, key, _pose(getattr(self, key), f"Bushing {key}"))

    def renamed(self, name: Callable[[str], str]) -> Bushing:
        """The bushing on frames of other names."""
        return replace(self, first=name(self.first), second=name(self.second), name=self.name and name(self.name))

    def scaled(self, length: float) -> Bushing:
        """The bushing of a mechanism `length` times as large, with the same stiffness."""
        poses: dict[str, Any] = {
            key: (R, tuple(length * x for x in p)) for key in POSES for R, p in [getattr(self, key)]
        }
        return replace(self, **poses)


POSES = ("first_pose", "second_pose")


def checked_bushings(given: Any, frames: Collection[str], world: str) -> tuple[Bushing, ...]:
    """The bushings as a tuple; ModelError for one on a frame that is not there."""
    found = tuple(sequence(given, "bushings must be a list such as [od.Bushing(...)]"))
    for one in found:
        if not isinstance(one, Bushing):
            raise TypeError(f"a bushing must be an od.Bushing, got {repr_in_message(one)}")
        for name in (one.first, one.second):
            if name not in frames and name != world:
                raise ModelError(
                    f"bushing {repr_in_message(one.name)}: no frame {repr_in_message(name)} in this model"
                    f"{suggestion(name, frames)}"
                )
    return found


def bushings_within(bushings: Iterable[Bushing], frames: Mapping[str, Any], world: str) -> tuple[Bushing, ...]:
    """Those whose frames are both left."""
    left = {*frames, world}
    return tuple(one for one in bushings if {one.first, one.second} <= left)


def _pose(given: Any, what: str) -> Pose:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{what} must be (R, p), a rotation (3x3) and an origin, got {repr_in_message(given)}")
    R = finite_vector(np.ravel(given[0]), 9, f"{what}: rotation (3x3)")
    matrix_quaternion(np.reshape(R, (3, 3)))  # raises unless R is a rotation
    return tuple(map(float, R)), tuple(map(float, finite_vector(given[1], 3, f"{what}: origin [m]")))
