"""The plan of a horizon: a motion of the next second or so, with its forces, torques and contacts, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._base.checks import finite
from ..._base.types import Array
from ...mechanism import Model


class PlannedInstant(NamedTuple):
    """One instant of a plan: q (nq), qd, qdd, tau (nv), forces (nf) and contacts (feet).

    >>> control.update(0.0, q, qd).plan.at(0.01).contacts  # doctest: +SKIP
    array([ True,  True,  True,  True])
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    forces: Array
    contacts: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned motion over N intervals.

    times (N + 1) [s]; q (N + 1, nq), qd (N + 1, nv) at the nodes; qdd (N, nv), forces (N, nf), tau (N, nv) on the
    intervals; contacts (N, feet): which feet are on the ground. Forces foot by foot: (x, y, z) in the axes of the
    ground at a point, [moment; force] in the axes of a flat foot. schedule: the next swings of each foot.

    >>> plan = control.update(0.0, q, qd).plan  # doctest: +SKIP
    >>> plan.at(0.01).q.shape  # doctest: +SKIP
    (19,)
    """

    model: Model
    times: Array
    q: Array
    qd: Array
    qdd: Array
    forces: Array
    tau: Array
    contacts: NDArray[np.bool_]
    schedule: dict[str, Array]

    def __repr__(self) -> str:
        begin, end = self.times[[0, -1]]
        return f"Plan({self.model.name!r} from {begin:.4g} to {end:.4g} s, {len(self.qdd)} intervals)"

    def at(self, time: float) -> PlannedInstant:
        """The plan at a time [s], clipped to its ends: states between nodes, controls of the interval."""
        t = float(np.clip(finite(time, "time [s]"), self.times[0], self.times[-1]))
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.qdd) - 1))
        h = t - self.times[k]
        step = h * self.qd[k] + h * h / 2 * self.qdd[k]
        q = np.asarray(self.model.integrate(self.q[k], step), dtype=float).ravel()
        return PlannedInstant(
            q, self.qd[k] + h * self.qdd[k], self.qdd[k], self.tau[k], self.forces[k], self.contacts[k]
        )
