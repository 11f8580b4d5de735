"""Linearization of a `Jump`, a transition that the user defines: the derivative of the next state by the last one.

The equality rows of a `Jump` and the rows that keep the feet of the next phase flat on the ground and at rest determine
the next state s from the last state e; the implicit function theorem gives the derivative. With the Jacobians R_s and
R_e of all these rows (m, 2 nv), in tangent coordinates,

    R_s ds + R_e (de + f dT) = 0,

with f the rate of the last state and dT the delay of the end of the phase. If m > 2 nv, the combinations of rows that
do not contain ds, N' R_e with N the null space of R_s', determine when the phase ends: they are the event.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import rows_and_bounds
from ..._base.types import Array, Indices, split
from ..motion.motion import Motion
from ..statement.instant import Instant
from ..statement.phases import JumpCondition
from ..statement.statement import Statement
from .active_set import variables
from .component_flow import parameters

AT_REST = 1e-6
"""Rate of an event below which it does not determine the time: the phase then ends at its solved duration."""

SINGULAR = 1e-6
"""Singular values below this fraction of the largest are zero: solutions hold their rows to about 1e-8."""


State = tuple[Array, Array, Array]
"""(q, qd, y), with the states y of components."""


def jump_of(problem: Statement | None, p: int) -> JumpCondition:
    """The Jump after phase p; ValueError if the problem is missing or is another one."""
    if problem is None:
        raise ValueError(
            "floquet multipliers need the rows of every Jump, and a solution does not contain them: "
            "give floquet(problem=...)"
        )
    closing = (problem.periodic.transition,) if problem.periodic is not None else ()
    jumps = {k: t for k, t in enumerate((*problem.resolved.transitions, *closing)) if isinstance(t, JumpCondition)}
    if p not in jumps:
        raise ValueError(
            f"floquet(problem=...) needs the problem of this solution: transition {p} is a Jump in the solution, "
            "but not in this problem"
        )
    return jumps[p]


def jump_derivative(
    jump: JumpCondition, solution: Motion, end: State, start: State, rate: Array, reach: Array, foot_rows: Array,
    kept: Indices,
) -> Array:  # fmt: skip
    """ds/de (n, n) of a jump, with the change of the time of its event included; n = 2 nv, and the states of
    components.

    rate (n): f. reach (n, .): directions in which the last state can differ. foot_rows (., n): rows that keep the feet
    of the next phase flat on the ground and at rest. kept: indices of the entries of s that depend on e. ValueError if
    the equality rows do not determine the next state, or fix more of the last state than one event.
    """
    A_e, A_s = _slopes(jump, solution, end, start)
    n = kept.size
    R_s, R_e = np.vstack([A_s, foot_rows])[:, kept], np.vstack([A_e, np.zeros_like(foot_rows)])
    U, values, Vt = np.linalg.svd(R_s)
    rank = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
    if rank < n:
        feet = f" and the {len(foot_rows)} of its feet" if len(foot_rows) else ""
        raise ValueError(
            f"Jump {jump.name!r}: its {len(A_s)} equality rows{feet} determine {rank} of the {n} numbers (positions, "
            "velocities and states of components) of the next state, and floquet multipliers need all: add the missing "
            "ones as equalities"
        )
    left = U[:, rank:].T @ R_e
    S = np.eye(rate.size) - _event(jump, left, reach, rate)
    found = np.zeros_like(S)
    found[kept] = -Vt.T @ ((U[:, :n].T @ R_e @ S) / values[:, None])
    return np.asarray(found)


def _event(jump: JumpCondition, left: Array, reach: Array, rate: Array) -> Array:
    """f g'/(g' f), with g the condition on the last state in the rows `left`; zero without such a condition."""
    seen = left @ np.column_stack([reach, rate])
    U, values, _ = np.linalg.svd(seen) if seen.size else (np.zeros((0, 0)), np.zeros(1), None)
    count = int(np.sum(values > SINGULAR * max(1.0, float(values.max(initial=0.0)))))
    if count > 1:
        raise ValueError(
            f"Jump {jump.name!r}: besides the next state its equality rows fix {count} numbers of the last state, and "
            "only the duration can adapt: keep the row of the event that ends the phase, and leave out the others"
        )
    if not count:
        return np.zeros((rate.size, rate.size))
    g = U[:, 0] @ left
    speed = float(g @ rate)
    return np.asarray(np.outer(rate, g) / speed) if abs(speed) > AT_REST else np.zeros((rate.size, rate.size))


def _slopes(jump: JumpCondition, solution: Motion, end: State, start: State) -> tuple[Array, Array]:
    """Jacobians of the equality rows by the tangent coordinates of the last state and of the next state."""
    model, states = solution.model, [c for c in solution.channels if c.kind == "state"]
    known = {name: DM(value) for name, value in (parameters(solution) | variables(solution)).items()}
    sizes = [model.nv, model.nv, *(c.size for c in states)]
    delta, instants = [SX.sym("delta", sum(sizes)) for _ in range(2)], []
    for (q, qd, y), d, s in zip((end, start), delta, (1.0, 0.0), strict=True):
        dq, dqd, *dy = split(d, *sizes)
        parts = np.split(y, np.cumsum(sizes[2:])[:-1]) if states else []
        here = {c.name: DM(value) + more for c, value, more in zip(states, parts, dy, strict=True)}
        at = model.integrate(DM(q), dq), DM(qd) + dqd
        instants.append(Instant(model, *at, s=s, values=known | here, channels=here))
    rows, lower, upper = rows_and_bounds(jump.rows(*instants), f"Jump {jump.name!r}")
    rows = ca.densify(rows)
    low, high = (np.broadcast_to(np.ravel(bound), rows.shape[0]) for bound in (lower, upper))
    equal = rows[np.flatnonzero(low == high).tolist()]
    slopes = ca.Function("slopes", delta, [ca.densify(ca.jacobian(equal, d)) for d in delta])(0, 0)
    A_e, A_s = (np.array(DM(slope).full()).reshape(-1, sum(sizes)) for slope in slopes)
    return A_e, A_s
