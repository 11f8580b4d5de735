"""Inertias of bodies that are stretched."""

from __future__ import annotations

import numpy as np

from ..._base.types import Array


def stretched_inertia(mass: float, I: Array, factors: Array, new_mass: float) -> Array:
    """Inertia about the center of mass (3x3) [kg m^2] of a body that is stretched along its axes to a new mass.

    Equal factors s: I s^2 new_mass / mass, which is exact. Others need the shape: as in OpenSim, a solid cylinder
    along the axis of the smallest moment, of the radius and length that give this moment and the next,

        I_axis = m r^2 / 2,   I_across = m (l^2 / 12 + r^2 / 4),

    whose length grows by its factor and whose r^2 by the product of the two others; products of inertia grow by the
    factors of their two axes [OpenSim, Body::scaleInertialProperties].
    """
    if mass <= 0:
        return np.zeros((3, 3))
    if np.ptp(factors) <= 1e-14 * np.abs(factors).max():
        return np.asarray(I * factors[0] ** 2 * (new_mass / mass))
    found = I * np.outer(factors, factors) * (new_mass / mass)
    moments = np.diag(I)
    axis = int(np.argmin(moments))
    across = [k for k in range(3) if k != axis]
    r2 = max(2 * moments[axis] / mass, 0.0)
    l2 = max(12 * (moments[across[0]] - mass * r2 / 4) / mass, 0.0)
    r2 *= factors[across[0]] * factors[across[1]]
    l2 *= factors[axis] ** 2
    found[axis, axis] = new_mass * r2 / 2
    for k in across:
        found[k, k] = new_mass * (l2 / 12 + r2 / 4)
    return np.asarray(found)
