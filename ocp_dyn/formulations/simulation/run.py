"""Simulation in natural coordinates by the implicit trapezoidal rule, with as many iterations per step as it needs."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.checks import call_user, expression, function, positive, whole
from ..._base.types import Array, Expr, names_in_message, repr_in_message
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments, column_of_numbers
from ...mechanism.loads import NO_LOADS, Loads
from ..joint_coordinates import check_natural, q_from_natural, qd_from_natural
from ..natural_coordinates import NaturalCoordinates
from ..natural_equations import LARGEST_COUNT, NaturalEquations, SparseFactor
from ..runge_kutta_motion import LARGEST_STEP_COUNT, step_count
from ..trajectory import Progress
from .motion import NaturalMotion, StepError, errors_of, recorded
from .start import start_of
from .trapezoidal_rule import Correction, MotionSample, Rule

STEPS_PER_CALL = 1000
"""Steps between two looks at their errors, and between two calls of `progress`."""


@checks_arguments(own=("q", "qd", "tau", "f_ext", "mu"))
def trapezoidal_motion(
    model: Model,
    natural: NaturalCoordinates,
    q: Any = None,
    qd: Any = None,
    *,
    x: Any = None,
    xd: Any = None,
    h: float,
    duration: float,
    tau: Any = None,
    f_ext: Any = None,
    method: str = "augmented",
    alpha: Any = None,
    mu: float | None = None,
    iterations: int = 20,
    tolerance: float = 5e-7,
    project: bool = True,
    loads: Loads = NO_LOADS,
    every: int = 1,
    step: ca.Function | None = None,
    progress: Progress | None = None,
) -> NaturalMotion:
    """The motion over `duration` [s] in steps h [s] of the implicit trapezoidal rule, see `trapezoidal_step`.

    q (nq), qd (nv), or x, xd (n): the start, which must keep the constraints; velocities are zero by default. tau (nv)
    [N m, N]: numbers, or a function of (t, q, qd) that returns an expression of these SX symbols; zero by default. Its
    angles, and those of springs, do not count turns, see `natural_force`. f_ext (6 x k): numbers, for loads.external.
    method, alpha, mu, project: as in `trapezoidal_step`.

    Every step iterates until |dx| is at most `tolerance`, coordinates in their units of `Scales`, at most `iterations`
    times. every: number of steps from one instant that is kept to the next; the motion ends at the multiple of so many
    steps that is nearest to the duration. step: a Function made of `trapezoidal_step`, in place of these iterations;
    method, alpha, mu, project and iterations are then its own, and a tau that is a function keeps the value that it has
    at the start of each step, so that errors are in proportion to h. It may be the `casadi.external` of its C code,
    which is three times as fast. progress: called with (steps done, steps in all).

    ValueError for a start that does not keep the constraints, and for bodies that neither inertia nor springs hold;
    StepError, with the motion so far, if a step does not converge.

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.trapezoidal_motion(rod, natural, [0.01], h=0.01, duration=1.64).q[-1].round(3)  # the period
    array([0.01])
    """
    check_natural(natural)
    steps, h, every = _grid(h, duration, every)
    tell = function(progress, "progress") if progress is not None else lambda done, steps: None
    tolerance = positive(tolerance, "tolerance")
    t, wrenches = SX.sym("t"), _wrenches(f_ext, loads)
    equations = NaturalEquations(model, natural, _torques(model, natural, tau, t), wrenches, loads)
    _check_options(equations, alpha, mu, step)
    if step is not None:
        one = _given(equations, t, h, step, tau, wrenches)
    else:
        one = _iterating(Rule.of(equations, DM(h), method, alpha, mu, project), t, iterations, tolerance)
    run = _SimulationRun(equations, one, h, tolerance, every, start_of(equations, t, h, q, qd, x, xd))
    while run.blocks * every < steps:
        run.advance(min(max(STEPS_PER_CALL // every, 1), steps // every - run.blocks))
        tell(run.blocks * every, steps)
    return run.motion()


def _grid(h: Any, duration: Any, every: Any) -> tuple[int, float, int]:
    """(number of steps, h [s], every), checked."""
    every = whole(every, "every", least=1, most=LARGEST_STEP_COUNT)
    return step_count(h, duration, every), positive(h, "the step h [s]"), every


# One step as a Function z -> z of columns z = [x; xd; xdd; lam; steps done; largest error; most iterations]


def _iterating(rule: Rule, t: SX, iterations: int, tolerance: float) -> ca.Function:
    """A step that iterates until |dx| is at most the tolerance."""
    whole(iterations, "iterations", least=1, most=LARGEST_COUNT)
    n, m = rule.equations.natural.n, rule.equations.natural.m
    start, lam = MotionSample(*(SX.sym(name, n) for name in ("x", "xd", "xdd"))), SX.sym("lam", m)
    new = rule.first(start, lam)
    old = Correction(
        SX.sym("e", n), SX.sym("before", n), SX.sym("held", m), SX.sym("force", m),
        SparseFactor(SX.sym("D", new.factor.D.sparsity()), SX.sym("Lt", new.factor.Lt.sparsity()), new.factor.order),
        SX.sym("change"),
    )  # fmt: skip
    inputs, options = [*start, t, *_values(old)], {"cse": True}
    first = ca.Function("first", [*start, t, lam], _values(new), options)
    more = ca.Function("more", inputs, _values(rule.iterate(start, old.e, old.held)), options)
    more = ca.Function.if_else("if_needed", more, ca.Function("keep", inputs, _values(old)))
    end = ca.Function("end", inputs, rule.end(start, old), options)

    z = MX.sym("z", 3 * n + m + 3)
    *begin, lam_before, count, error, most = _parts(z, n, m)
    at = [*begin, rule.h * (count + 1)]
    found = first(*at, lam_before)
    taken = MX(1)
    for _ in range(iterations - 1):
        again = found[-1] > tolerance
        found = more(again, *at, *found)
        taken = taken + again
    return _step(z, list(end(*at, *found)), count, error, most, found[-1], taken)


def _values(iterate: Correction) -> list[Any]:
    """The entries of an iterate, dense but for L."""
    *vectors, factor, change = iterate
    return [*(ca.densify(v) for v in vectors), factor.D, factor.Lt, change]


def _given(
    equations: NaturalEquations, t: SX, h: float, step: ca.Function, tau: Any, wrenches: DM | None
) -> ca.Function:
    """A step by a Function of the user; a tau that is a function is taken at the start of the step."""
    n, m, nv = equations.natural.n, equations.natural.m, equations.model.nv
    sizes = [n, n, n, m, nv, 1, *([6 * wrenches.shape[1]] if wrenches is not None else [])]
    if (
        not isinstance(step, ca.Function)
        or step.is_null()
        or [step.numel_in(k) for k in range(step.n_in())] != sizes
        or step.n_out() != 5
    ):
        raise TypeError(
            f"step must be a Function with the inputs and outputs of trapezoidal_step, sizes {sizes}, got "
            f"{repr_in_message(step)}: od.function(od.formulations.trapezoidal_step, model, natural, ...), or its "
            "casadi.external"
        )
    x, xd = SX.sym("x", n), SX.sym("xd", n)
    torque = _torques(equations.model, equations.natural, tau, t)
    torques = ca.Function("tau", [t, x, xd], [ca.densify(SX(torque(x, xd) if callable(torque) else torque))])
    z = MX.sym("z", 3 * n + m + 3)
    *motion, lam, count, error, most = _parts(z, n, m)
    now = torques(h * count, *motion[:2])
    *end, change = step(*motion, lam, now, h, *([wrenches] if wrenches is not None else []))
    return _step(z, end, count, error, most, change, MX(0))


def _parts(z: MX, n: int, m: int) -> list[Any]:
    """x, xd, xdd, lam, steps done, largest error and most iterations of a column z."""
    return list(ca.vertsplit(z, [int(k) for k in np.cumsum([0, n, n, n, m, 1, 1, 1])]))


def _step(z: MX, end: list[Any], count: MX, error: MX, most: MX, change: MX, taken: MX) -> ca.Function:
    """The Function z -> z. An error that is nan stays: nan <= error is false, and so are all later comparisons."""
    largest = ca.if_else(change <= error, error, change)
    return ca.Function("step", [z], [ca.densify(ca.vertcat(*end, count + 1, largest, ca.fmax(most, taken)))])


class _SimulationRun:
    """A simulation in progress: the instants so far, as columns [x; xd; xdd; lam; steps; error; iterations]."""

    def __init__(
        self, equations: NaturalEquations, one: ca.Function, h: float, tolerance: float, every: int, start: Array
    ):
        self.equations, self.one, self.h, self.tolerance, self.every = equations, one, h, tolerance, every
        self.kept = [start[:, None]]
        z = MX.sym("z", len(start))
        clean = ca.vertcat(z[:-2], DM([0, 0]))
        self._between = ca.Function("between", [z], [one.fold(every)(clean) if every > 1 else one(clean)])
        self._many: dict[int, ca.Function] = {}

    @property
    def blocks(self) -> int:
        """Number of instants after the start."""
        return sum(len(columns[0]) for columns in self.kept) - 1

    def advance(self, blocks: int) -> None:
        """Adds so many instants; StepError if a step before them does not converge."""
        if blocks not in self._many:
            self._many[blocks] = self._between.mapaccum(blocks)
        found = np.asarray(self._many[blocks](self.kept[-1][:, -1]).full())
        good = found[-2] <= self.tolerance  # nan is not
        first = int(np.argmin(good)) if not good.all() else blocks
        self.kept.append(found[:, :first])
        if first < blocks:
            raise self._failure((found[:, first - 1] if first else self.kept[-2][:, -1]).copy())

    def motion(self) -> NaturalMotion:
        """The motion so far."""
        columns = np.hstack(self.kept)
        return recorded(self.equations, self.h * columns[-3], columns[:-3], columns[-1])

    def _failure(self, z: Array) -> StepError:
        """The error for the first step after the instant z that does not converge."""
        while True:
            z[-2:] = 0
            after = np.asarray(self.one(z).full()).ravel()
            if not after[-2] <= self.tolerance:
                break
            z = after
        n, natural = self.equations.natural.n, self.equations.natural
        finite = bool(np.all(np.isfinite(after)))
        known = after if finite else z
        sizes = np.abs(errors_of(self.equations)(known[:n], known[n : 2 * n])[0].full()).ravel()
        row = natural.constraint_names[int(np.argmax(sizes))] if sizes.size else "(none)"
        time, residual = self.h * (z[-3] + 1), float(after[-2])
        change = (
            f"its last iteration changes x by {residual:.3g}, tolerance {self.tolerance:g}; the largest error is"
            if finite
            else "its results are not finite; the largest error before it is"
        )
        message = (
            f"trapezoidal_motion: the step to t = {time:.6g} s (h = {self.h:g} s) does not converge: {change} "
            f"{sizes.max(initial=0.0):.3g} in {row}. Use a smaller h, more iterations, a smaller alpha, "
            'method="augmented", or a larger tolerance; error.motion is the motion so far'
        )
        return StepError(message, self.motion(), time, residual, row)


# Arguments


def _check_options(equations: NaturalEquations, alpha: Any, mu: Any, step: ca.Function | None) -> None:
    """TypeError or ValueError for expressions in place of numbers, and for options that a given step does not use."""
    for what, value in (("alpha", alpha), ("mu", mu)):
        if value is not None and step is not None:
            raise ValueError(
                f"trapezoidal_motion: {what} has no effect beside step, got {what}={repr_in_message(value)}: make the "
                "step with it"
            )
        if isinstance(value, (SX, MX)):
            raise TypeError(f"trapezoidal_motion: {what} must be numbers, got the expression {repr_in_message(value)}")
    if not SX(equations.M).is_constant() or not SX(equations.model.gravity_vector).is_constant():
        raise ValueError(
            "trapezoidal_motion needs numbers for all masses and inertias and for gravity, got a model with symbols: "
            "give it numbers first"
        )


def _torques(model: Model, natural: NaturalCoordinates, tau: Any, t: SX) -> Any:
    """tau as numbers (nv), or as a function of x, xd that contains the symbol t."""
    if tau is None:
        return DM(model.nv, 1)
    if not callable(tau):
        return column_of_numbers(tau, model.nv, "tau", model.qd_names)

    def torques(x: Expr, xd: Expr) -> Expr:
        q, qd = q_from_natural(model, natural, x), qd_from_natural(model, natural, x, xd)
        found = expression(call_user("trapezoidal_motion: tau", tau, t, q, qd), "trapezoidal_motion: tau")
        if found.shape != (model.nv, 1):
            raise ValueError(f"trapezoidal_motion: tau must return {model.nv} entries, got shape {found.shape}")
        known = {s.element_hash() for s in ca.symvar(ca.vertcat(t, x, xd))}
        strange = [str(s) for s in ca.symvar(found) if s.element_hash() not in known]
        if strange:
            raise ValueError(
                f"trapezoidal_motion: tau returns the symbols {names_in_message(strange)}, which are not those of t, "
                "q, qd: give numbers"
            )
        return found

    return torques


def _wrenches(f_ext: Any, loads: Loads) -> DM | None:
    """f_ext as numbers (6 x k); None without external loads."""
    if f_ext is None and not loads.external:
        return None
    shape = (6, len(loads.external))
    try:
        found = DM(f_ext)
    except (TypeError, NotImplementedError):
        found = DM()
    if found.shape != shape or not found.is_regular():
        raise ValueError(
            f"f_ext must be finite numbers, 6 x {shape[1]}, a column per frame of loads.external, got "
            f"{repr_in_message(f_ext)}"
        )
    return found
