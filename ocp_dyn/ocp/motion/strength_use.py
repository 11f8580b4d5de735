"""Largest use of strength of every joint: torque over the limit of the model in its direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

import numpy as np

from ..._base.display import Displayed, Entries, Tabular
from ..._base.types import Array
from .motion import Motion, PhaseMotion

NAMED = 3
"""Joints that the line of a summary names."""


@dataclass(frozen=True)
class JointStrength:
    """The largest use of strength of one dof: torque (or force) [N m, N] over its limit, in one phase at one time [s].

    >>> strong = ocp.Problem(wheel.with_limits(effort=6.0), turn(ocp.TorqueSquared()).phases, boundary=[rest])
    >>> used = strong.solve(progress=False).strength_use()[0]
    >>> used.dof, round(used.share, 2), used.limit
    ('rim_joint', 0.95, 6.0)
    """

    dof: str
    share: float
    torque: float
    limit: float
    phase: str
    time: float


class StrengthUse(Entries[JointStrength], Displayed):
    """The largest use of strength of every dof with a limit, the largest first; `plot` draws bars.

    >>> print(ocp.Problem(wheel.with_limits(effort=6.0), turn(ocp.TorqueSquared()).phases, boundary=[rest]).solve(
    ...     progress=False).strength_use())
    joint      use   torque  limit  phase  time [s]
    rim_joint  95 %  5.71    6      turn   0.025
    """

    head: ClassVar[tuple[str, ...]] = ("joint", "use", "torque", "limit", "phase", "time [s]")

    def lines(self) -> list[tuple[str, ...]]:
        return [
            (e.dof, f"{100 * e.share:.0f} %", f"{e.torque:.3g}", f"{e.limit:.4g}", e.phase, f"{e.time:.3g}")
            for e in self.entries
        ]

    @property
    def line(self) -> str:
        """The first joints in words: "ankle_l and ankle_r 92 %, knee_r 71 %"; "" without any."""
        groups = [(share, [e.dof for e in same]) for share, same in groupby(self.entries, lambda e: e.share)]
        named = ", ".join(f"{' and '.join(dofs)} {100 * share:.0f} %" for share, dofs in groups[:NAMED])
        rest = sum(len(dofs) for _, dofs in groups[NAMED:])
        return named + (f" and {rest} more" if rest > 0 else "")

    def _card_html(self) -> str:
        return Tabular._repr_html_(self)

    def _repr_html_(self) -> str:
        return Displayed._repr_html_(self)


Limits = Callable[[PhaseMotion], Array]
"""Largest torques (2, N, nv) [N m] at the middle of every interval, in negative and in positive direction."""

KEPT = "strength"
"""Entry of `stats` with the use of strength of a motion whose limits depend on angle and speed."""


def strength_use(solution: Motion, limits: Limits | None = None) -> StrengthUse:
    """The largest |tau| over its limit in its direction, by dof, over all intervals.

    Limits are those of the model, and where the problem has a `TorqueCapacity` those of its curves at the angle and the
    speed at the middle of the interval, whichever is smaller. Torques that change linearly along an interval count with
    their larger end. Both steps of a stride count where every second one is mirrored. Dofs without a limit, and those
    with no torque at any time, are left out. limits: in place of those with which the motion was solved.
    """
    if limits is None and KEPT in solution.stats:
        return StrengthUse(tuple(JointStrength(*entry) for entry in solution.stats[KEPT]))
    dofs = solution.model.dofs
    of_model = np.stack([-dofs.tau_min, dofs.tau_max])[:, None, :]  # (2, 1, nv), magnitudes
    found: dict[int, JointStrength] = {}
    for phase in solution.phases:
        tau, at = _extremes(phase)
        both = of_model if limits is None else np.minimum(of_model, np.tile(limits(phase), (1, 2, 1)))
        limit = np.where(tau < 0, both[0], both[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            use = np.where(np.isfinite(limit) & (limit > 0), np.abs(tau) / limit, 0.0)
        for k in range(solution.model.nv):
            row = int(np.argmax(use[:, k] >= (1 - 1e-6) * use[:, k].max()))  # the first of equal ones
            share = float(use[row, k])
            if share > 0 and (k not in found or share > found[k].share):
                name, own = solution.model.qd_names[k], (float(tau[row, k]), float(limit[row, k]))
                found[k] = JointStrength(name, share, *own, phase.name, float(at[row]))
    of_stride = _over_the_stride(solution, list(found.values()))
    return StrengthUse(tuple(sorted(of_stride, key=lambda entry: -entry.share)))


def _over_the_stride(solution: Motion, used: list[JointStrength]) -> list[JointStrength]:
    """The use in a step and in the mirrored one that follows it, of which every dof's partner has the torques."""
    mirror = solution.mirror() if solution.repeats else None
    found = {entry.dof: entry for entry in used}
    for entry in used if mirror is not None else ():
        assert mirror is not None
        dof, sign = mirror.images[entry.dof]
        if dof not in found or entry.share > found[dof].share:
            torque, time = sign * entry.torque, entry.time + solution.duration
            found[dof] = replace(entry, dof=dof, torque=torque, time=time)
    return list(found.values())


def _extremes(phase: PhaseMotion) -> tuple[np.ndarray, np.ndarray]:
    """Torques (2 N, nv) at both ends of every interval, and the times of the intervals' midpoints (2 N)."""
    half = np.diff(phase.t)[:, None] / 2 * np.broadcast_to(phase.tau_rate, phase.tau.shape)
    middle = (phase.t[:-1] + phase.t[1:]) / 2
    return np.concatenate([phase.tau - half, phase.tau + half]), np.concatenate([middle, middle])
