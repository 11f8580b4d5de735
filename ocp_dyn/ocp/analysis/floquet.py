"""Floquet multipliers of a solved periodic motion: how disturbances grow or die out from period to period.

The map P of one period takes the state just after the start to the state just after the next start. During a phase the
motion follows its torques, functions of the time since the start of the phase, while the contacts hold, G qdd = gamma.
If the next phase sets a foot down, the phase ends when this foot reaches the ground, otherwise at its solved duration.
The impact and, at the end of the period, the mirror image follow. To first order, with Phi the derivative of the flow
of an interval and f the rate of the state [P. Muller, Calculation of Lyapunov exponents for dynamic systems with
discontinuities, Chaos, Solitons & Fractals 5, 1995; for walkers see `step_map`],

    S = 1 - f g' / (g' f)      for the event g(x) = 0, which a disturbed motion meets earlier or later,
    DP = product over the phases of (impact) (placing of the foot) S (product of Phi over the intervals).

States are differentiated in tangent coordinates (delta of q, delta of qd), with the states of components after them,
which impacts do not change; those that need not repeat begin every period at their solved values. A flat foot that
would touch down tilted is placed flat by the shortest step in the metric of the mass matrix. A disturbance at the start
must keep the standing feet flat on the ground and at rest. Shifts along the ground and turns about the vertical do not
count as disturbances: their multipliers, 1, in a mirrored motion -1, in one that turns two on the unit circle, are
listed separately. `jumps` linearizes the rows of a `Jump`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import positive
from ..._base.display import Count, Progress, Tabular
from ..._base.rooms import named_arguments
from ..._base.types import Array, Indices
from ...constraints import constraint_jacobian
from ...dynamics.kinematics import point_jacobian_6d, point_position
from ...limit_cycles import Multipliers
from ...mechanism import Model
from ...symmetry.advance import Advance
from ..equations import Contacts, Equations, constraints_of
from ..motion.motion import Motion, PhaseMotion
from ..statement.statement import Statement
from .component_flow import ComponentFlow, check_can_follow
from .flow_derivatives import flow_derivatives
from .jumps import jump_derivative, jump_of
from .touchdowns import Touchdown, fixed_rows, touchdowns

AT_REST = 1e-6
"""A foot that reaches the ground slower than this [m/s] is at rest there: its phase ends at the solved duration."""

MOVED = 1e-3
"""Part of the image of a shift or turn that is none, from which on components act on it, and it is not neutral."""

ZERO_VALUE = 1e-8
"""Singular values and errors below it count as zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Floquet(Tabular):
    """Derivative of the map of one period and its eigenvalues.

    multipliers (k): the eigenvalues, complex numbers, largest first; zero for directions that touch-down and contacts
    remove. neutral: multipliers of "x" and "y", shifts along the ground, and of "yaw", the turn about the vertical, if
    the model can make these motions; of a motion that turns by an angle a in a period, those of "x" and "y" are exp(i
    a) and exp(-i a). basis (2 nv, k): the directions of disturbances in (delta of q, delta of qd) at the start, with
    more rows for the states of components that repeat; derivative (k, k): the map in this basis. leak: relative size of
    the part of the images that leaves the basis and the neutral directions; a measure of the error of the grid.

    >>> still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    >>> hang = ocp.Problem(rod, [ocp.Phase("hang", 10, 1.0, objective=[ocp.TorqueSquared()])], periodic=still)
    >>> round(float(hang.solve(progress=False).floquet().multipliers[0].real), 4)  # cos(sqrt(3 g / 2 l) T)
    -0.7684
    """

    multipliers: Multipliers
    neutral: dict[str, Any]
    derivative: Array
    basis: Array
    leak: float

    @property
    def stable(self) -> bool:
        """Whether every multiplier lies inside the unit circle."""
        return bool(np.all(np.abs(self.multipliers) < 1.0))

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        head, lines = self.multipliers._head_and_lines()
        known = [(f"{x:.4g}", f"{abs(x):.4g}", f"along {name}") for name, x in self.neutral.items()]
        return head, [*lines, *known]

    def __repr__(self) -> str:
        told = f"largest {abs(self.multipliers[0]):.4g}, " if len(self.multipliers) else ""
        stable = "stable" if self.stable else "not stable"
        return f"Floquet: {len(self.multipliers)} multipliers, {told}{stable}; print shows them"


@named_arguments
def floquet(solution: Motion, step: float = 0.0025, problem: Statement | None = None, progress: bool = True) -> Floquet:
    """The multipliers of a periodic solution; see `ocp_dyn.ocp.analysis.floquet` for the map and `Floquet` for the
    result.

    step [s]: largest step of the fourth-order Runge-Kutta method, which restarts at every node; steps are shorter if
    springs and losses of the joints have shorter time constants, down to a limit below which exponential steps of
    length `step` follow the linearized motion. problem: the solved problem, needed if it has a `Jump`. progress:
    whether to say how far it is after two seconds. ValueError for a motion that is not periodic, holds numbers that are
    not finite, or stands on a tilted plane, for a Jump whose equality rows do not determine the next state, and for
    components whose equations are not known.
    """
    _check(solution, step)
    model, start, kept = solution.model, solution.phases[0], _repeating(solution)
    DP = np.eye(2 * model.nv + sum(c.size for c in solution.channels if c.kind == "state"))
    count = Count(Progress(progress), sum(len(phase.tau) for phase in solution.phases), "intervals")
    for p, phase in enumerate(solution.phases):
        own = ComponentFlow.of(solution, phase) if solution.components else None
        for A in flow_derivatives(solution.equations, phase, step, own):
            DP = A @ DP
            count.done += 1
            count.tell("floquet multipliers: following disturbances")
        DP = _Seam(solution, p, own).derivative(problem) @ DP
    DP = DP[np.ix_(kept, kept)]
    foot_rows = _widened(_foot_rows(model, start.contacts, start.q[0], start.qd[0]), kept.size)
    bound, neutral = _bound_by_joints(solution.equations), {}
    for name, found in _neutral_directions(model, start.q[0], start.qd[0]).items():
        d = _widened(found, kept.size)
        if np.linalg.norm(foot_rows @ d) < 1e-6 * np.linalg.norm(d) and not bound(name, found):
            neutral[name] = d
    if solution.components:  # their forces may depend on the place in the world
        V = np.column_stack([np.zeros((kept.size, 0)), *neutral.values()])
        left = DP @ V - V @ (np.linalg.pinv(V) @ DP @ V)
        apart = np.linalg.norm(left, axis=0) > MOVED * np.linalg.norm(V, axis=0)
        neutral = {name: d for (name, d), lost in zip(neutral.items(), apart, strict=True) if not lost}
    return _split(DP, _null_space(foot_rows), neutral, turns=bool(solution.turn))


def _widened(x: Array, size: int) -> Array:
    """A direction, or rows of directions, with zeros for the states of components."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], size - x.shape[-1]))], axis=-1)


def _repeating(solution: Motion) -> Indices:
    """Indices of the entries of the state that repeat: all but those of channels that need not."""
    channels = (np.full(c.size, c.periodic) for c in solution.channels if c.kind == "state")
    return np.flatnonzero(np.concatenate([np.ones(2 * solution.model.nv, dtype=bool), *channels]))


def _check(solution: Motion, step: float) -> None:
    if len(solution.impulses) != len(solution.phases):
        raise ValueError("floquet multipliers need a periodic motion: give the problem periodic=Periodic(...)")
    check_can_follow("floquet multipliers", solution)
    tilted = [name for phase in solution.phases for name, plane in phase.planes.items() if not plane.level]
    if tilted:
        raise ValueError(
            f"floquet multipliers are implemented for feet on level planes, and {', '.join(map(repr, tilted))} "
            f"{'stands' if len(tilted) == 1 else 'stand'} on a tilted one"
        )
    positive(step, "step [s]")


class _Seam:
    """The step from the end of phase p, at its solved duration, to the start of the next phase; of the last phase to
    the first one, mirrored and moved back.

    q, qd: the last state there, and moved (n, n) its derivative by the last state; rate (n): d/dt of it; n = 2 nv, and
    more with components of `own`, whose mirror images are `images`.
    """

    def __init__(self, solution: Motion, p: int, own: ComponentFlow | None) -> None:
        self.solution, self.p, self.own, self.model = solution, p, own, solution.model
        self.last, self.phase = p == len(solution.phases) - 1, solution.phases[p]
        self.following = solution.phases[0 if self.last else p + 1]
        self.mirror = mirror = solution.mirror() if self.last else None
        self.back = solution.advance.inverse() if self.last else Advance.of()
        q, qd, image = DM(self.phase.q[-1]), DM(self.phase.qd[-1]), np.eye(self.model.nv)
        self.images = [np.eye(c.size) for c in (own.states if own else ())]
        if mirror is not None:
            q, qd, image = mirror.q(q), mirror.qd(qd), _array(mirror.qd_matrix)
            self.images = [_array(c.image(mirror.images)) for c in (own.states if own else ())]
        turned = _moved(self.model, self.back, q, qd) @ np.kron(np.eye(2), image)
        self.moved = _diagonal(turned, *self.images)
        self.rate = self.moved @ _rate(solution.equations, self.phase, own)
        self.q, self.qd = (_array(x).ravel() for x in self.back.state(self.model, q, qd))

    def derivative(self, problem: Statement | None) -> Array:
        """The derivative (n, n) of the first state of the next phase by the last state of this one."""
        kinds = self.solution.stats.get("transitions", ["Impact"] * (self.p + 1))
        return self._jump(problem) if kinds[self.p] == "Jump" else self._touchdown()

    def _jump(self, problem: Statement | None) -> Array:
        own, start, size = self.own, self.following, self.rate.size
        free, foot_rows = (
            _widened(_foot_rows(self.model, one.contacts, one.q[k], one.qd[k]), size)
            for one, k in ((self.phase, -1), (start, 0))
        )
        y, y1 = (own.start(self.phase, -1), own.start(start, 0)) if own else (np.zeros(0), np.zeros(0))
        end = self.q, self.qd, _diagonal(*self.images) @ y if self.images else y
        kept = _repeating(self.solution) if self.last else np.arange(size)
        jump, first, reach = jump_of(problem, self.p), (start.q[0], start.qd[0], y1), self.moved @ _null_space(free)
        return jump_derivative(jump, self.solution, end, first, self.rate, reach, foot_rows, kept) @ self.moved

    def _touchdown(self) -> Array:
        equations, nv = self.solution.equations, self.model.nv
        steps = touchdowns(self.model, self.phase, self.following, self.mirror, self.back)
        S = _saltation(self.model, steps, self.q, self.rate) @ self.moved
        held = constraints_of(self.following.contacts)
        if not held or not (np.size(self.solution.impulses[self.p]) or any(step.rows is not None for step in steps)):
            return S
        by_q, by_qd = map(_array, equations.impact_derivatives(held, self.q, self.qd))
        placed = _placing(equations, steps, self.q)
        hit = np.block([[placed, np.zeros((nv, nv))], [by_q @ placed, by_qd]])
        product: Array = _diagonal(hit, np.eye(self.rate.size - 2 * nv)) @ S
        return product


def _array(x: Any) -> Array:
    """A matrix of numbers as an array."""
    return np.array(DM(x).full())


def _moved(model: Model, back: Advance, q: DM, qd: DM) -> Array:
    """Derivative (2 nv, 2 nv) of the state moved by `back` by the state (q, qd), both in tangent coordinates."""
    nv = model.nv
    if back.turn is None:
        return np.eye(2 * nv)
    delta = SX.sym("delta", 2 * nv)
    q0, qd0 = back.state(model, q, qd)
    q1, qd1 = back.state(model, model.integrate(q, delta[:nv]), qd + delta[nv:])
    moved = ca.vertcat(model.difference(q0, q1), qd1 - qd0)
    slope = ca.Function("slope", [delta], [ca.densify(ca.jacobian(moved, delta))])
    return _array(slope(DM(2 * nv, 1)))


def _diagonal(*blocks: Array) -> Array:
    """The matrix with these square blocks along its diagonal."""
    return _array(ca.diagcat(*map(DM, blocks)))


def _rate(equations: Equations, phase: PhaseMotion, own: ComponentFlow | None) -> Array:
    """(qd, qdd, dy/dt) at the end of a phase: the rate of the tangent coordinates."""
    q, qd, half = phase.q[-1], phase.qd[-1], (phase.t[-1] - phase.t[-2]) / 2
    tau = phase.tau[-1] + phase.tau_rate[-1] * half
    if own:
        k = len(phase.tau) - 1
        middle, slope = own.inputs(phase, k)
        u = middle + half * slope
        known = q, qd, tau, own.start(phase, -1), u[:-1], slope[:-1], u[-1], phase.tau_rate[-1], own.guess(phase, k)
        return np.concatenate([qd, *(np.array(x).ravel() for x in own.dynamics(*known))])
    qdd, _ = equations.forward_dynamics(phase.contacts, *map(DM, (q, qd, tau)))
    return np.concatenate([qd, np.array(qdd).ravel()])


def _saltation(model: Model, steps: list[Touchdown], q: Array, rate: Array) -> Array:
    """S = 1 - f g'/(g' f), with g the height of the first foot that comes down: the phase ends when g is zero."""
    S = np.eye(rate.size)
    for step in steps:
        if step.rows is None:
            continue
        slopes = _widened(step.slopes(model, q), rate.size)
        slope = slopes[int(np.argmax(np.abs(slopes @ rate)))]
        if abs(slope @ rate) > AT_REST:
            return S - np.asarray(np.outer(rate, slope) / float(slope @ rate))
    return S


def _placing(equations: Equations, steps: list[Touchdown], q: Array) -> Array:
    """Matrix (nv, nv) that maps delta of q before the new contacts close to delta of q after: the shortest step in the
    metric of H that moves no standing foot."""
    model = equations.model
    rows, wanted = [np.zeros((0, model.nv))], [np.zeros((0, model.nv))]
    for step in steps:
        G = _array(step.contact.jacobian(model, DM(q)))
        G = G if step.rows is None else G[fixed_rows(step.contact)]
        rows.append(G)
        wanted.append(np.zeros_like(G) if step.rows is None else -G)
    A, b = np.vstack(rows), np.vstack(wanted)
    H = _array(equations.mass_matrix(q))
    raised = np.linalg.solve(H, A.T)
    return np.asarray(np.eye(model.nv) + raised @ np.linalg.pinv(A @ raised, ZERO_VALUE, hermitian=True) @ b)


def _foot_rows(model: Model, contacts: Contacts, q: Array, qd: Array) -> Array:
    """Rows (., 2 nv) whose products with a direction are zero if it keeps the standing feet flat on the ground and at
    rest."""
    delta = SX.sym("delta", model.nv)
    found = [np.zeros((0, 2 * model.nv))]
    for contact in constraints_of(contacts):
        G = _array(contact.jacobian(model, DM(q)))
        rate = constraint_jacobian(model, (contact,), model.integrate(DM(q), delta)) @ DM(qd)
        slope = ca.Function("slope", [delta], [ca.densify(ca.jacobian(rate, delta))])(0)
        flat = G[fixed_rows(contact)]
        found += [np.hstack([flat, np.zeros_like(flat)]), np.hstack([_array(slope), G])]
    return np.vstack(found)


def _neutral_directions(model: Model, q: Array, qd: Array) -> dict[str, Array]:
    """Shifts along x and y and the turn about the vertical, of the whole motion, by the root joint alone."""
    delta, dofs = SX.sym("delta", model.nv), list(model.dofs_of(1))
    motion = point_jacobian_6d(model, model.body_names[0], model.integrate(DM(q), delta))
    twist = ca.Function("twist", [delta], [motion, motion @ DM(qd), ca.jacobian(motion @ DM(qd), delta)])
    J, rate, by_q = map(_array, twist(0))
    place = _array(point_position(model, model.body_names[0], DM(q))).ravel()
    up, still = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    wanted = {"x": np.array([0.0, 0, 0, 1, 0, 0]), "y": np.array([0.0, 0, 0, 0, 1, 0])}
    if np.linalg.norm(model.gravity[:2]) < ZERO_VALUE:
        wanted["yaw"] = np.concatenate([up, np.cross(up, place)])
    found = {}
    for name, unit in wanted.items():
        turned = np.concatenate([np.cross(up if name == "yaw" else still, rate[k : k + 3, 0]) for k in (0, 3)])
        d = np.zeros(2 * model.nv)
        d[dofs] = _solved(J[:, dofs], unit)
        d[[model.nv + k for k in dofs]] = _solved(J[:, dofs], turned - by_q @ d[: model.nv])
        if np.linalg.norm(J @ d[: model.nv] - unit) < ZERO_VALUE:
            found[name] = d
    return found


def _bound_by_joints(equations: Equations) -> Callable[[str, Array], bool]:
    """A predicate: whether springs, tissue or losses of the root joint act on a shift or turn of the whole motion,
    which is then not neutral."""
    model, root = equations.model, list(equations.model.dofs_of(1))
    dofs = model.dofs
    losses = bool((dofs.damping[root] + dofs.friction[root]).any())
    places = {name: at_v for name, (_, at_v) in model.passive_entries.items() if at_v in root}
    depends = {places[name] for element in model.passive for name in element.coordinates if name in places}
    pushed = any(element.dof in places for element in model.passive)

    def bound(name: str, d: Array) -> bool:
        stretched = bool(np.any(dofs.stiffness[root] * d[root]))
        tissue = any(abs(d[k]) > 0 for k in depends) or (bool(depends or pushed) and name == "yaw")
        return equations.acts and (stretched or tissue or (losses and name == "yaw"))

    return bound


def _solved(A: Array, b: Array) -> Array:
    """The x of least norm for which A x is nearest to b."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])


def _null_space(rows: Array) -> Array:
    """Orthonormal columns of all x with rows x = 0."""
    _, values, Vt = np.linalg.svd(rows)
    rank = int(np.sum(values > ZERO_VALUE * max(1.0, values.max(initial=0.0))))
    return np.asarray(Vt[rank:].T)


def _split(DP: Array, basis: Array, neutral: dict[str, Array], *, turns: bool) -> Floquet:
    """Multipliers in the basis, apart from those of the neutral directions, whose span DP maps into itself; in a motion
    that turns, DP turns the shifts x and y into each other."""
    V = np.column_stack([np.zeros((len(DP), 0)), *neutral.values()])
    along = np.linalg.pinv(V) @ DP @ V
    Q, _ = np.linalg.qr(np.hstack([basis.T @ V, np.eye(basis.shape[1])]))
    rest = basis @ Q[:, V.shape[1] :]
    image = DP @ rest
    leak = np.linalg.norm(image - basis @ (basis.T @ image)) / max(1e-300, float(np.linalg.norm(image)))
    derivative = rest.T @ image
    found: dict[str, Any] = {name: float(along[k, k]) for k, name in enumerate(neutral)}
    if turns and {"x", "y"} <= found.keys():
        found["x"], found["y"] = np.linalg.eigvals(along[:2, :2]).astype(complex)
    return Floquet(Multipliers.of(derivative), found, derivative, rest, float(leak))
