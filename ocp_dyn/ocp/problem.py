"""`Problem`: the statement of a motion as an optimal control problem, and its methods.

The same problem can be transcribed in two forms (see `ocp_dyn.ocp.transcription`): "implicit", with accelerations and
contact forces as variables and inverse dynamics as constraint, and "explicit", with accelerations from (constrained)
forward dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._arguments import named_fields
from .._display import Displayed, picture_of
from ..viz.pictures.spy import Pattern
from .solution import Solution
from .statement.statement import Statement
from .workflows import display
from .workflows.kkt import kkt_pattern
from .workflows.real_time import RealTimeIteration, rti
from .workflows.solve import check, solve_as_stated


@named_fields
@dataclass(frozen=True, eq=False, repr=False)
class Problem(Statement, Displayed):
    """An optimal control problem for a model. All input is checked when it is made.

    `dataclasses.replace(problem, form="explicit")` makes a changed problem. Fields stay as they were written, and
    `problem.resolved` holds them with the defaults filled in: a changed problem finds the defaults of its own form,
    phases and model. `dataclasses.replace(problem, model=other)` needs frames and joints of the same names.

    phases, in time order; transitions between them (default: Continuous); periodic or not; boundary conditions.
    unactuated: joints without a motor (default: `model.floating_joints`; if the root consists of several joints, name
    them all). per_distance: costs are divided by the horizontal distance of the step. The first guess is computed from `posture` (nq;
    default: neutral, on the ground), or given as a function `guess(s) -> (q, qd)` of the fraction s of the motion, or
    as a plan of the feet, `FootPlan()`, or as postures at fractions of the motion, `Postures({...})`. limits: keep the model's limits of positions, speeds and torques. terminal:
    costs of the first and the last state. parameters: see `Parameter`.

    form: see `ocp_dyn.ocp.transcription.intervals`; integrator: a name or a `Scheme`, see `ocp_dyn.integrators`
    (default: midpoint, or rk4 in the explicit form); steps: of the integrator, per interval. torque: "constant" on
    every interval, or "linear" and continuous within a phase; then use `integrator="gauss:2"`, several steps, or a cost
    `TorqueRateSquared`, because one step of the midpoint rule sees the mean torque of an interval alone, and torques
    that alternate from node to node cost nothing. contact_level, baumgarte [1/s]: means against the drift of contacts,
    see `ocp_dyn.ocp.transcription.contact_rows`. loads: springs, tissue, damping and friction of the model's joints,
    and the inertia of their rotors, are in the equations of motion unless `loads=od.Loads()` leaves them out, here and
    in all methods of the solution (tau is the motors' torque in any case). loads.slip_speed [rad/s, m/s]: solvers need
    a value not much below the speeds of the motion. options: of IPOPT, for a start from the guess; linear_solver, for
    every start. dependent: joints of closed loops and gears that follow from other joints in closed form, see
    `DependentJoints`: only independent coordinates are then variables, and posture and guess count for these only.

    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[rest])
    >>> problem
    Problem of <Model 'wheel': nb=1, nq=1, nv=1>: implicit, midpoint, phases
      'push': 20 intervals, 1 s, on no contact
    >>> problem.solve(progress=False)
    Solution of 'wheel': Solve_Succeeded, objective 12.0301 (TorqueSquared 12.0301), 1 s, phases push
    """

    def solve(self, *, values: Mapping[str, Any] | None = None, **options: Any) -> Solution:
        """Transcribes and solves the problem; see `ocp_dyn.ocp.solve`.

        values: of parameters by name; the other parameters have the values that the problem declares. The program is
        kept: the next call, with other values, builds nothing.

        >>> solution = turn(ocp.TorqueSquared()).solve(progress=False)
        >>> solution.converged, round(solution.objective, 2)
        (True, 12.03)
        """
        return solve_as_stated(self, values=values, **options)

    def check(self, *, values: Mapping[str, Any] | None = None) -> list[str]:
        """Faults and difficulties of the problem, as sentences; see `ocp_dyn.ocp.check`.

        >>> turn(ocp.TorqueSquared()).check()  # nothing is wrong
        []
        >>> faults = ocp.Problem(wheel, [ocp.Phase("turn", 20, 1.0)], boundary=[rest, rest]).check()
        >>> print(faults[0])
        68 equalities on 82 free variables have rank 64 by their pattern alone: ... repeat others, among ends: boundary; ...
        """
        return check(self, values)

    def rti(self, start: Solution, **options: Any) -> RealTimeIteration:
        """Predictive control from a solution of this problem; see `ocp_dyn.ocp.RealTimeIteration`.

        >>> problem = turn(ocp.TorqueSquared())
        >>> control = problem.rti(problem.solve(progress=False))
        >>> control.prepare()
        >>> round(float(control.feedback()[0]), 2)  # the first torque of the plan
        5.71
        """
        return rti(self, start, **options)

    def kkt_pattern(self, order: str = "kkt") -> Pattern:
        """The pattern of the KKT matrix, with the names of the phases, for `od.viz.spy`; see
        `ocp_dyn.ocp.workflows.kkt`.

        >>> turn(ocp.TorqueSquared()).kkt_pattern().sparsity.shape  # variables and constraints
        (147, 147)
        """
        return kkt_pattern(self, order)

    def _card_html(self) -> str:
        return display.card_html(self)


@picture_of.register(Problem)
def _strip_of_phases(problem: Problem) -> Any:
    return display.strip(problem)
