"""`Problem`: the statement of a motion as an optimal control problem, and its methods.

The same problem can be transcribed in two forms (see `ocp_dyn.ocp.transcription`): "implicit", with accelerations and
contact forces as variables and inverse dynamics as constraint, and "explicit", with accelerations from (constrained)
forward dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from .._base.display import Displayed, picture_of
from .._base.types import repr_in_message
from ..viz.pictures.spy import NamedPattern
from .solution import Solution
from .solvers.by_name import check_options
from .statement.statement import Statement
from .statement.values.weights import reweighed
from .torque_sources.model_muscles import Muscles
from .workflows.attempt import share_program
from .workflows.pictures import problem_card
from .workflows.pictures.kkt import kkt_pattern
from .workflows.real_time import RealTimeIteration, rti
from .workflows.refinement.refine import on_grid_of
from .workflows.solve import check, solve


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Statement, Displayed):
    """An optimal control problem for a model. All input is checked when it is made.

    | field | meaning |
    |---|---|
    | model | an `od.Model` |
    | phases | one `Phase` or several, in the order of time |
    | transitions | one between each two phases; by default `Continuous` |
    | periodic | `Periodic(...)`, or None for a motion that does not repeat |
    | boundary | conditions on the first and the last state, such as `Boundary` |
    | terminal | costs of the first and the last state, `Terminal` |
    | parameters | numbers that may change between solves, or are variables, see `Parameter` |
    | unactuated | joints without a motor; by default `model.floating_joints` |
    | per_distance | whether costs are divided by the horizontal distance of the step |
    | posture | nq numbers from which the first guess is made; by default neutral, on the ground |
    | guess | a function `guess(s) -> (q, qd)` of the fraction s of the motion, `FootPlan()` or `Postures({...})` |
    | limits | whether positions, speeds and torques stay in the limits of the model |
    | form | "implicit" or "explicit", see `ocp_dyn.ocp.transcription.intervals` |
    | integrator | a name or a `Scheme`, see `ocp_dyn.integrators`; by default midpoint, rk4 in the explicit form |
    | steps | steps of the integrator per interval |
    | torque | "constant" on every interval, or "linear" and continuous within a phase |
    | contact_level | "position", "velocity" or "acceleration", see `ocp_dyn.ocp.transcription.contact_rows` |
    | baumgarte | rate [1/s] of the stabilization of contacts at the level of accelerations |
    | loads | `od.Loads`: passive forces of the joints that are in the equations of motion; by default all |
    | options | options of IPOPT, for a start from the guess; `linear_solver`, for every start |
    | dependent | joints of closed loops and gears that follow from other joints, see `DependentJoints` |
    | components | parts with own states, controls and equations, see `Component`; terms that hold in all phases |
    | muscles | True or `Muscles(...)`: the muscles of the model move the joints that they cross, in place of motors |

    `dataclasses.replace(problem, form="explicit")` makes a changed problem. Fields stay as they were written, and
    `problem.resolved` holds them with the defaults filled in: a changed problem finds the defaults of its own form,
    phases and model. `dataclasses.replace(problem, model=other)` needs frames and joints of the same names.

    If the root of the model consists of several joints, `unactuated` must name them all. One step of the midpoint rule
    sees only the mean torque of an interval, so that linear torques which alternate from node to node cost nothing. Use
    `integrator="gauss:2"`, several steps, or a cost `TorqueRateSquared` with `torque="linear"`. The loads are springs,
    tissue, damping and friction of the joints, and the inertia of their rotors. `loads=od.Loads()` leaves them out,
    here and in all methods of the solution; tau is the torque of the motors in any case. Solvers need a
    `loads.slip_speed` [rad/s, m/s] that is not much below the speeds of the motion. With dependent joints only the
    independent coordinates are variables, and posture and guess count for these only.

    Muscles: a problem with muscles has the component `problem.muscles`, True for `Muscles()`, and motors at joints that
    no muscle moves and at the `reserves` of the component. `solve(guess=...)` with a solution by motors shares its
    torques out to the muscles, with the least squares of the activations.

    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[rest])
    >>> problem
    Problem of <Model 'wheel': nb=1, nq=1, nv=1>: implicit, midpoint, phases
      'push': 20 intervals, 1 s, on no contact
    >>> problem.solve(progress=False)
    Solution of 'wheel': Solve_Succeeded, objective 12.0301 (TorqueSquared 12.0301), 1 s, phases push
    """

    muscles: Muscles | bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.muscles, (bool, Muscles)):
            raise TypeError(f"muscles must be True, False or ocp.Muscles(...), got {repr_in_message(self.muscles)}")
        if self.muscles is True:
            object.__setattr__(self, "muscles", Muscles())
        super().__post_init__()
        taken = [key for key in self.options if key in signature(solve).parameters]
        if taken:
            raise ValueError(f"{taken[0]} is no option of IPOPT but an argument of solve: write solve({taken[0]}=...)")
        check_options("ipopt", self.options)

    def _muscles(self) -> Muscles | None:
        return self.muscles if isinstance(self.muscles, Muscles) else None

    def solve(self, *, values: Mapping[str, Any] | None = None, **options: Any) -> Solution:
        """Transcribes and solves the problem; see `ocp_dyn.ocp.solve`.

        values: of parameters by name; the other parameters have the values that the problem declares. The program is
        kept: the next call, with other values, builds nothing.

        >>> solution = turn(ocp.TorqueSquared()).solve(progress=False)
        >>> solution.converged, round(solution.objective, 2)
        (True, 12.03)
        """
        return solve(self, values=values, **options)

    def with_weights(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Problem:
        """The problem with other weights of its costs, by the names in `problem.weights`.

        If this problem has been solved, the new one shares its program and builds nothing, unless a weight changes
        between zero and another number: a weight of zero switches its cost off. KeyError for a name that no cost has,
        ValueError for a weight below zero.

        >>> problem = turn(ocp.TorqueSquared(), ocp.AccelerationSquared())
        >>> round(problem.with_weights(AccelerationSquared=3.0).solve(progress=False).cost["AccelerationSquared"], 1)
        36.1
        >>> problem.with_weights(Acceleration=3.0)
        Traceback (most recent call last):
        KeyError: "no weight 'Acceleration'; ... did you mean 'AccelerationSquared'?"
        """
        if not (values is None or isinstance(values, Mapping)):
            raise TypeError(
                "with_weights takes a dict of numbers by name, such as {'TorqueSquared': 2.0}, got "
                f"{repr_in_message(values)}"
            )
        found = reweighed(self, {**(values or {}), **more})
        assert isinstance(found, Problem)
        share_program(self, found)
        return found

    def on_grid_of(self, solution: Solution) -> Problem:
        """The problem on the grid and with the integrator of a solution of it, such as one that `solve(accuracy=...)`
        has refined: a `start` for further solves needs the same grid.

        >>> problem = turn(ocp.TorqueSquared())
        >>> problem.on_grid_of(problem.solve(progress=False)).phases[0].grid
        Intervals.even(20)
        """
        found = on_grid_of(self, solution)
        assert isinstance(found, Problem)
        return found

    def check(self, *, values: Mapping[str, Any] | None = None) -> list[str]:
        """Faults and difficulties of the problem, as sentences, by foot; see `ocp_dyn.ocp.check`.

        >>> turn(ocp.TorqueSquared()).check()  # nothing is wrong
        []
        >>> faults = ocp.Problem(wheel, [ocp.Phase("turn", 20, 1.0)], boundary=[rest, rest]).check()
        >>> print(faults[0])
        68 equalities on 82 free variables have rank 64 by their pattern alone: ... repeat others, among ends: ...
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

    def kkt_pattern(self, order: str = "kkt") -> NamedPattern:
        """The pattern of the KKT matrix, with the names of the phases, for `od.viz.spy`; see
        `ocp_dyn.ocp.workflows.pictures.kkt`.

        >>> turn(ocp.TorqueSquared()).kkt_pattern().sparsity.shape  # variables and constraints
        (147, 147)
        """
        return kkt_pattern(self, order)

    def _card_html(self) -> str:
        return problem_card.card_html(self)


@picture_of.register(Problem)
def _strip_of_phases(problem: Problem) -> Any:
    return problem_card.strip(problem)
