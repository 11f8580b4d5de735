"""Patches: planes of limited size; and the room that they leave for the place of a foot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._base.checks import given_name, positive
from ...._base.types import Array
from .planes import Plane

ANGLES = 91
"""Number of yaw angles at which the reach of a sole is looked at, if its yaw is free."""


@dataclass(frozen=True)
class Patch(Plane):
    """A rectangle on a plane: a stair, a stone, a seat, a rail.

    point [m], normal: its middle, and the direction of the side on which feet stand, as of a `Plane`. length, width
    [m]: along the x and the y axis of the plane. name: in messages, and in `Terrain.plane(name)`.

    The place of a foothold on a patch is counted from its middle, and its bounds are narrowed so that the whole sole
    stays on the patch. To let a foot hang over, stand on `ocp.Plane(patch.point, patch.normal)`.

    >>> seat = ocp.Patch((0.0, 0.0, 0.45), length=0.4, width=0.45, name="seat")
    >>> ocp.Foothold(od.Contact("block"), plane=seat, half_length=0.1, half_width=0.05).bounds
    array([[-0.1  ,  0.1  ],
           [-0.175,  0.175],
           [ 0.   ,  0.   ]])
    """

    length: float = field(kw_only=True)
    width: float = field(kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("length", "width"):
            object.__setattr__(self, key, positive(getattr(self, key), f"Patch {key} [m]"))
        if self.name != "":
            given_name(self.name, "Patch name")

    @property
    def corners(self) -> Array:
        """Corners (4, 3) in the world [m], counterclockwise about the normal.

        >>> ocp.Patch((1.0, 0.0, 0.5), length=0.4, width=0.2).corners[0]
        array([ 0.8, -0.1,  0.5])
        """
        x, y = self.length / 2, self.width / 2
        flat = np.array([(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)])
        return np.asarray(flat @ np.array(self.R.full()).T + self.point)


def narrowed(plane: Plane, bounds: Array, sole: Any, foot: str) -> Array:
    """Bounds (3, 2) of the place (x, y, yaw) of a foot, narrowed so that its sole stays on the plane, if it is a patch.

    sole: pairs (half of the size [m], angle of this direction to the foot's x axis [rad]). ValueError, with the name of
    the foot, if the sole does not fit on the patch, or if the bounds leave it.
    """
    if not isinstance(plane, Patch):
        return bounds
    yaw = np.linspace(bounds[2, 0], bounds[2, 1], ANGLES if np.ptp(bounds[2]) else 1)
    found, patch = bounds.copy(), f"the patch {plane.name!r}" if plane.name else "its patch"
    for k, (axis, turn, size) in enumerate((("x", 0.0, plane.length), ("y", np.pi / 2, plane.width))):
        reach = sum((half * np.abs(np.cos(yaw + angle - turn)) for half, angle in sole), np.zeros_like(yaw)).max()
        room = size / 2 - reach
        if room < -1e-9:
            raise ValueError(
                f"Foothold {foot!r}: the sole reaches {2 * reach:.3g} m along {axis}, and {patch} is {size:.3g} m long "
                "there: make the patch larger or the sole (half_length, half_width) smaller, or let the foot hang "
                "over, plane=ocp.Plane(patch.point, patch.normal)"
            )
        low, high = max(bounds[k, 0], -room), min(bounds[k, 1], room)
        if low > high + 1e-9:
            raise ValueError(
                f"Foothold {foot!r}: {axis} = {bounds[k, 0]:.4g} to {bounds[k, 1]:.4g} m is off {patch}, on which its "
                f"whole sole stays for {axis} from {-room:.4g} to {room:.4g} m from the middle of the patch"
            )
        found[k] = (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)
    return found
