"""A simulated motion in natural coordinates, and the error of a step that does not converge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, sequence
from ...constraints import Constraints, Loop
from ...dynamics.momentum import potential_energy
from ...dynamics.passive_torques import spring_energy
from ...mechanism import Model
from ...mechanism.loads import Loads
from ..joint_coordinates import angles_of, q_from_natural, q_near_rest, qd_from_natural
from ..natural_coordinates import NaturalCoordinates
from ..natural_dynamics import natural_force
from ..natural_equations import NaturalEquations
from ..trajectory import IntegrationError, Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class NaturalMotion:
    """A simulated motion in natural coordinates, one instant per row.

    t (N) [s]; x, xd, xdd (N, n); lam (N, m), acting on the mechanism. iterations (N): the most of a step since the
    instant before; 0 at the start, and where a given step Function fixes their number. energy (N) [J]: kinetic
    energy, and potential energy of gravity and, with loads.passive, of springs. position_errors (N): the largest
    |Phi_k| in the unit of its row, see `Scales`: on a mechanism of 1 m an error of 1e-5 is about 10 um; velocity_errors
    (N) [1/s]: those of its rate. `trajectory` is the motion in joint coordinates, which `ocp_dyn.viz` draws.

    >>> natural = od.formulations.natural(rod)
    >>> motion = od.formulations.trapezoidal_motion(rod, natural, [1.0], [0.0], h=0.01, duration=0.5)
    >>> bool(np.ptp(motion.energy) < 1e-3), bool(motion.position_errors.max() < 1e-6)
    (True, True)
    """

    model: Model
    natural: NaturalCoordinates
    loads: Loads
    t: Array
    x: Array
    xd: Array
    xdd: Array
    lam: Array
    iterations: Array
    energy: Array
    position_errors: Array
    velocity_errors: Array

    @cached_property
    def q(self) -> Array:
        """Joint coordinates (N, nq), angles as `q_from_natural` gives them; `trajectory` counts turns."""
        x = SX.sym("x", self.natural.n)
        return _by_row(ca.Function("q", [x], [q_from_natural(self.model, self.natural, x)]), self.x)

    @cached_property
    def qd(self) -> Array:
        """Joint velocities (N, nv)."""
        x, xd = SX.sym("x", self.natural.n), SX.sym("xd", self.natural.n)
        f = ca.Function("qd", [x, xd], [qd_from_natural(self.model, self.natural, x, xd)])
        return _by_row(f, self.x, self.xd)

    def trajectory(self, constraints: Constraints | Loop = ()) -> Trajectory:
        """The motion in joint coordinates, for pictures and animations. constraints: the loops of the mechanism.

        Angles do not jump by whole turns, if no joint turns by more than half a turn from one instant to the next. The
        three angles of an `Euler` joint jump together where the middle one passes a right angle.
        """
        given = (
            [constraints]
            if isinstance(constraints, Loop)
            else sequence(constraints, "constraints must be a loop, or several")
        )
        q, angles = self.q.copy(), angles_of(self.natural.split(self.model))
        q[:, angles] = np.unwrap(q[:, angles], axis=0)
        return Trajectory(self.model, self.t, q, self.qd, tuple(given), self.loads)

    def __repr__(self) -> str:
        return f"<NaturalMotion of {self.model.name!r}: {len(self.t)} instants, t = {self.t[0]:g} to {self.t[-1]:g} s>"

    def __str__(self) -> str:
        return (
            f"{len(self.t)} instants from {self.t[0]:g} to {self.t[-1]:g} s, up to {int(self.iterations.max())} "
            f"iterations a step\nposition errors up to {self.position_errors.max():.2g}, velocity errors up to "
            f"{self.velocity_errors.max():.2g} /s\nenergy {self.energy[0]:.6g} J at the start, later "
            f"{self.energy.min():.6g} to {self.energy.max():.6g} J"
        )


class StepError(IntegrationError):
    """The error of a step whose iterations do not converge.

    motion: all instants before it. time: the end of the step [s]. residual: |dx| of the last iteration. row: the name
    of the constraint with the largest error.

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.trapezoidal_motion(rod, natural, [1.0], h=0.01, duration=1.0, iterations=1)
    Traceback (most recent call last):
        ...
    ocp_dyn.formulations.simulation.motion.StepError: trapezoidal_motion: the step to t = 0.02 s (h = ...
    """

    def __init__(self, message: str, motion: NaturalMotion, time: float, residual: float, row: str) -> None:
        super().__init__(message, motion)
        self.time, self.residual, self.row = time, residual, row

    def __reduce__(self) -> tuple[Any, ...]:
        return StepError, (str(self), self.motion, self.time, self.residual, self.row)  # to pickle it


def errors_of(equations: NaturalEquations) -> ca.Function:
    """(x, xd) -> Phi and Phi_dot (m each), in the units of the rows."""
    x, xd = SX.sym("x", equations.natural.n), SX.sym("xd", equations.natural.n)
    rows = DM(equations.scales.rows)
    return ca.Function("errors", [x, xd], [equations.Phi(x) / rows, equations.Phi_x(x) @ xd / rows])


def recorded(equations: NaturalEquations, t: Array, columns: Array, iterations: Array) -> NaturalMotion:
    """The motion with columns [x; xd; xdd; lam], and its energies and errors.

    The force of gravity is constant in natural coordinates, so that its potential is linear in x.
    """
    model, natural, n = equations.model, equations.natural, equations.natural.n
    x, xd, xdd, lam = np.split(columns, [n, 2 * n, 3 * n])
    M = np.asarray(DM(equations.M).full())
    gravity = natural_force(model, natural, DM(x[:, 0]), DM(n, 1), DM(model.nv, 1))
    weight = np.asarray(DM(gravity).full()).ravel()
    first = SX.sym("x", n)
    height = ca.Function("V", [first], [potential_energy(model, q_from_natural(model, natural, first))])
    potential = float(height(x[:, 0])) - weight @ (x - x[:, :1])
    if equations.loads.passive:
        wound = q_near_rest(natural, natural.split(model), model.dofs.rest, first)
        potential = potential + _by_row(ca.Function("springs", [first], [spring_energy(model, wound)]), x.T).ravel()
    position, velocity = (np.asarray(e.full()) for e in errors_of(equations).map(len(t))(x, xd))
    return NaturalMotion(
        model, natural, equations.loads, t, x.T, xd.T, xdd.T, lam.T, iterations,
        0.5 * np.sum(xd * (M @ xd), axis=0) + potential,
        np.max(np.abs(position), axis=0, initial=0.0), np.max(np.abs(velocity), axis=0, initial=0.0),
    )  # fmt: skip


def _by_row(f: ca.Function, *rows: Array) -> Array:
    """A Function of columns, at every row."""
    return np.asarray(f.map(len(rows[0]))(*(r.T for r in rows)).full()).T
