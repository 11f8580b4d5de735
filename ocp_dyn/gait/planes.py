"""Curves of the frontal and the transverse plane: hips, pelvis and trunk, of solved and of recorded walks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .._base.types import Array
from .joint_angles import Coordinate

PLANES = {
    "adduction": ("hip adduction", "hip abduction moment", "hip abduction power"),
    "internal rotation": ("hip internal rotation", "hip external rotation moment", "hip rotation power"),
}
"""Names of the angle, the moment and the power by coordinate of the hip."""


def hip_curves(
    planes: Mapping[str, Coordinate], curve: Callable[[Array], Array], q: Array, qd: Array, tau: Array, mass: float
) -> dict[str, Array]:
    """Adduction and rotation of a hip [degrees], their net moments [N m/kg] and powers [W/kg].

    planes: from `hip_planes`; curve: reads the values (n) of a quantity at the percents of the stride; q (n, nq),
    qd (n, nv), tau (n, nv). The power is the moment times the rate about the same axis: those of the three axes of a
    hip add up to its power.
    """
    found = {}
    for name, c in planes.items():
        angle, moment, power = PLANES[name]
        found[angle] = np.degrees(c.sign * curve(q[:, c.q_index]))
        found[moment] = -c.sign * curve(tau[:, c.qd_index]) / mass
        found[power] = curve(tau[:, c.qd_index] * qd[:, c.qd_index]) / mass
    return found


def segment_angles(pelvis: Array, trunk: Array, out: float) -> dict[str, Array]:
    """Angles of pelvis and trunk in the three planes [rad], from their rotations (n, 3, 3) to axes forward, left, up.

    out: 1 for the left leg, -1 for the right one, to whose side obliquity, lean and rotation refer. Rotation, obliquity
    and tilt are carried out in this order [Baker, Human Movement Science 20, 2001]; the tilt of the trunk is the angle
    of its axis in the plane of progression.
    """
    # R = Rz(-rotation) Rx(obliquity) Ry(tilt), for the left side
    return {
        "pelvis tilt": np.arctan2(-pelvis[:, 2, 0], pelvis[:, 2, 2]),
        "pelvis obliquity": out * np.arcsin(np.clip(pelvis[:, 2, 1], -1, 1)),
        "pelvis rotation": out * np.arctan2(pelvis[:, 0, 1], pelvis[:, 1, 1]),
        "trunk tilt": np.arctan2(trunk[:, 0, 2], trunk[:, 2, 2]),
        "trunk lean": -out * np.arcsin(np.clip(trunk[:, 2, 1], -1, 1)),
        "trunk rotation": out * np.arctan2(trunk[:, 0, 1], trunk[:, 1, 1]),
    }
