"""Motions by an explicit Runge-Kutta scheme, from the accelerations of any formulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._base import checks as arguments
from .._base.types import Array, Expr, repr_in_message
from ..constraints import Constraints, as_set
from ..integrators import Scheme, explicit_step, scheme
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments, column_of_numbers
from ..mechanism.loads import NO_LOADS, Loads
from .trajectory import IntegrationError, Progress, Trajectory, is_open

CHUNK = 1000
"""Steps between two checks of the state."""
LARGEST_STEP_COUNT = 100_000_000
"""Largest number of steps; more are taken for a mistake."""

Accelerations = Callable[[Expr, Expr, Expr], Any]
"""A function (q, qd, tau) -> qdd, or -> (qdd, ...), such as od.function(od.forward_dynamics, model)."""


@checks_arguments(own=("q", "qd", "tau"))
def runge_kutta_motion(
    model: Model,
    accelerations: Accelerations,
    q: Any,
    qd: Any,
    *,
    h: float,
    duration: float,
    tau: Any = None,
    method: str | Scheme = "rk4",
    constraints: Constraints = (),
    every: int = 1,
    loads: Loads = NO_LOADS,
    progress: Progress | None = None,
) -> Trajectory:
    """The motion from (q, qd) at t = 0, in steps of h [s], by an explicit scheme on the accelerations of a formulation.

    accelerations: a Function (q, qd, tau) -> qdd, whose further outputs are ignored, such as
    `od.function(od.forward_dynamics, model)` or `od.function(od.formulations.closed_chain_dynamics, model, loops)`.
    tau: torques, nv numbers or a function (q, qd) -> tau of CasADi expressions; none by default. method: the name of an
    explicit scheme ("rk4", "heun", "euler") or an `ocp_dyn.ocp.Scheme`. every: the state is kept after every so many
    steps. constraints, loads: those of the `Trajectory`, for its errors and its energy; `accelerations` must include
    them already. progress: called with (steps done, steps in all).

    Positions of closed chains drift from the loops, because only accelerations satisfy them;
    `Trajectory.position_errors` are the errors. IntegrationError, which carries the motion until then, if a state is
    not finite. The motion ends at the multiple of `every` steps that is nearest to the duration, the first at the
    earliest.

    >>> FD = od.function(od.forward_dynamics, rod)
    >>> motion = od.formulations.runge_kutta_motion(rod, FD, [0.01], [0.0], h=0.01, duration=1.64)
    >>> motion.q[-1].round(3)  # after the period 2 pi sqrt(2 l / 3 g) of a small swing
    array([0.01])
    """
    scheme_used = _explicit(method)
    if not is_open(constraints):
        as_set(constraints)
    if progress is not None:
        arguments.function(progress, "runge_kutta_motion: progress")
    every = arguments.whole(every, "runge_kutta_motion: every", 1, LARGEST_STEP_COUNT)
    steps, h = step_count(h, duration, every), arguments.positive(h, "the step h [s]")
    step = _step(model, accelerations, scheme_used, tau, h)
    state = (column_of_numbers(q, model.nq, "q", model.q_names), column_of_numbers(qd, model.nv, "qd", model.qd_names))
    kept: tuple[list[Array], list[Array]] = ([np.array(state[0].full())], [np.array(state[1].full())])
    chunk = every * max(1, CHUNK // every)
    run = step.mapaccum("steps", chunk, 2) if steps >= chunk else None
    done = 0
    while done < steps:
        count = min(chunk, steps - done)
        many = run if run is not None and count == chunk else step.mapaccum("steps", count, 2)
        states = [np.array(part.full()) for part in many(*state)]
        done += count
        state = (DM(states[0][:, -1]), DM(states[1][:, -1]))
        for store, part in zip(kept, states, strict=True):
            store.append(part[:, every - 1 :: every])
        if not all(np.all(np.isfinite(part)) for part in states):
            raise _not_finite(_trajectory(model, kept, h * every, constraints, loads))
        if progress is not None:
            progress(done, steps)
    return _trajectory(model, kept, h * every, constraints, loads)


def step_count(h: Any, duration: Any, every: int) -> int:
    """The multiple of `every` steps of h [s] that is nearest to the duration [s]; at least `every`."""
    h, duration = arguments.positive(h, "the step h [s]"), arguments.positive(duration, "the duration [s]")
    if duration > h * LARGEST_STEP_COUNT:
        raise ValueError(
            f"a motion has at most {LARGEST_STEP_COUNT} steps, got a duration of {duration:g} s in steps of {h:g} s"
        )
    leaps: int = max(1, round(duration / (h * every)))
    return every * leaps


def _explicit(method: str | Scheme) -> Scheme:
    """The scheme, checked to be explicit."""
    found = scheme(method)
    if not (found.explicit or found.semi_implicit):
        raise ValueError(
            f'runge_kutta_motion needs an explicit scheme, such as "rk4", got {repr_in_message(found.name)}, which is '
            "implicit: od.formulations.trapezoidal_motion integrates by an implicit rule in natural coordinates"
        )
    return found


def _step(model: Model, accelerations: Accelerations, method: Scheme, tau: Any, h: float) -> ca.Function:
    """The Function (q, qd) -> (q, qd) after a step h."""
    arguments.function(accelerations, "runge_kutta_motion: accelerations")
    torques = (
        tau
        if callable(tau)
        else column_of_numbers(np.zeros(model.nv) if tau is None else tau, model.nv, "tau", model.qd_names)
    )

    def rate(q: Expr, qd: Expr) -> Expr:
        force = arguments.call_user("tau", torques, q, qd) if callable(torques) else torques
        found = arguments.call_user("accelerations", accelerations, q, qd, _returned(force, model.nv, "tau"))
        first = found[0] if isinstance(found, (tuple, list)) and found else found
        return _returned(first, model.nv, "accelerations")

    q, qd = MX.sym("q", model.nq), MX.sym("qd", model.nv)
    _, end = explicit_step(model, method, rate, q, qd, DM(h))
    return ca.Function("step", [q, qd], [ca.densify(part) for part in end])


def _returned(value: Any, size: int, what: str) -> Expr:
    """A column (nv) that a function of the user returned."""
    column = value if isinstance(value, (SX, MX, DM)) else None
    if column is None or column.shape != (size, 1):
        got = repr_in_message(value) if column is None else f"shape {column.shape}"
        first = " first" if what == "accelerations" else ""
        raise ValueError(f"{what} must return a casadi column of {size} entries{first}, got {got}")
    return column


def _trajectory(
    model: Model, kept: tuple[list[Array], list[Array]], h: float, constraints: Constraints, loads: Loads
) -> Trajectory:
    """The motion of the kept states, up to the first that is not finite."""
    q, qd = (np.hstack(parts).T for parts in kept)
    finite = np.all(np.isfinite(q), axis=1) & np.all(np.isfinite(qd), axis=1)
    count = len(q) if finite.all() else int(np.argmin(finite))
    return Trajectory(model, np.asarray(h * np.arange(count)), q[:count], qd[:count], constraints, loads)


def _not_finite(motion: Trajectory) -> IntegrationError:
    return IntegrationError(
        f"the state of {motion.model.name or 'the model'} is not finite after t = {motion.t[-1]:.6g} s: "
        "take a smaller step h; near a singular position of a closed chain take method='penalty' or "
        "od.formulations.trapezoidal_motion",
        motion,
    )
