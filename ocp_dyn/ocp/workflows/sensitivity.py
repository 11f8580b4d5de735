"""Derivatives of a solution by the parameters of its problem: the implicit function theorem at the optimum.

If the multipliers of all active bounds and rows are not zero (strict complementarity), the same bounds and rows stay
active for small changes of p, and the first-order conditions, over the free entries of x and the active rows a,

    grad f + J_a' lam = 0,     g_a = bound,

give by differentiation [A. Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear Programming, 1983]

    [ W    J_a' ] [ dx/dp   ]     [ d(grad f + J_a' lam)/dp ]
    [ J_a  0    ] [ dlam/dp ] = - [ d(g_a)/dp               ],     dJ/dp = d(f + lam' g)/dp,

with W the Hessian of the Lagrangian. Derivatives by x are exact, as in the solver; derivatives by p are central
differences of exact gradients. A bound that is active with a multiplier of zero has two one-sided derivatives: it is
treated as free, unless a side is asked for. A variable that is in no row and in no cost keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._base.checks import choice
from ..._base.display import aligned
from ..._base.types import Array, Indices, is_one_of, repr_in_message, suggestion
from ..analysis.active_set import table_of
from ..nlp.blocks import numbers_of
from ..nlp.program import Assembled
from ..solution import Solution
from ..statement.periodic import ENTRIES
from ..statement.state.channels import MECHANICS
from ..statement.statement import Statement
from ..transcription.collect import collect
from ..transcription.variables import Transcription
from .attempt import prepare
from .optimum_system import (
    DIFFERENCE_STEP,
    UNDETERMINED,
    OptimumSystem,
    ParameterDerivatives,
    at_values,
    one_sided,
    values_of,
)
from .parameter_values import by_name

SIDES = {"up": 1.0, "down": -1.0}
"""Signs of the change of a parameter, by the side of a derivative."""


@dataclass(frozen=True, eq=False)
class Slope:
    """Derivatives by one entry of a parameter.

    They are derivatives of the objective, of the cost terms by name, of the duration [s], of step_length, sideways,
    rise [m] and turn [rad] of the step, and, in phases, of the arrays of every phase, by their names in `PhaseMotion`:
    t, q, qd, qdd, tau, lam, and the channels of components. x, lam_x, lam_g: derivatives of the program's variables and
    multipliers.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> slope = ocp.sensitivities(problem, problem.solve(progress=False))["angle"]
    >>> slope.phases[0]["q"][-1].round(6)  # the last position moves with the angle
    array([1.])
    """

    objective: float
    cost: dict[str, float]
    duration: float
    step_length: float
    phases: tuple[dict[str, Array], ...]
    x: Array
    lam_x: Array
    lam_g: Array
    sideways: float = 0.0
    rise: float = 0.0
    turn: float = 0.0


@dataclass(frozen=True, eq=False)
class Sensitivities(Mapping[str, Any]):
    """`sensitivities["speed"]`: the Slope by a parameter of one entry, a list of Slopes by one of several.

    problem, solution: those that were differentiated. slopes: by parameter a list with a Slope for each of its entries.
    residual: relative residual of the linear system; above 1e-6 the active constraints leave the derivative
    undetermined.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> found = ocp.sensitivities(problem, problem.solve(progress=False))
    >>> print(str(found).splitlines()[2])  # by, d objective, d duration
    angle  24.0602      0
    >>> found.predict(angle=1.1).q[-1].round(6)
    array([1.1])
    """

    problem: Statement
    solution: Solution
    slopes: dict[str, list[Slope]]
    residual: float

    def __getitem__(self, name: str) -> Slope | list[Slope]:
        if name not in self.slopes:
            known = ", ".join(self.slopes) or "none"
            raise KeyError(f"no parameter {repr_in_message(name)}; there are {known}{suggestion(name, self.slopes)}")
        slopes = self.slopes[name]
        return slopes[0] if len(slopes) == 1 else slopes

    def __repr__(self) -> str:
        return f"Sensitivities by {', '.join(self.slopes) or 'no parameter'}; residual {self.residual:.1e}"

    def __str__(self) -> str:
        of = [(name, slope) for name, slopes in self.slopes.items() for slope in slopes]
        rows = [(name, f"{slope.objective:.6g}", f"{slope.duration:.6g}") for name, slope in of]
        return "\n".join([repr(self), aligned([("by", "d objective", "d duration [s]"), *rows])])

    def __iter__(self) -> Iterator[str]:
        return iter(self.slopes)

    def __len__(self) -> int:
        return len(self.slopes)

    def predict(self, **values: Any) -> Solution:
        """The solution for other parameter values, to first order; a good start for `solve(start=...)`.

        Names with a colon are given as `predict(**{"mass:torso": 9.0})`. ValueError if the derivatives are not
        determined.
        """
        if not self.residual <= UNDETERMINED:
            raise ValueError(
                f"the derivatives are not determined: the residual is {self.residual:.1e}, above {UNDETERMINED:.0e}; "
                "solve to a smaller tolerance, or give every variable a cost or a constraint"
            )
        t, program = prepare(self.problem)
        table = table_of(self.solution)
        p, iterate = values_of(t, table), {key: x.copy() for key, x in self.solution.iterate.items()}
        for name, value in by_name(values, self.problem).items():
            slopes = self[name]
            index = _entries(t, name)
            change = numbers_of(f"parameter {name!r}", value, index.size) - p[index]
            p[index] += change
            for slope, step in zip(slopes if isinstance(slopes, list) else [slopes], change, strict=True):
                iterate = {key: x + step * getattr(slope, key) for key, x in iterate.items()}
        stats = self.solution.stats | {"converged": False, "status": "Predicted_To_First_Order"}
        with at_values(t, p):
            return replace(collect(t, program, iterate["x"], stats), iterate=iterate)


def sensitivities(problem: Statement, solution: Solution, *parameters: str, side: str = "both") -> Sensitivities:
    """Derivatives of a converged solution of this problem by its parameters, or by the parameters that are named.

    Parameters are the declared parameters that are not free, and `speed` and the entries of the step, such as
    `step_length`, if they are numbers; if they are named also weights of costs, "weight of TorqueSquared". ValueError
    for a solution that has not converged, or of another problem; KeyError for an unknown name. Costs one factorization.

    side: where a bound is about to become active or inactive the motion has a kink, with two derivatives: "up", towards
    larger values of each parameter, "down", towards smaller ones; they cost some factorizations for every parameter.
    "both" takes bounds without a multiplier as free.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> slope = ocp.sensitivities(problem, problem.solve(progress=False))["angle"]
    >>> round(slope.objective, 1)  # the cost is 12 angle^2
    24.1
    """
    choice(side, ("both", *SIDES), "side")
    if not isinstance(solution, Solution):
        raise TypeError(
            f"sensitivities belong to a Solution, such as problem.solve() gives, got {repr_in_message(solution)}"
        )
    t, program = prepare(problem)
    table = table_of(solution)
    if not solution.converged:
        raise ValueError(f"sensitivities belong to an optimum, and this run ended with {solution.status}")
    if (table.variable.size, table.row.size) != (program.n, program.row_lower.size):
        raise ValueError(
            f"the solution has {table.variable.size} variables and {table.row.size} rows, the problem {program.n} and "
            f"{program.row_lower.size}: give the problem that was solved"
        )
    known = {parameter.name: parameter.index for parameter in t.program.parameters}
    for name in parameters:
        if not is_one_of(name, known):
            names = ", ".join(known) or "none"
            hint = suggestion(name, known) or f"; one more: Problem(parameters=[ocp.Parameter({name!r}, value)])"
            raise KeyError(f"no parameter {repr_in_message(name)}; there are {names}{hint}")
    p = values_of(t, table)
    chosen = {
        name: known[name] for name in parameters or (name for name in known if name in t.slots or name not in t.weights)
    }
    places = [int(k) for index in chosen.values() for k in index]
    if side == "both":
        derivatives = OptimumSystem.at(t, program, solution).slopes(places)
    else:
        derivatives = [one_sided(t, program, solution, k, SIDES[side]) for k in places]
    found = iter(_slope(t, program, solution, p, k, d) for k, d in zip(places, derivatives, strict=True))
    slopes = {name: [next(found) for _ in index] for name, index in chosen.items()}
    return Sensitivities(problem, solution, slopes, max([0.0, *(d.residual for d in derivatives)]))


def _entries(transcription: Transcription, name: str) -> Indices:
    return next(p.index for p in transcription.program.parameters if p.name == name)


def _slope(
    transcription: Transcription, program: Assembled, solution: Solution, p: Array, k: int, d: ParameterDerivatives
) -> Slope:
    """Turns derivatives of the program into derivatives of the motion, by central differences of collected
    solutions."""
    h = DIFFERENCE_STEP / max(1.0, float(np.abs(d.x).max(initial=0.0)))
    sides = []
    for sign in (h, -h):
        values = p.copy()
        values[k] += sign
        with at_values(transcription, values):
            sides.append(collect(transcription, program, solution.iterate["x"] + sign * d.x, solution.stats))
    up, down = sides
    single = {name: (getattr(up, name) - getattr(down, name)) / (2 * h) for name in ("duration", *ENTRIES)}
    return Slope(
        **single,
        objective=d.objective,
        cost={name: (up.cost[name] - down.cost[name]) / (2 * h) for name in up.cost},
        phases=tuple(
            {"t": (a.t - b.t) / (2 * h)} | {name: (a[name] - b[name]) / (2 * h) for name in (*MECHANICS, *a.channels)}
            for a, b in zip(up.phases, down.phases, strict=True)
        ),
        x=d.x,
        lam_x=d.lam_x,
        lam_g=d.lam_g,
    )
