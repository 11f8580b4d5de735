"""Error of every interval of a motion, by a finer integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.display import Displayed, aligned, table
from ..._base.types import Array
from ..motion.motion import Motion
from .component_flow import check_can_follow
from .defects import Flow
from .many_flows import flows

TOLERANCE = 1e-9
"""Largest error of the finer integration, relative to the largest entry of the state; errors below it are rounding."""


@dataclass(frozen=True, eq=False)
class IntervalErrors(Displayed):
    """Errors of the discretization, interval by interval.

    Every interval is integrated from its first node at a tight tolerance, with the torques of the motion and with
    forces and accelerations that are computed again. Its error is the difference from the motion at its last node.

    phases: names; phase (N): number of the phase of every interval; start, end (N): its times [s]. angle (N) [rad],
    length (N) [m]: the largest errors over the dofs that are angles and over those that are lengths, inf where no
    integrator reaches the end; worst (N): the dof of the larger of the two.

    >>> turned = turn(ocp.TorqueSquared()).solve(progress=False).interval_errors()
    >>> turned.angle.shape, bool(turned.largest < 1e-12)  # torques of a wheel are integrated exactly
    ((20,), True)
    """

    phases: tuple[str, ...]
    phase: Array
    start: Array
    end: Array
    angle: Array
    length: Array
    worst: tuple[str, ...]

    @property
    def error(self) -> Array:
        """The larger of both errors of every interval [rad, m]."""
        return np.maximum(self.angle, self.length)

    @property
    def largest(self) -> float:
        """The largest error of all intervals [rad, m]."""
        return float(self.error.max())

    def rows(self) -> list[tuple[str, ...]]:
        """One line per phase: name, number of intervals, shortest and longest [s], largest errors, and dof."""
        found: list[tuple[str, ...]] = []
        for p, name in enumerate(self.phases):
            here = self.phase == p
            h, k = (self.end - self.start)[here], int(np.flatnonzero(here)[np.argmax(self.error[here])])
            span = f"{h.min():.3g}" if np.ptp(h) < 1e-9 * h.max() else f"{h.min():.3g} to {h.max():.3g}"
            largest = f"{self.angle[here].max():.2g}", f"{self.length[here].max():.2g}"
            found.append((name, str(h.size), span, *largest, f"{self.start[k]:.3f}", self.worst[k]))
        return found

    def __str__(self) -> str:
        return aligned([HEAD, *self.rows()])

    def _card_html(self) -> str:
        return table(HEAD, self.rows())


HEAD = ("phase", "intervals", "length [s]", "error [rad]", "error [m]", "at [s]", "dof")


def interval_errors(solution: Motion) -> IntervalErrors:
    """The errors of all intervals; ValueError for motions that are not finite, or whose components cannot be
    integrated."""
    check_can_follow("errors of intervals", solution)
    model, dofs, nq = solution.model, solution.model.qd_names, solution.model.nq
    parts: list[Any] = []
    worst: list[str] = []
    for p, phase in enumerate(solution.phases):
        flow, intervals = Flow.of(solution, phase), range(len(phase.tau))
        x, inputs = (np.array([make(phase, k) for k in intervals]) for make in (flow.state, flow.inputs))
        ends = flows(flow, x, inputs, np.ones(len(x)), TOLERANCE * max(1.0, float(np.abs(x).max())))
        for k, end in enumerate(ends):
            apart = np.full(model.nv, np.inf)
            if np.all(np.isfinite(end)):
                apart = np.abs(np.array(model.difference(end[:nq], phase.q[k + 1]).full()).ravel())
            angle, length = (float(apart[x].max(initial=0.0)) for x in (~model.lengths[1], model.lengths[1]))
            parts.append((p, phase.t[k], phase.t[k + 1], angle, length))
            worst.append(dofs[int(np.argmax(apart))])
    phases, start, last, angle, length = np.array(parts).T
    names = tuple(phase.name for phase in solution.phases)
    return IntervalErrors(names, phases.astype(int), start, last, angle, length, tuple(worst))
